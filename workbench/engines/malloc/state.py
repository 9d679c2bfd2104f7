"""The arrays of a run of the engine `malloc`: columns, rules, the requests that calls are cut into, what changes.

The rows of one arrival and one warp are put to the policy together, which cuts them into heap requests (spec 2,
R1-R14).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import RAISED, Answer, by_reference, kernel, routine
from workbench.engines.kit import FINE, STOP, column, fail, log, numbered, raised, wrong
from workbench.policies.malloc.parallel.access import ACCESS, OWN
from workbench.policies.malloc.serve import SERVE, ReadyServe, ServeView
from workbench.structures.timetable import Timetable

ALL_NULL, PER_THREAD, HALVE = range(3)
REFCOUNT, PIECEWISE, ARENA = range(3)
BEFORE, DURING, AFTER = range(3)
BITMAP, BUMP, CLASSES, PARALLEL = range(4)
ASK, LOWEST, HIGHEST, NEXT, NEAREST, SMALLEST = range(6)
NOTHING, NOBODY_ASKS = -1, -2
"""In the place of a row's request: the policy gives it nothing; it is not requested."""
NONE = -1
RANK_OF, WARP_AT = range(2)
ASKED, UNIT, LOW, HIGH, TOGETHER, BLOCK, TURN, REMEMBERED = range(8)
"""Of each request to a parallel heap: the granules that it asks for now, its compute unit, its first row and the one
after its last. Then how many requests its entry in the timetable stands for, its thread block, its number in the order
of coming, and what it remembers.
"""
WIDTH = REMEMBERED + OWN
NEEDS, SINCE = range(2)
"""The request whose section waits for a chunk (-1 = none does), and since when."""
SIZES = 40
"""Size classes, powers of two of granules."""


class Counters(NamedTuple):
    """Where a run stands, and what it has counted."""

    requests: int
    queued: int
    """Requests that were put forward."""
    arrived: int
    """Requests that have come to a line."""
    now: int
    """The latest cycle at which anything happened."""
    answered: int
    """Answers that are not taken."""
    late: int
    """Returns at the cycle `late_cycle` that were asked for and are not in the timetable."""
    late_cycle: int
    complete: int
    """Warps all of whose calls were served; only for the free policy `arena`."""
    blocks: int
    acquisitions: int
    failures: int
    """Tries in vain."""
    atomics: int
    rereads: int
    words: int
    """Words of bitmaps that were written."""
    returned: int
    taken: int
    grants: int
    """Granules of the latest grant."""
    refusals: int
    generator: int
    """The state of the random numbers of the lock."""
    together: int
    """The request whose entry in the timetable those join that follow it, -1 = there is none."""
    until: int
    """When the access of that entry ends."""
    admitted: int
    """Requests that are admitted: their thread blocks are under way."""
    admitted_at: int
    freed_at: int
    """When a thread block ended last."""
    running: int
    """Thread blocks under way."""
    answered_requests: int
    """Requests that were answered."""


class Faults(NamedTuple):
    """What stops a run."""

    none: int
    serve_raised: int = raised("serve")
    serve_wrong: int = wrong("serve")
    placement_raised: int = raised("heap.placement")
    not_free: int = wrong("heap.placement")
    heap_raised: int = raised("heap")
    heap_wrong: int = wrong("heap", ACCESS.wrong)


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)
COUNTERS = len(STOP) + len(COUNT)


class Columns(NamedTuple):
    """The calls, one row each."""

    arrival: np.ndarray
    thread: np.ndarray
    size: np.ndarray
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
    merges: int
    polls: int
    """Requests under way for which a section takes a cycle more; 0 = any number."""
    resident: int
    """Thread blocks that may be under way, 0 = any number."""
    swap_cycles: int
    travel_cycles: int
    block_threads: int
    units: int
    latency: int
    latency_a_waiter: int
    latency_waiters: int
    arenas: int
    by: int
    tries: int
    heap: int
    keeps: int
    """1 = what is given up does not go back to the heap."""
    search: int
    granule: int
    region: int
    """Granules that an arena may have; from one arena's first granule to the next one's."""
    chunk: int
    """Granules that a size class takes at a time."""
    grows: int
    """Granules that an empty heap asks for at a time; 0 = it answers null."""
    skips: int
    """1 = who backs off is looked at when somebody of the line tries, and what is due goes back when a section asks. 0,
    by tests: every cycle is looked at, tries are counted one by one, and what is due goes back at each event."""


class Cuts(NamedTuple):
    """The heap requests that the calls were cut into; as long as the calls are, until their number is known."""

    request: np.ndarray = column(np.int64, "rows")
    """int64[rows], the heap request of each row, or NOTHING, or NOBODY_ASKS."""
    offset: np.ndarray = column(np.int64, "rows")
    """int64[rows], where its piece begins in the block of the whole request."""
    size: np.ndarray = column(np.int64, "rows")
    """int64[rows], bytes of its piece."""
    order: np.ndarray = column(np.int32, "ends")
    """int32[rows], rows grouped by request."""
    first: np.ndarray = column(np.int32, "ends")
    """int32[requests + 1], the first place in `order` of each request."""
    leader: np.ndarray = column(np.int32, "ends")
    """int32[requests], the row that asks."""
    total: np.ndarray = column(np.int64, "rows")
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
    words: np.ndarray
    """int64[words], what a parallel heap remembers."""
    limit: np.ndarray
    """int64[arenas], granules of each; of a bitmap those behind them are marked as taken."""
    rounded: np.ndarray
    """int64[lengths], what the placement policy makes of each length; of one entry where it keeps it."""
    top: np.ndarray
    """int64[arenas], the bump pointer; of a bitmap under next fit, the granule after the last grant."""
    spare: np.ndarray = column(np.int64, "arenas", SIZES, fill=NONE)
    """The block last freed in each class, -1 for none."""
    carved: np.ndarray = column(np.int64, "arenas", SIZES)
    """The next block in the chunk of each class."""
    carved_end: np.ndarray = column(np.int64, "arenas", SIZES)
    """The end of that chunk."""


class State(NamedTuple):
    """What changes during a run."""

    due: Timetable
    """What will be given back; each entry carries a block, or a warp for the free policy `arena`."""
    next_event: np.ndarray
    """A tournament over the arenas: the moment of each one's next event."""
    accesses: Timetable
    """The accesses under way, at their ends; each entry carries the first of the requests that go together."""
    counters: np.ndarray = column(np.int64, COUNTERS)
    busy: np.ndarray = column(np.bool_, "arenas")
    """Whether somebody is in the critical section."""
    current: np.ndarray = column(np.int64, "arenas", fill=NONE)
    """The request that is served."""
    head: np.ndarray = column(np.int64, "arenas", fill=NONE)
    """The longest waiting request, -1 for none."""
    tail: np.ndarray = column(np.int64, "arenas", fill=NONE)
    """The shortest waiting one."""
    waiting: np.ndarray = column(np.int64, "arenas")
    """How many wait."""
    queue: np.ndarray = column(np.int32, "requests")
    """The requests in the order in which they were put forward."""
    behind: np.ndarray = column(np.int32, "requests")
    """The request behind each in its line."""
    entered: np.ndarray = column(np.int64, "requests")
    """When it came to the line of its arena."""
    tried: np.ndarray = column(np.int32, "requests")
    """Arenas that it tried before."""
    acquired: np.ndarray = column(np.int64, "requests")
    """When it entered the critical section for the last time."""
    ended: np.ndarray = column(np.int64, "requests")
    """When that ended."""
    ready: np.ndarray = column(np.int64, "requests")
    """When its lanes had their addresses, or learnt that there are none."""
    block: np.ndarray = column(np.int32, "rows", fill=NONE)
    """The block of each row, -1 for none."""
    base: np.ndarray = column(np.int64, "blocks")
    """The first granule."""
    granules: np.ndarray = column(np.int64, "blocks")
    bytes: np.ndarray = column(np.int64, "blocks")
    """Bytes asked for, header included."""
    owner: np.ndarray = column(np.int32, "blocks")
    """The request."""
    origin: np.ndarray = column(np.int64, "blocks")
    """The offset within the whole request at which the block begins."""
    granted: np.ndarray = column(np.int64, "blocks")
    """When the heap gave it."""
    returned: np.ndarray = column(np.int64, "blocks", fill=NONE)
    """When the heap had it back, -1 for never."""
    link: np.ndarray = column(np.int32, "blocks", fill=NONE)
    """The next block of a warp, or of the spare ones of a class."""
    left: np.ndarray = column(np.int64, "warps")
    """Rows that have not been served; only for the free policy `arena`, as the next two."""
    last: np.ndarray = column(np.int64, "warps")
    """When the last piece is given up, of those of which that is known."""
    chain: np.ndarray = column(np.int32, "warps", fill=NONE)
    """The warp's latest block."""
    open: np.ndarray = column(np.int32, "opens", fill=NONE)
    """The pieces of each block that are not given up, -1 = not counted yet; of a warp, where `arena` frees."""
    ranks: np.ndarray = column(np.int32, 2, "ranked")
    """`RANK_OF` each warp in the order in which they were complete, and the warps in that order; in a part alone, as
    what follows."""
    late: np.ndarray = column(np.int64, "late")
    """A heap of what goes back at `late_cycle`: blocks, or ranks of warps."""
    answers: np.ndarray = column(np.int64, "answers", 3)
    """Request, cycle of its answer, bytes of the chunk that it needs first (0 = it is answered)."""
    growth: np.ndarray = column(np.int64, "growing", 2, fill=NONE)
    """Of each arena that may grow: `NEEDS`, `SINCE`."""
    held: np.ndarray = column(np.int64, "held")
    """Of each request: the cycles for which it waited for a chunk."""
    walks: np.ndarray = column(np.int32, "walkers", WIDTH)
    """What each request asks for now, and what it remembers between its accesses; only of a parallel heap, as the next
    five."""
    group: np.ndarray = column(np.int64, "walkers")
    """The group of each request."""
    blocks_left: np.ndarray = column(np.int32, "walkers", 2)
    """Of each thread block: requests that have come and are not answered, and whether there are any."""
    own: np.ndarray = column(np.int64, OWN)
    """What the request at hand remembers."""
    out: np.ndarray = column(np.int64, 2)
    """What the heap says of the next access, or of the block."""
    words: np.ndarray = column(np.int64, "words", 3)
    """Of each word: when it is free, and of the latest addition the cycle after its issue and the group."""
    stack: np.ndarray = column(np.int64, 128)
    """Halves that are still to be tried."""
    taken_log: np.ndarray = log("taken", 3)
    """Cycle, request, arena."""
    refusals: np.ndarray = log("refusals", 3)
    """Cycle, request, bytes."""


class Policies(NamedTuple):
    """What is called while the loop runs."""

    place: Answer
    granted: Answer
    released: Answer
    params: np.ndarray


class Run(NamedTuple):
    """What the compiled routines see, by reference."""

    rules: Rules
    columns: Columns
    cuts: Cuts
    arena: Arena
    policies: Policies
    state: State


ask = SERVE.ask
# 1,024 such pieces sum to 2**52 bytes, far below the limit of an int64 (E12).
MOST_PIECE = 1 << 42


@kernel
def cut(columns: Columns, unit: int, serve: ReadyServe, cuts: Cuts, scratch: np.ndarray, counters: np.ndarray) -> None:
    """Put every call to the policy; `scratch` is int64[4, unit + 1]."""
    _cut(by_reference(columns), unit, by_reference(serve), by_reference(cuts), scratch, counters)


@routine
def _cut(columns: Columns, unit: int, serve: ReadyServe, cuts: Cuts, scratch: np.ndarray, counters: np.ndarray) -> None:
    row, rows = 0, columns.arrival.size
    requests = placed = 0
    while row < rows and counters[STOP.fault] == FINE:
        arrival, group = columns.arrival[row], columns.thread[row] // unit
        end = row
        while end < rows and columns.arrival[end] == arrival and columns.thread[end] // unit == group:
            scratch[0, end - row] = columns.thread[end] - group * unit
            end += 1
        lanes, leader = scratch[0][: end - row], scratch[1][: end - row]
        part = cuts.request[row:end]
        parts = ask(
            serve.answer,
            ServeView(
                lanes,
                columns.size[row:end],
                part,
                cuts.offset[row:end],
                cuts.size[row:end],
                leader,
                serve.params,
                serve.memory,
            ),
        )
        if _is_wrong(cuts, scratch, row, end, parts):
            fail(counters, FAULT.serve_raised if parts == RAISED else FAULT.serve_wrong, arrival, row, parts)
            return
        requests, placed = _enter(cuts, scratch, row, end, parts, requests, placed)
        row = end
    cuts.first[requests] = placed
    counters[COUNT.requests] = requests


@kernel
def _is_wrong(cuts: Cuts, scratch: np.ndarray, row: int, end: int, parts: int) -> bool:
    if parts < 0 or parts > end - row:
        return True
    wrong = False
    for k in range(row, end):
        part = cuts.request[k]
        wrong |= part < NOTHING or part >= parts
        wrong |= part >= 0 and not (0 <= cuts.size[k] <= MOST_PIECE and 0 <= cuts.offset[k] <= MOST_PIECE)
    for p in range(parts):
        asks = scratch[1, p]
        wrong |= asks < -1 or asks >= end - row
        wrong = wrong or (asks >= 0 and cuts.request[row + asks] != p)
    return wrong


@kernel
def _enter(
    cuts: Cuts, scratch: np.ndarray, row: int, end: int, parts: int, requests: int, placed: int
) -> tuple[int, int]:
    """Number the requests on, and list the rows of each; rows without a request are dropped."""
    # Rows of `scratch`: lanes; of each part its leader, its number of rows (then the next place), its request.
    for p in range(parts):
        scratch[2, p] = 0
    for k in range(row, end):
        if cuts.request[k] >= 0:
            scratch[2, cuts.request[k]] += 1
    for p in range(parts):
        count = scratch[2, p]
        if scratch[1, p] < 0 or count == 0:
            scratch[3, p] = NOBODY_ASKS
            continue
        scratch[3, p] = requests
        scratch[2, p] = placed
        cuts.first[requests], cuts.total[requests] = placed, 0
        cuts.leader[requests] = row + scratch[1, p]
        placed += count
        requests += 1
    for k in range(row, end):
        part = cuts.request[k]
        if part < 0:
            continue
        number = scratch[3, part]
        cuts.request[k] = number
        if number >= 0:
            cuts.order[scratch[2, part]] = k
            scratch[2, part] += 1
            cuts.total[number] += cuts.size[k]
    return requests, placed
