"""RMM's memory resources as its documentation describes them, on recorded requests: pool, arena and binning.

Each is a plain object with `allocate` and `free`; streams are told apart as RMM does, where the record tells them.
"""

from workbench.studies.rmm.arena import Arena, smallest_arena
from workbench.studies.rmm.binning import Binning, Bins
from workbench.studies.rmm.pool import StreamPool, smallest_pool
from workbench.studies.rmm.requests import CardRequests, requests_by_card
from workbench.studies.rmm.served import Resource, Served, serve

__all__ = [
    "Arena",
    "Binning",
    "Bins",
    "CardRequests",
    "Resource",
    "Served",
    "StreamPool",
    "requests_by_card",
    "serve",
    "smallest_arena",
    "smallest_pool",
]
