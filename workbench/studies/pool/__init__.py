"""What can be said of the pool beside its runs: bounds for every policy, recorded memory, what it means for others."""

from workbench.studies.pool.demand import Demand, demand_of, granted_in_order, most_granted
from workbench.studies.pool.heap_growth import (
    HeapGrowth,
    HeapOnCards,
    WarpsAndCards,
    heaps_on_pool,
    pieces_on_cards,
    segment_requests,
)
from workbench.studies.pool.page_accesses import (
    LimitAndPages,
    Touches,
    idle_limit_and_translation,
    pool_accesses,
    write_pool_accesses,
)
from workbench.studies.pool.remote_bound import OverBound, fixed_bound, moving_bound, over_bound
from workbench.studies.pool.replay import (
    MemoryReplay,
    Replayed,
    recorded_allocator,
    replay_sweep,
    replayed,
    replayed_memory,
)
