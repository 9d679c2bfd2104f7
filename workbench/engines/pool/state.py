"""The arrays of one run: what is asked, what the board is like, what the policies answer, and the state itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.policies.pool.idle.question import EACH
from workbench.structures.size_index import NONE, SizeIndex, new_size_index

STATUS, AT_ROW, ANSWER, TERM, FREE_AT, DRIVER_NS, SPARE, FRESH, CALLS, LENDINGS, FORGOTTEN = range(11)
MOVES, BEGINS, REUSED = range(11, 14)
"""Counters: what stopped the run, at which request, with which answer of which term; when the service is free again;
the time of the driver and of moves in this request; how many blocks wait to be used again, how many were ever used;
driver calls; lendings, and how many of them are too old to count; moves; when the work on this request begins; how many
bytes of the latest grant were cached before it."""
(
    FINE,
    RAISED_IN_FIT,
    WRONG_BLOCK,
    RAISED_IN_TARGET,
    WRONG_SCORE,
    RAISED_IN_IDLE,
    WRONG_ORIGIN,
    RAISED_IN_DRIVER,
    WRONG_PLACE,
    NO_MORE_MOVES,
) = range(10)
"""What stopped the run; `NO_MORE_MOVES` = the state has room for no more of them."""
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

    answers: Any
    chosen: Any
    weights: np.ndarray
    params: np.ndarray
    """float64[terms, most parameters]."""
    sizes: np.ndarray
    """int64[terms, 2], parameters and memory of each."""


class Policies(NamedTuple):
    """The policies of one run."""

    fit: Any
    fit_params: np.ndarray
    terms: Terms
    idle: Any
    idle_params: np.ndarray
    idle_limit: int


class Driver(NamedTuple):
    """The memory of all cards by granules; without any where bytes are counted."""

    answers: Any
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

    first: np.ndarray
    """int64[2 * cards], the region at the head of each chain, -1 = none."""
    last: np.ndarray
    before: np.ndarray
    """int64[2 * requests], its neighbour in each of the two orders, -1 = none."""
    after: np.ndarray
    card: np.ndarray
    """int64[requests], where each region lies."""
    with_room: np.ndarray
    """int64[cards], 1 = bytes have come back on the card, and nothing has moved home for them yet."""


class State(NamedTuple):
    """Everything that changes during a run."""

    counters: np.ndarray
    blocks: SizeIndex
    origins: np.ndarray
    """int64[blocks * 4], of the first block of each driver allocation: `BYTES`, `IN_USE`, `OLDER`, `NEWER`."""
    pool: np.ndarray
    """int32[blocks], the pool of each driver allocation, by its first block."""
    piece: np.ndarray
    """int32[blocks], the next part of a stitched region, -1 = it is the last."""
    spare: np.ndarray
    """int32[blocks], blocks to be used again."""
    first: np.ndarray
    """int64[pools], the block with the lowest address; -1 = none."""
    last: np.ndarray
    oldest: np.ndarray
    """int64[cards], the driver allocation that became wholly cached first; -1 = none."""
    newest: np.ndarray
    physical: np.ndarray
    """int64[cards], bytes that the driver can give."""
    cached: np.ndarray
    held: np.ndarray
    """int64[cards], bytes in use."""
    peak: np.ndarray
    """int64[cards], the most cached bytes so far."""
    address: np.ndarray
    """int64[cards], the address of the next driver allocation."""
    grown: np.ndarray
    """int64[cards], the size of the next driver allocation of a card that grows; 0 = the first."""
    fit_memory: np.ndarray
    target_memory: np.ndarray
    """int64[terms, most slots]."""
    candidates: np.ndarray
    free: np.ndarray
    scores: np.ndarray
    """float64[2, cards], one term's and the sum."""
    lent: np.ndarray
    """float64[cards * cards], what each borrower got from each card lately."""
    lendings: np.ndarray
    """int64[allocations, 3]: request, place in `lent`, amount."""
    block: np.ndarray
    """int32[requests], the block of each region, -1 = it has none."""
    outcome: np.ndarray
    card: np.ndarray
    identifier: np.ndarray
    taken: np.ndarray
    done: np.ndarray
    calls: np.ndarray
    mappings: np.ndarray
    """int64[requests], the driver's calls that map or unmap."""
    driver: Driver
    places: Places
    moves: np.ndarray
    """int64[moves, 8], as in the record."""


def new_state(
    tables: Tables,
    requests: int,
    allocations: int,
    capacity: int,
    calls: int,
    driver: Driver,
    fit_memory: np.ndarray,
    target_memory: np.ndarray,
    moves: int = 0,
) -> State:
    """Nothing allocated yet; room for so many requests, allocations among them, blocks, driver's calls and moves."""
    cards = tables.capacity.size
    zeros = [np.zeros(cards, np.int64) for _ in range(7)]
    nowhere = [np.full(count, NONE) for count in (POOLS * cards, POOLS * cards, cards, cards)]
    return State(
        counters=np.zeros(14, np.int64),
        blocks=new_size_index(POOLS * cards, capacity),
        origins=np.zeros(capacity * EACH, np.int64),
        pool=np.zeros(capacity, np.int32),
        piece=np.full(capacity, NONE, np.int32),
        spare=np.zeros(capacity, np.int32),
        first=nowhere[0],
        last=nowhere[1],
        oldest=nowhere[2],
        newest=nowhere[3],
        physical=driver.granules * driver.granule if driver.granule else tables.capacity.copy(),
        cached=zeros[0],
        held=zeros[1],
        peak=zeros[2],
        address=zeros[3],
        grown=zeros[4],
        fit_memory=fit_memory,
        target_memory=target_memory,
        candidates=zeros[5],
        free=zeros[6],
        scores=np.zeros((2, cards)),
        lent=np.zeros(cards * cards),
        lendings=np.zeros((allocations + moves, 3), np.int64),
        block=np.full(requests, NONE, np.int32),
        outcome=np.zeros(requests, np.int8),
        card=np.full(requests, NONE),
        identifier=np.full(requests, NONE),
        taken=np.zeros(requests, np.int64),
        done=np.zeros(requests, np.int64),
        calls=np.zeros((calls, 4), np.int64),
        mappings=np.zeros(requests, np.int64),
        driver=driver,
        places=_no_places(cards, requests if moves else 0),
        moves=np.zeros((moves, 8), np.int64),
    )


def _no_places(cards: int, requests: int) -> Places:
    sizes = (2 * cards, 2 * cards, 2 * requests, 2 * requests, requests)
    first, last, before, after, card = (np.full(count, NONE) for count in sizes)
    return Places(first, last, before, after, card, with_room=np.zeros(cards, np.int64))
