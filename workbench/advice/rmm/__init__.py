"""RMM's memory resources as its documentation describes them, on recorded requests: pool, arena and binning.

Each is a plain object with `allocate` and `free`. Streams are told apart as RMM does, where the record names them.
"""

from workbench.advice.rmm.arena import Arena, smallest_arena
from workbench.advice.rmm.binning import Binning, Bins
from workbench.advice.rmm.pool import StreamPool, smallest_pool
from workbench.advice.rmm.resource import CardRequests, Resource, requests_by_card, serve

__all__ = [
    "Arena",
    "Binning",
    "Bins",
    "CardRequests",
    "Resource",
    "StreamPool",
    "requests_by_card",
    "serve",
    "smallest_arena",
    "smallest_pool",
]
