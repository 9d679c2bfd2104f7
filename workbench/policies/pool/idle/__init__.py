"""Which cached memory goes back to the driver? (spec 5, R29)"""

from workbench.policies.pool.idle.keep_all import KeepAll
from workbench.policies.pool.idle.largest import Largest
from workbench.policies.pool.idle.least_recently_used import LeastRecentlyUsed
from workbench.policies.pool.idle.question import IdleRelease
from workbench.policies.pool.idle.smallest_sufficient import SmallestSufficient

__all__ = ["IdleRelease", "KeepAll", "Largest", "LeastRecentlyUsed", "SmallestSufficient"]
