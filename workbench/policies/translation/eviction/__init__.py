"""Which entry of a full set goes? (spec 4, R22-R28)"""

from workbench.policies.translation.eviction.ghost_lists import ARC, S3FIFO
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.recency import DRRIP, FIFO, LFU, LRU, MRU, SRRIP, Random, TreePLRU
from workbench.policies.translation.eviction.sharing import ProtectLowDegree, SharingAwareEviction
