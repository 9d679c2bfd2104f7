"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from workbench.policies.translation.eviction.frequency import LFU as LFU
from workbench.policies.translation.eviction.ghost_lists import ARC as ARC
from workbench.policies.translation.eviction.ghost_lists import S3FIFO as S3FIFO
from workbench.policies.translation.eviction.question import Eviction as Eviction
from workbench.policies.translation.eviction.recency import FIFO as FIFO
from workbench.policies.translation.eviction.recency import LRU as LRU
from workbench.policies.translation.eviction.recency import MRU as MRU
from workbench.policies.translation.eviction.recency import Random as Random
from workbench.policies.translation.eviction.recency import TreePLRU as TreePLRU
from workbench.policies.translation.eviction.rereference import DRRIP as DRRIP
from workbench.policies.translation.eviction.rereference import SRRIP as SRRIP
from workbench.policies.translation.eviction.sharing import ProtectLowDegree as ProtectLowDegree
from workbench.policies.translation.eviction.sharing import SharingAwareEviction as SharingAwareEviction
