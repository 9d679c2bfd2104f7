"""What can be said of the pool beside its runs: bounds for every policy, recorded memory, what it means for others."""

from workbench.studies.pool.completion import granted_in_order, most_granted
from workbench.studies.pool.demand import Demand, demand_of
from workbench.studies.pool.idle_and_translation import LimitAndPages, idle_limit_and_translation
from workbench.studies.pool.over_bound import OverBound, over_bound
from workbench.studies.pool.page_accesses import Touches, pool_accesses, write_pool_accesses
from workbench.studies.pool.recorded_memory import MemoryReplay, replayed_memory
from workbench.studies.pool.remote_bound import fixed_bound, moving_bound

__all__ = [
    "Demand",
    "LimitAndPages",
    "MemoryReplay",
    "OverBound",
    "Touches",
    "demand_of",
    "fixed_bound",
    "granted_in_order",
    "idle_limit_and_translation",
    "most_granted",
    "moving_bound",
    "over_bound",
    "pool_accesses",
    "replayed_memory",
    "write_pool_accesses",
]
