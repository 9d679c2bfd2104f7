"""The arrays of one run: what is asked, what the board is like, what the policies answer, and the state itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import Answer, Answers
from workbench.engines.kit import STOP, column, full, numbered, raised, wrong
from workbench.policies.pool.idle import EACH
from workbench.structures.size_index import NONE, SizeIndex


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
    """Whether a request for which no card has room waits."""
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
    """Its neighbour in each of the two orders, -1 = none."""
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
