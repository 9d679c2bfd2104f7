"""Which entry of a full set goes? (spec 4, R22-R28)"""

from workbench.policies.translation.eviction.arc import ARC
from workbench.policies.translation.eviction.drrip import DRRIP
from workbench.policies.translation.eviction.fifo import FIFO
from workbench.policies.translation.eviction.lfu import LFU
from workbench.policies.translation.eviction.lru import LRU
from workbench.policies.translation.eviction.mru import MRU
from workbench.policies.translation.eviction.protect_low_degree import ProtectLowDegree
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.random import Random
from workbench.policies.translation.eviction.s3fifo import S3FIFO
from workbench.policies.translation.eviction.sharing_aware_eviction import SharingAwareEviction
from workbench.policies.translation.eviction.srrip import SRRIP
from workbench.policies.translation.eviction.tree_plru import TreePLRU

__all__ = [
    "ARC",
    "DRRIP",
    "FIFO",
    "LFU",
    "LRU",
    "MRU",
    "S3FIFO",
    "SRRIP",
    "Eviction",
    "ProtectLowDegree",
    "Random",
    "SharingAwareEviction",
    "TreePLRU",
]
