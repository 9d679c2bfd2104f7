"""The record of a run of PyTorch's allocator, enough to replay every call of the driver, and its event log.

The kinds of events: driver_alloc and driver_free, the calls of the driver; grant, refuse and release of blocks.
"""

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


class ReplayFidelity(NamedTuple):
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
    reproduced: ReplayFidelity | None
    """None where nothing was recorded, or where the recording was served in another way."""
    costs: CallCosts


KINDS = ("driver_alloc", "driver_free", "grant", "refuse", "release")
_GOT, _GAVE, _GRANT, _REFUSE, _RELEASE = range(5)


def events(record: AllocatorRecord) -> dict[str, np.ndarray]:
    """Return every event in its total order (card, request, rank), as columns.

    Of one request the driver's calls come first, then what became of it.

    Returns
    -------
    dict of arrays
        cycle (the number of the request), serial (0, 1, 2, ... in the total order), kind, card, handle (-1 of driver
        calls), address, bytes.
    """
    parts = [_of_card(number, run) for number, run in enumerate(record.cards)]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.zeros(0, np.int64)] * 6
    cycle, kind, card, handle, address, size = columns
    return {
        "cycle": cycle,
        "serial": np.arange(len(cycle)),
        "kind": np.array(KINDS)[kind],
        "card": card,
        "handle": handle,
        "address": address,
        "bytes": size,
    }


def _of_card(number: int, run: CardRun) -> tuple[np.ndarray, ...]:
    calls, rows = run.calls, np.arange(len(run.kind))
    did = np.where(run.kind == ALLOC, np.where(run.placed >= 0, _GRANT, _REFUSE), _RELEASE)
    cycle = np.concatenate([calls[:, ROW], rows])
    kind = np.concatenate([np.where(calls[:, BYTES] > 0, _GOT, _GAVE), did])
    handle = np.concatenate([np.full(len(calls), -1), run.handle])
    address = np.concatenate([calls[:, ADDRESS], run.placed])
    size = np.concatenate([np.abs(calls[:, BYTES]), run.size])
    order = np.lexsort((np.arange(len(cycle)), kind >= _GRANT, cycle))
    return cycle[order], kind[order], np.full(len(cycle), number), handle[order], address[order], size[order]
