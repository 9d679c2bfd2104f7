"""The arrays of one replay: what is asked, by which rules, the blocks; and how sizes are rounded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import by_reference, inlined, kernel, leading_zeros, routine
from workbench.structures.size_index import NONE, SizeIndex, new_size_index, with_room

MIB = 1 << 20
MIN_BLOCK, SMALL_SIZE, SMALL_BUFFER, MIN_LARGE, ROUND_LARGE = 512, MIB, 2 * MIB, 10 * MIB, 2 * MIB
"""kMinBlockSize, kSmallSize, kSmallBuffer, kMinLargeAlloc and kRoundLarge of PyTorch."""
UNLIMITED = 1 << 62
"""As `max_split`: every block may be split; as `card`: the driver never runs out."""
DEFAULT_POOL = 0
"""The number of the private pool that is none."""

ALLOC, FREE, DEFER, COMPLETE, EMPTY_CACHE, GIVE_BACK, MAKE_FREEABLE = range(7)
"""What a row asks: a block; a block back; a block back that a stream still uses, and the end of that use; all cached
segments back to the driver; one segment back; that a private pool's segments may go back from now on."""

SEARCHED_BEFORE = -2
"""As the address of an allocation: its search failed before memory went back, and there is no second one."""

KIND, BORN = 6, 7
"""Where a block's node has its state, and how often its pool had been searched when it became free."""
CACHED, IN_USE, AWAITED, UNMAPPED = range(4)
"""What a block is: free and backed by memory, allocated, free once a stream is done with it, a range of addresses."""

SPARE, FRESH, ROW, STATUS, RESERVED, CALLS, NEXT_ADDRESS, SUPPLY, REFUSED, FIRST_REFUSED, FLUSHES, MAPPED = range(12)
COUNTERS = 12
"""Counters: blocks to be used again, blocks ever used, the next row, and the reason why the loop stopped. Then bytes
got from the driver, driver calls, the next address that the driver gives, and the next segment that is supplied. Then
refused requests and the first of them, how often all cached memory went back for lack of more, and pages mapped."""
DONE, NEEDS_ROOM, STOPPED = range(3)
"""Why the loop stopped: no row is left, the arrays are too small for the next row, a request was refused."""


class Requests(NamedTuple):
    """What is asked; one row a request."""

    kind: np.ndarray
    """int64[rows], `ALLOC` ... `MAKE_FREEABLE`."""
    handle: np.ndarray
    """int64[rows], the number of the block."""
    size: np.ndarray
    """int64[rows], bytes asked for; of `GIVE_BACK` those of the segment."""
    owner: np.ndarray
    """int64[rows], the stream and private pool, as one number."""
    address: np.ndarray
    """int64[rows], of `GIVE_BACK`: which segment; of `ALLOC`: -1, or `SEARCHED_BEFORE`."""


class Start(NamedTuple):
    """Every block at the beginning, segment by segment, the lowest address of each first; one row a block."""

    address: np.ndarray
    size: np.ndarray
    pool: np.ndarray
    """int64[blocks], twice the number of the owner, and 1 more of small requests."""
    base: np.ndarray
    """int64[blocks], the first address of the expandable segment, -1 = a segment of its own."""
    kind: np.ndarray
    """int64[blocks], `CACHED`, `IN_USE`, `AWAITED` or `UNMAPPED`."""
    handle: np.ndarray
    """int64[blocks], the number by which requests know a block, -1 = by none."""
    first: np.ndarray
    """int64[blocks], 1 = the lowest of its segment."""


NOTHING = Start(*(np.zeros(0, np.int64) for _ in Start._fields))
"""An allocator that holds nothing."""


class Supply(NamedTuple):
    """Where the driver gives segments, as far as that is known; in the order of rows."""

    row: np.ndarray
    """int64[segments], the request that needed it."""
    size: np.ndarray
    address: np.ndarray


class Rules(NamedTuple):
    """The settings as numbers."""

    max_split: int
    rounding: int
    collect_above: int
    """Bytes got from the driver from which on idle segments are collected, -1 = never."""
    allowed: int
    """Bytes that the process may get from the driver, -1 = no limit of its own."""
    expandable: int
    large_segment: int
    card: int
    """Bytes of the card."""
    reach: int
    """Bytes of addresses of an expandable segment."""
    searches_again: int
    stops: int
    """1 = the first refused request ends the run."""
    divisions: np.ndarray
    """int64[16], of powers of two, from 1 MiB to 32 GiB."""
    private: np.ndarray
    """int64[owners], the number of each owner's private pool, 0 = none."""


class State(NamedTuple):
    """The allocator of one card."""

    blocks: SizeIndex
    spare: np.ndarray
    """int64[capacity], numbers of blocks to be used again."""
    base: np.ndarray
    """int64[capacity], the first address of each block's expandable segment, -1 = it is in none."""
    below: np.ndarray
    """int64[capacity], the next unmapped range of the same pool."""
    unmapped: np.ndarray
    """int64[pools], the lowest unmapped range of each pool."""
    searches: np.ndarray
    """int64[private pools * 2], how often each was searched: large, small."""
    freeable: np.ndarray
    """int64[private pools], 1 = its segments may go back."""
    block_of: np.ndarray
    """int64[handles], the block of each live handle, -1 = none."""
    counters: np.ndarray
    placed: np.ndarray
    """int64[rows], the address that an allocation got, -1 = none."""
    taken: np.ndarray
    """int64[rows], the bytes of the block that an allocation got, rest included; no elements = not kept."""
    reserved: np.ndarray
    """int64[rows], bytes got from the driver after each row."""
    calls: np.ndarray
    """int64[capacity, 4]: row, address, bytes (below zero = given back), pages (0 = a segment of its own)."""


class Run(NamedTuple):
    """All that the loop works on."""

    start: Start
    requests: Requests
    supply: Supply
    rules: Rules
    state: State


def new_state(owners: int, privates: int, rows: int, handles: int, blocks: int, keeps_sizes: bool = False) -> State:
    """Return an allocator that holds nothing, with space for so many blocks."""
    counters = np.zeros(COUNTERS, np.int64)
    counters[FIRST_REFUSED] = NONE
    return State(
        blocks=new_size_index(2 * owners, blocks),
        spare=np.zeros(blocks, np.int64),
        base=np.full(blocks, NONE),
        below=np.full(blocks, NONE),
        unmapped=np.full(2 * owners, NONE),
        searches=np.zeros(2 * privates, np.int64),
        freeable=np.concatenate([np.ones(1, np.int64), np.zeros(privates - 1, np.int64)]),
        block_of=np.full(max(handles, 1), NONE),
        counters=counters,
        placed=np.full(rows, NONE),
        taken=np.zeros(rows if keeps_sizes else 0, np.int64),
        reserved=np.zeros(rows, np.int64),
        calls=np.zeros((blocks, 4), np.int64),
    )


def roomier(state: State) -> State:
    """Return the same allocator in arrays for four times as many blocks and calls."""
    capacity = 4 * state.spare.size
    return state._replace(
        blocks=with_room(state.blocks, state.unmapped.size, capacity),
        spare=_longer(state.spare, capacity),
        base=_longer(state.base, capacity),
        below=_longer(state.below, capacity),
        calls=_longer(state.calls, capacity),
    )


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    longer = np.full((length, *array.shape[1:]), NONE)
    longer[: len(array)] = array
    return longer


FIRST_INTERVAL, LAST_INTERVAL = 20, 15
"""The power of two at which the first interval of `roundup_power2_divisions` begins; the number of the last one."""


@kernel
def block_size(rules: Rules, size: int) -> int:
    """Return the bytes of a block for a request (round_size)."""
    if size < MIN_BLOCK:
        return MIN_BLOCK
    power = 63 - leading_zeros(np.uint64(size))
    divisions = rules.divisions[min(max(power - FIRST_INTERVAL, 0), LAST_INTERVAL)]
    if divisions > 1 and size > MIN_BLOCK * divisions:
        return int(divided(size, power, divisions))
    return -(-size // MIN_BLOCK) * MIN_BLOCK


@inlined
def divided(size: int, power: int, divisions: int) -> int:
    """Return the next of so many even steps between two powers of two (roundup_power2_next_division)."""
    if size == 1 << power:
        return size
    step = (1 << power) >> (63 - leading_zeros(np.uint64(divisions)))
    return 2 << power if step == 0 else -(-size // step) * step


@kernel
def segment_size(rules: Rules, size: int) -> int:
    """Return the bytes that the driver is asked for when no block serves (get_allocation_size)."""
    if size <= SMALL_SIZE:
        return SMALL_BUFFER
    if size < MIN_LARGE:
        return int(rules.large_segment)
    return -(-size // ROUND_LARGE) * ROUND_LARGE


@kernel
def page_size(rules: Rules, pool: int) -> int:
    """Return the bytes of a page of an expandable segment of a pool."""
    return SMALL_BUFFER if pool & 1 else int(rules.large_segment)


def driver_bytes(rules: Rules, size: int) -> int:
    """Return the request to the driver if no free block serves: a segment, or pages of an expandable one.

    >>> from workbench.engines.torch_allocator.settings import AllocatorSettings
    >>> rules = AllocatorSettings().rules(np.zeros(1, np.int64))
    >>> [driver_bytes(rules, size) for size in (512, 3 << 20, 21 << 20)]
    [2097152, 20971520, 23068672]
    """
    rounded = int(rounded_sizes(rules, np.array([max(size, 1)]))[0])
    if not rules.expandable:
        return int(segment_size(rules, rounded))
    page = int(page_size(rules, int(rounded <= SMALL_SIZE)))
    return -(-rounded // page) * page


def rounded_sizes(rules: Rules, sizes: np.ndarray) -> np.ndarray:
    """Return the size to which each request is rounded up: int64[requests]."""
    result = np.zeros(len(sizes), np.int64)
    _round_all(rules, np.ascontiguousarray(sizes, np.int64), result)
    return result


@routine
def _round_all(rules: Rules, sizes: np.ndarray, values: np.ndarray) -> None:
    levers = by_reference(rules)
    for row in range(sizes.size):
        values[row] = block_size(levers, sizes[row])
