"""What a run of the engine `malloc` is made of: columns, rules, and what changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import allocating
from workbench.structures.timetable import Timetable, new_timetable
from workbench.structures.tournament import new_tournament

FINE, RAISED_IN, WRONG_ANSWER, NOT_FREE = range(4)
ALL_NULL, PER_THREAD, HALVE = range(3)
REFCOUNT, PIECEWISE, ARENA = range(3)
BEFORE, DURING, AFTER = range(3)
BITMAP, BUMP, CLASSES = range(3)
ASK, LOWEST, HIGHEST, NEXT, NEAREST, SMALLEST = range(6)
NOTHING, NOBODY_ASKS = -1, -2
"""In the place of a row's request: the policy gives it nothing; nobody asks for it."""
NONE = -1
SIZES = 40
"""Size classes, powers of two of granules."""

(
    STATUS,
    AT_CYCLE,
    AT_REQUEST,
    ANSWER,
    REQUESTS,
    ARRIVED,
    BLOCKS,
    ACQUISITIONS,
    FAILURES,
    ATOMICS,
    REREADS,
    WORDS,
    RETURNED,
    TAKEN,
    GRANTS,
    REFUSALS,
) = range(16)
COUNTERS = 17
GENERATOR = 16


class Columns(NamedTuple):
    """The calls, one row each."""

    arrival: np.ndarray
    thread: np.ndarray
    asked: np.ndarray
    free_at: np.ndarray
    warp: np.ndarray
    """int64[rows], the number of its warp among those that call; only for the free policy `arena`."""


class Rules(NamedTuple):
    """Policies and options as whole numbers."""

    unit: int
    header: int
    before_cycles: int
    """From a call to its first try: the barrier, and the sum where it is not hidden in the waiting."""
    during_cycles: int
    """The sum, where it is computed while the lock is waited for."""
    division_cycles: int
    overlaps: int
    on_failure: int
    frees: int
    any_frees: int
    lock: int
    hold_cycles: int
    among: int
    first_back_off: int
    most_back_off: int
    handoff_cycles: int
    handoff_a_waiter: int
    rereads: int
    retries: int
    latency: int
    latency_a_waiter: int
    latency_waiters: int
    arenas: int
    by: int
    tries: int
    heap: int
    search: int
    granule: int
    region: int
    """Granules of an arena."""
    chunk: int
    """Granules that a size class takes at a time."""


class Cuts(NamedTuple):
    """The heap requests that the calls were cut into."""

    request: np.ndarray
    """int64[rows], the heap request of each row, or NOTHING, or NOBODY_ASKS."""
    offset: np.ndarray
    """int64[rows], where its piece begins in the block of the whole request."""
    size: np.ndarray
    """int64[rows], bytes of its piece."""
    order: np.ndarray
    """int32[rows], rows grouped by request."""
    first: np.ndarray
    """int32[requests + 1], the first place in `order` of each request."""
    leader: np.ndarray
    """int32[requests], the row that asks."""
    total: np.ndarray
    """int64[requests], bytes of all pieces."""


class Arena(NamedTuple):
    """The memory of all arenas, one row each."""

    free: np.ndarray
    """uint64[arenas, words], the bitmaps; of other heaps of one word."""
    tree: np.ndarray
    """int32[arenas, nodes], the summaries, where one is used."""
    room: np.ndarray
    """int64[arenas], free granules of a bitmap."""
    memory: np.ndarray
    """int64[arenas, slots], what the placement policy remembers."""
    rounded: np.ndarray
    """int64[lengths], what the placement policy makes of each length; of one entry where it keeps it."""
    top: np.ndarray
    """int64[arenas], the bump pointer; of a bitmap under next fit, the granule after the last grant."""
    spare: np.ndarray
    """int64[arenas, SIZES], the block last freed in each class, -1 for none."""
    carved: np.ndarray
    """int64[arenas, SIZES], the next block in the chunk of each class."""
    carved_end: np.ndarray
    """int64[arenas, SIZES], the end of that chunk."""


class State(NamedTuple):
    """What changes during a run."""

    counters: np.ndarray
    due: Timetable
    """What will be given back; each entry carries a block, or a warp for the free policy `arena`."""
    next_event: np.ndarray
    """A tournament over the arenas: 4 times the cycle of each one's next event, plus its phase."""
    busy: np.ndarray
    """bool[arenas], whether somebody is in the critical section."""
    current: np.ndarray
    """int64[arenas], the request that is served."""
    head: np.ndarray
    tail: np.ndarray
    """int64[arenas], the longest and the shortest waiting request, -1 for none."""
    waiting: np.ndarray
    """int64[arenas], how many wait."""
    behind: np.ndarray
    """int32[requests], the request behind each in its line."""
    entered: np.ndarray
    """int64[requests], when it came to the line of its arena."""
    tried: np.ndarray
    """int32[requests], arenas that it tried before."""
    acquired: np.ndarray
    """int64[requests], when it entered the critical section for the last time."""
    ended: np.ndarray
    """int64[requests], when that ended."""
    ready: np.ndarray
    """int64[requests], when its lanes had their addresses, or learnt that there are none."""
    block: np.ndarray
    """int32[rows], the block of each row, -1 for none."""
    base: np.ndarray
    """int64[blocks], the first granule."""
    granules: np.ndarray
    """int64[blocks]"""
    bytes: np.ndarray
    """int64[blocks], bytes asked for, header included."""
    owner: np.ndarray
    """int32[blocks], the request."""
    origin: np.ndarray
    """int64[blocks], the offset within the whole request at which the block begins."""
    granted: np.ndarray
    """int64[blocks], when the heap gave it."""
    returned: np.ndarray
    """int64[blocks], when the heap had it back, -1 for never."""
    link: np.ndarray
    """int32[blocks], the next block of a warp, or of the spare ones of a class."""
    left: np.ndarray
    """int64[warps], rows that have not been served; only for the free policy `arena`, as the next two."""
    last: np.ndarray
    """int64[warps], when the last piece is given up; -1 for never."""
    chain: np.ndarray
    """int32[warps], the warp's latest block."""
    stack: np.ndarray
    """int64[128], halves that are still to be tried."""
    taken_log: np.ndarray
    """int64[acquisitions, 3]: cycle, request, arena."""
    refusals: np.ndarray
    """int64[refusals, 3]: cycle, request, bytes."""


class Policies(NamedTuple):
    """What is called while the loop runs."""

    place: Any
    granted: Any
    released: Any
    params: np.ndarray


@allocating
def new_state(
    rows: int, requests: int, blocks: int, arenas: int, scheduled: int, warps: int, taken: int, refusals: int
) -> State:
    """Nobody waits, nothing is granted."""
    none = np.full(arenas, NONE)
    return State(
        np.zeros(COUNTERS, np.int64),
        new_timetable(scheduled + 1),
        new_tournament(arenas),
        np.zeros(arenas, np.bool_),
        none,
        none.copy(),
        none.copy(),
        np.zeros(arenas, np.int64),
        np.zeros(requests, np.int32),
        np.zeros(requests, np.int64),
        np.zeros(requests, np.int32),
        np.zeros(requests, np.int64),
        np.zeros(requests, np.int64),
        np.zeros(requests, np.int64),
        np.full(rows, NONE, np.int32),
        np.zeros(blocks, np.int64),
        np.zeros(blocks, np.int64),
        np.zeros(blocks, np.int64),
        np.zeros(blocks, np.int32),
        np.zeros(blocks, np.int64),
        np.zeros(blocks, np.int64),
        np.full(blocks, NONE),
        np.full(blocks, NONE, np.int32),
        np.zeros(warps, np.int64),
        np.zeros(warps, np.int64),
        np.full(warps, NONE, np.int32),
        np.zeros(128, np.int64),
        np.zeros((taken, 3), np.int64),
        np.zeros((refusals, 3), np.int64),
    )
