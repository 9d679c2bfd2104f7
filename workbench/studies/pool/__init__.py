"""What can be said of the pool beside its runs: bounds for every policy, recorded memory, what it means for others."""

from workbench.studies.pool.completion import granted_in_order, most_granted
from workbench.studies.pool.demand import Demand, demand_of
from workbench.studies.pool.heap_segments import HeapGrowth, HeapOnCards, pieces_on_cards, segment_requests
from workbench.studies.pool.heaps_on_pool import WarpsAndCards, heaps_on_pool
from workbench.studies.pool.idle_and_translation import LimitAndPages, idle_limit_and_translation
from workbench.studies.pool.over_bound import OverBound, over_bound
from workbench.studies.pool.page_accesses import Touches, pool_accesses, write_pool_accesses
from workbench.studies.pool.recorded_memory import MemoryReplay, replayed_memory
from workbench.studies.pool.remote_bound import fixed_bound, moving_bound
from workbench.studies.pool.replay import Replayed, recorded_allocator, replay_sweep, replayed

__all__ = [
    "Demand",
    "HeapGrowth",
    "HeapOnCards",
    "LimitAndPages",
    "MemoryReplay",
    "OverBound",
    "Replayed",
    "Touches",
    "WarpsAndCards",
    "demand_of",
    "fixed_bound",
    "granted_in_order",
    "heaps_on_pool",
    "idle_limit_and_translation",
    "most_granted",
    "moving_bound",
    "over_bound",
    "pieces_on_cards",
    "pool_accesses",
    "recorded_allocator",
    "replay_sweep",
    "replayed",
    "replayed_memory",
    "segment_requests",
    "write_pool_accesses",
]
