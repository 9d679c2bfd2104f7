"""What PyTorch's allocator did with a program: enough to replay every call of the driver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ALLOC, FREE, DEFER, COMPLETE = range(4)
"""The values of `CardRun.kind` that concern a block: got, given back, given back while in use, that use ended."""
ROW, ADDRESS, BYTES, PAGES = range(4)
"""The columns of `CardRun.calls`."""


class CardRun(NamedTuple):
    """One card's allocator; one row a request in the order in which they were served."""

    kind: np.ndarray
    """int64[requests]."""
    handle: np.ndarray
    """int64[requests], the number of the block."""
    size: np.ndarray
    """int64[requests], bytes asked for."""
    placed: np.ndarray
    """int64[requests], the address of what was granted, -1 = nothing was."""
    live: np.ndarray
    """int64[requests], bytes asked for and not given back after each, awaited blocks left out."""
    reserved: np.ndarray
    """int64[requests], bytes got from the driver after each."""
    reserved_at_start: int
    calls: np.ndarray
    """int64[calls, 4]: request, address, bytes (below zero = given back), pages (0 = a segment of its own)."""
    before: int
    """How many requests, the first ones, ask for what was live before the history: no part of any measure of calls."""
    flushes: int
    """How often all cached memory went back because the driver had too little."""
    pages_mapped: int


class Reproduced(NamedTuple):
    """How a replay compares with the recording, all cards together."""

    segment_allocs: int
    segment_allocs_reproduced: int
    allocs: int
    addresses_reproduced: int
    recorded_reserved_peak_bytes: int
    """Of each card what it reserved at its peak, added up."""


class CallCosts(NamedTuple):
    """What the driver's calls cost, in nanoseconds.

    The defaults are what the claims on the pool assume (spec 5, H5.3: `driver_alloc_ns` and others); they stand in for
    a measurement on the card in question.
    """

    alloc_ns: int = 20_000
    """A call that gets a segment (cudaMalloc)."""
    free_ns: int = 20_000
    """A call that gives one back (cudaFree)."""
    page_ns: int = 2_000
    """A page that is mapped or unmapped (cuMemMap, cuMemUnmap)."""
    ns_per_mib: int = 500
    """More for each MiB that is got."""


class AllocatorRecord(NamedTuple):
    """One run of the engine `torch_allocator`."""

    cards: tuple[CardRun, ...]
    reproduced: Reproduced | None
    """None where nothing was recorded, or where the recording was served in another way."""
    costs: CallCosts
