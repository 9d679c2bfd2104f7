"""RMM's memory resources as its documentation describes them, on recorded requests: pool, arena and binning.

Each is a plain object with `allocate` and `free`. Streams are told apart as RMM does, where the record names them.
"""

from workbench.advice.rmm.arena import Arena, smallest_arena
from workbench.advice.rmm.binning import Binning, Bins
from workbench.advice.rmm.pool import (
    NEWEST,
    RULES,
    PoolRules,
    StreamPool,
    rules_of,
    smallest_maximum,
    smallest_pool,
    version_of,
)
from workbench.advice.rmm.resource import (
    DEFAULT_STREAM,
    CardRequests,
    Direct,
    Driver,
    Resource,
    Served,
    requests_by_card,
    serve,
)

__all__ = [
    "DEFAULT_STREAM",
    "NEWEST",
    "RULES",
    "Arena",
    "Binning",
    "Bins",
    "CardRequests",
    "Direct",
    "Driver",
    "PoolRules",
    "Resource",
    "Served",
    "StreamPool",
    "requests_by_card",
    "rules_of",
    "serve",
    "smallest_arena",
    "smallest_maximum",
    "smallest_pool",
    "version_of",
]
