"""The arrays of a run of the engine `pool`: requests, board, levers, policies, the state, and the queue of a service.

Three more things are records alone. They are the regions in the chains of the cards on which they lie, the calls of the
driver that map, and the fault that stops a run. The fault has the time at which the work on the request began.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import Answer, Answers, kernel
from workbench.engines.kit import STOP, column, full, numbered, raised, wrong
from workbench.engines.kit.faults import Stop, fail
from workbench.policies.pool.idle import EACH
from workbench.structures.size_index import FIELDS, NONE, SIZE, SizeIndex
from workbench.structures.timetable import Turns, new_turns


class Counters(NamedTuple):
    """Where a run stands, and what it has counted."""

    free_at: int
    """When the service is free again."""
    driver_ns: int
    """The time of the driver and of moves in this request."""
    spare: int
    """How many blocks wait to be used again."""
    fresh: int
    """How many blocks were ever used."""
    calls: int
    """Of the driver."""
    lendings: int
    forgotten: int
    """Lendings that are too old to count."""
    moves: int
    begins: int
    """When the work on this request begins."""
    reused: int
    """Bytes of the latest grant that were cached before it."""


class Faults(NamedTuple):
    """What stops a run."""

    none: int
    fit_raised: int = raised("cache_fit")
    fit_wrong: int = wrong("cache_fit")
    target_raised: int = raised("target")
    target_wrong: int = wrong("target")
    idle_raised: int = raised("idle_release")
    idle_wrong: int = wrong("idle_release")
    driver_raised: int = raised("driver")
    driver_wrong: int = wrong("driver")
    no_more_moves: int = full("moves")


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)
POOLS = 2
"""Pools of blocks a card: large requests', small requests'."""


class Columns(NamedTuple):
    """The requests."""

    time: np.ndarray
    borrower: np.ndarray
    size: np.ndarray
    """int64[requests], bytes asked for."""
    need: np.ndarray
    """int64[requests], the same as the cache rounds them."""
    names: np.ndarray
    """int64[requests]: -1 = an allocation; of a free the row of its allocation, `UNKNOWN` or `REPEATED`."""


UNKNOWN, REPEATED = -2, -3


class Tables(NamedTuple):
    """The board."""

    capacity: np.ndarray
    gbps: np.ndarray
    """float64[cards * cards], by which targets are ranked, row by row a borrower."""
    narrowest: np.ndarray
    """float64[cards * cards], GB/s at which data go, row by row where they come from."""
    hops: np.ndarray
    hosts: np.ndarray
    lends: np.ndarray
    """int64[cards], whether each may lend at all."""


class Rules(NamedTuple):
    """The levers as whole numbers."""

    metric: int
    tie: int
    window: int
    by_bytes: int
    request_ns: int
    alloc_ns: int
    free_ns: int
    mib_ns: int
    zero_gbps: float
    normalises: int
    filters: int
    own_first: int
    waits: int
    """Whether a request for which no card has space waits."""
    first_come: int
    wait_ns: int
    small_most: int
    small_segment: int
    middle_most: int
    middle_segment: int
    segment_granule: int
    least_rest: int
    small_least_rest: int
    relative_rest: int
    large_rest: int
    halves: int
    joins: int
    keeps: int
    flushes: int
    grows: int
    first_segment: int
    stitches: int
    chunk: int
    pages: int
    map_ns: int
    returns: int
    order: int
    at_most: int
    evicts: int


class Terms(NamedTuple):
    """The scores that are summed."""

    answers: Answers
    chosen: Answers
    weights: np.ndarray
    params: np.ndarray
    """float64[terms, most parameters]."""
    sizes: np.ndarray
    """int64[terms, 2], parameters and memory of each."""


class Policies(NamedTuple):
    """The policies of one run."""

    fit: Answer
    fit_params: np.ndarray
    terms: Terms
    idle: Answer
    idle_params: np.ndarray
    idle_limit: int


class Driver(NamedTuple):
    """The memory of all cards by granules; without any where bytes are counted."""

    answers: Answers
    """Where, and what the policy is told of what was taken and given back."""
    params: np.ndarray
    granule: int
    """Bytes; 0 = bytes are counted."""
    granules: np.ndarray
    """int64[cards]."""
    first: np.ndarray
    """int64[3, cards + 1], where what belongs to each card begins in `free`, `footprints` and `memory`."""
    free: np.ndarray
    """uint64[words of all cards], the free maps."""
    footprints: np.ndarray
    """int64[granules + 1 of all cards], granules that the policy takes for so many."""
    memory: np.ndarray
    scratch: np.ndarray
    """int64[as memory], what the policy remembers while it is only asked whether it could."""
    start: np.ndarray
    """int64[blocks], the first granule of each driver allocation, by its first block."""


class Places(NamedTuple):
    """Where the regions in use lie, for policies that move them; a region is known by the row of its allocation.

    Two orders, each a chain a card: the regions that lie on a card, in the order in which they came there; and those of
    a card's applications that lie elsewhere. Empty where nothing moves.
    """

    first: np.ndarray = column(np.int64, "2 * cards", fill=NONE)
    """The region at the head of each chain, -1 = none."""
    last: np.ndarray = column(np.int64, "2 * cards", fill=NONE)
    before: np.ndarray = column(np.int64, "2 * placed", fill=NONE)
    """Its neighbor in each of the two orders, -1 = none."""
    after: np.ndarray = column(np.int64, "2 * placed", fill=NONE)
    card: np.ndarray = column(np.int64, "placed", fill=NONE)
    """Where each region lies."""
    with_room: np.ndarray = column(np.int64, "cards")
    """1 = bytes have come back on the card, and nothing has moved home for them yet."""


class State(NamedTuple):
    """Everything that changes during a run."""

    blocks: SizeIndex
    physical: np.ndarray
    """int64[cards], bytes that the driver can give."""
    fit_memory: np.ndarray
    target_memory: np.ndarray
    """int64[terms, most slots]."""
    driver: Driver
    places: Places
    counters: np.ndarray = column(np.int64, len(STOP) + len(COUNT))
    origins: np.ndarray = column(np.int64, f"{EACH} * blocks")
    """Of the first block of each driver allocation: `BYTES`, `IN_USE`, `OLDER`, `NEWER`."""
    pool: np.ndarray = column(np.int32, "blocks")
    """The pool of each driver allocation, by its first block."""
    piece: np.ndarray = column(np.int32, "blocks", fill=NONE)
    """The next part of a stitched region, -1 = it is the last."""
    spare: np.ndarray = column(np.int32, "blocks")
    """Blocks to be used again."""
    first: np.ndarray = column(np.int64, f"{POOLS} * cards", fill=NONE)
    """The block of each pool with the lowest address; -1 = none."""
    last: np.ndarray = column(np.int64, f"{POOLS} * cards", fill=NONE)
    oldest: np.ndarray = column(np.int64, "cards", fill=NONE)
    """The driver allocation that became wholly cached first; -1 = none."""
    newest: np.ndarray = column(np.int64, "cards", fill=NONE)
    cached: np.ndarray = column(np.int64, "cards")
    held: np.ndarray = column(np.int64, "cards")
    """Bytes in use."""
    peak: np.ndarray = column(np.int64, "cards")
    """The most cached bytes so far."""
    address: np.ndarray = column(np.int64, "cards")
    """The address of the next driver allocation."""
    grown: np.ndarray = column(np.int64, "cards")
    """The size of the next driver allocation of a card that grows; 0 = the first."""
    candidates: np.ndarray = column(np.int64, "cards")
    free: np.ndarray = column(np.int64, "cards")
    scores: np.ndarray = column(np.float64, 2, "cards")
    """One term's and the sum."""
    lent: np.ndarray = column(np.float64, "cards * cards")
    """What each borrower got from each card lately."""
    lendings: np.ndarray = column(np.int64, "lendings", 3)
    """Request, place in `lent`, amount."""
    block: np.ndarray = column(np.int32, "requests", fill=NONE)
    """The block of each region, -1 = it has none."""
    outcome: np.ndarray = column(np.int8, "requests")
    card: np.ndarray = column(np.int64, "requests", fill=NONE)
    identifier: np.ndarray = column(np.int64, "requests", fill=NONE)
    taken: np.ndarray = column(np.int64, "requests")
    done: np.ndarray = column(np.int64, "requests")
    calls: np.ndarray = column(np.int64, "calls", 4)
    mappings: np.ndarray = column(np.int64, "requests")
    """The driver's calls that map or unmap."""
    moves: np.ndarray = column(np.int64, "moves", 8)
    """As in the record."""


LINE, HEAD, TAIL, ANSWERED, NOW, ROWS = range(6)
"""Counters: requests that are answered; the first and the last that waits, -1 = none does; answers that are not taken.
Then when the latest request was made, or gave up; rows of the table."""


class Waiting(NamedTuple):
    """Everything that changes, except the state of the pool."""

    counters: np.ndarray
    when: np.ndarray
    """int64[requests], nanoseconds, when each is asked."""
    since: np.ndarray
    """int64[requests], when it joined the queue."""
    behind: np.ndarray
    """int64[requests], which joined next, -1 = none."""
    requests: Columns
    """The requests in the order of serving, a line each; the line after the last one holds what is tried."""
    row_of: np.ndarray
    """int64[requests], the request of each line."""
    line_of: np.ndarray
    """int64[requests], the line of each request, -1 = it is not answered."""
    waited: np.ndarray
    """int64[requests], nanoseconds in the queue, by line."""
    answers: np.ndarray
    """int64[requests], the requests that were answered and are not taken."""


class Service(NamedTuple):
    """What the compiled routines see, by reference."""

    columns: Columns
    """The table: what may be asked."""
    tables: Tables
    rules: Rules
    policies: Policies
    state: State
    waiting: Waiting


class Clients(NamedTuple):
    """The applications of a workload, each of which has one request at a time."""

    app: np.ndarray
    """int64[requests], whose each is: applications numbered from 0."""
    first: np.ndarray
    """int64[applications], the first request of each."""
    following: np.ndarray
    """int64[requests], the next one of the same application, -1 = it was the last."""
    turns: Turns
    """When each application asks next, and which request; of one that waits, never."""
    late: np.ndarray
    """int64[applications], nanoseconds by which its clock is behind the trace: as long as it has waited."""


def new_waiting(columns: Columns) -> Waiting:
    """Return an empty queue: nothing has been asked yet."""
    rows = columns.time.size
    return Waiting(
        counters=np.array([0, NONE, NONE, 0, 0, rows]),
        when=columns.time.copy(),
        since=np.zeros(rows, np.int64),
        behind=np.full(rows, NONE),
        requests=Columns(*(np.zeros_like(column) for column in columns)),
        row_of=np.full(rows, NONE),
        line_of=np.full(rows, NONE),
        waited=np.zeros(rows, np.int64),
        answers=np.zeros(rows, np.int64),
    )


def new_clients(apps: np.ndarray) -> Clients:
    """Return applications that have asked nothing yet.

    Parameters
    ----------
    apps : int64[requests]
        The application of each request, by any number.
    """
    names, app = np.unique(apps, return_inverse=True)
    app, count = app.reshape(-1).astype(np.int64), names.size
    each = np.argsort(app, kind="stable")
    begins = np.searchsorted(app[each], np.arange(count))
    following = np.full(app.size, NONE)
    following[each[:-1]] = np.where(np.diff(app[each]) == 0, each[1:], NONE)
    return Clients(app, each[begins], following, new_turns(count), np.zeros(count, np.int64))


HERE, AWAY = range(2)
"""The two orders: by the card on which a region lies, and by the card of its application."""


@kernel
def enter_chain(places: Places, order: int, card: int, region: int) -> None:
    """Put a region at the end of a card's chain."""
    chain, at = order * places.with_room.size + card, order * places.card.size
    last = places.last[chain]
    places.before[at + region], places.after[at + region] = last, NONE
    if last == NONE:
        places.first[chain] = region
    else:
        places.after[at + last] = region
    places.last[chain] = region


@kernel
def leave_chain(places: Places, order: int, card: int, region: int) -> None:
    """Take a region out of a card's chain."""
    chain, at = order * places.with_room.size + card, order * places.card.size
    before, after = places.before[at + region], places.after[at + region]
    if before == NONE:
        places.first[chain] = after
    else:
        places.after[at + before] = after
    if after == NONE:
        places.last[chain] = before
    else:
        places.before[at + after] = before


@kernel
def stopped(state: State, fault: int, row: int, answer: int) -> None:
    """Keep the first fault, at a request."""
    fail(state.counters, fault, state.counters[COUNT.begins], row, answer)


def words(columns: Columns, stop: Stop) -> dict[str, str]:
    """Return the place where a run stopped: its request, with its bytes and the card that it came from."""
    row = stop.row
    return {"where": f"at request {row} ({columns.size[row]} bytes, from card {columns.borrower[row]})"}


@kernel
def note_mappings(rules: Rules, state: State, row: int, calls: int) -> None:
    """Count calls for a request, and their time."""
    state.mappings[row] += calls
    state.counters[COUNT.driver_ns] += rules.map_ns * calls


@kernel
def note_stitching(rules: Rules, state: State, row: int, block: int, per_piece: int) -> None:
    """Count, for each of several parts, a call for each of its chunks, and so many more; a region in one part takes
    none."""
    if state.piece[block] == NONE:
        return
    while block != NONE:
        chunks = -(-state.blocks.nodes[block * FIELDS + SIZE] // rules.chunk)
        note_mappings(rules, state, row, chunks + per_piece)
        block = int(state.piece[block])
