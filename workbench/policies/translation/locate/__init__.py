"""Who is asked after a miss in the core's own TLB, before the shared TLB? (spec 4, R6-R13)"""

from workbench.policies.translation.locate.central_directory import CentralDirectory
from workbench.policies.translation.locate.clustered import Clustered
from workbench.policies.translation.locate.directory import Directory
from workbench.policies.translation.locate.no_directory import NoDirectory
from workbench.policies.translation.locate.question import Locate, Plan
from workbench.policies.translation.locate.ring_probe import RingProbe
from workbench.policies.translation.locate.scope import Oracle, OwnOnly, OwnPlusAffine, Scope
from workbench.policies.translation.locate.update import Instant, Message, OnResponse, Update

__all__ = [
    "CentralDirectory",
    "Clustered",
    "Directory",
    "Instant",
    "Locate",
    "Message",
    "NoDirectory",
    "OnResponse",
    "Oracle",
    "OwnOnly",
    "OwnPlusAffine",
    "Plan",
    "RingProbe",
    "Scope",
    "Update",
]
