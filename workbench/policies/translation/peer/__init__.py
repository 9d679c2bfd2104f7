"""Which of the cores that hold a page is asked? (spec 4, R7)"""

from workbench.policies.translation.peer.first_bit import FirstBit
from workbench.policies.translation.peer.least_loaded import LeastLoaded
from workbench.policies.translation.peer.nearest import Nearest
from workbench.policies.translation.peer.question import Peer
from workbench.policies.translation.peer.random import Random

__all__ = ["FirstBit", "LeastLoaded", "Nearest", "Peer", "Random"]
