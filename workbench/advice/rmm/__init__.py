"""RMM's memory resources as its documentation describes them, on recorded requests: pool, arena and binning.

Each is a plain object with `allocate` and `free`; streams are told apart as RMM does, where the record tells them.

Pool: a block that is given back goes to the list of the stream that gave it back. A request looks for the best fit in
its stream's list, then in each other list, where the rest of the block stays; then the lists of other streams are
joined to its own, one after another, until a block fits; last the pool grows by what it has, or by the request if that
is more. Free blocks coalesce; of equal fits the lowest address is taken.

Arena: one allocation of the upstream, cut into superblocks, of which every stream has its own. A request of at most
1 MiB is served by the arena of its stream, the first block by address that fits; where none does the arena takes a
superblock of 1 MiB or more from the global one. Larger requests are served there, by the first superblock by address
that has room. A superblock that becomes whole again goes back to the global arena's free memory if it was taken there,
else it stays with its stream until some request finds no room: then all arenas give all of theirs back, once, and it is
tried again. The global arena never grows. Streams that share the per-thread default stream have an arena a thread.

Binning: bins of powers of two with blocks of one size each, and an upstream for what is larger. Each bin begins with
128 blocks and gets 128 more whenever none is free; none goes back. What is larger than the largest bin is the
upstream's: the driver, or a pool.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple, Protocol

import numpy as np

from workbench.workloads.pool_requests import ALLOC
from workbench.workloads.recorded import TraceFile
from workbench.workloads.recorded_memory import cards_of, live_before, memory_events, requests_of_rank

Upstream = list[int]
"""The calls of the upstream, in their order: bytes that were got, below zero where they were given back."""
GRANULE = 256
"""Bytes; every resource rounds a request up to a multiple of it."""
NO_ROOM = -1


class Resource(Protocol):
    """A memory resource of one card."""

    calls: Upstream

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream; `NO_ROOM` = it has none."""

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given, after the work on a stream so far."""


class Served(NamedTuple):
    """What became of the requests of one card."""

    failed_at: int
    """The first request that found no room; -1 = all were served."""
    calls: Upstream

    @property
    def reserved_peak(self) -> int:
        """Return the most bytes that were got from the upstream at a time."""
        return max(accumulate(self.calls), default=0)


def serve(resource: Resource, requests: CardRequests) -> Served:
    """Serve requests in their order, up to the first that finds no room.

    >>> from workbench.advice.rmm import StreamPool
    >>> serve(StreamPool(1024), CardRequests([0, -1, 1], [512, 512, 1024], [0, 0, 0]))
    Served(failed_at=-1, calls=[1024])
    """
    address: dict[int, int] = {}
    for row, (block, size, stream) in enumerate(zip(*requests, strict=True)):
        if block < 0:
            resource.free(stream, address.pop(-1 - block), size)
            continue
        at = resource.allocate(stream, size)
        if at == NO_ROOM:
            return Served(row, resource.calls)
        address[block] = at
    return Served(-1, resource.calls)


def _smallest(cards: list[CardRequests], step: int, serves: Callable[[int, CardRequests], bool]) -> int:
    """Return the least size, in steps, that serves every card, as far as is looked for by halves from what is live at
    the peak."""

    def is_enough(steps: int) -> bool:
        return all(serves(steps * step, requests) for requests in cards)

    low = high = max(-(-max((requests.live_peak() for requests in cards), default=0) // step), 1)
    while not is_enough(high):
        low, high = high + 1, high + high // 8 + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return step * high


POOL_STEP = 2 << 20
"""In which steps the least size is looked for: what the driver deals in."""
_FIRST_STREAM = 0


class StreamPool:
    """The pool of one card, which starts with `initial` bytes.

    References
    ----------
    RMM, pool_memory_resource and stream_ordered_memory_resource.

    Examples
    --------
    >>> pool = StreamPool(1024)
    >>> one = pool.allocate(0, 1024)
    >>> pool.free(0, one, 1024)
    >>> pool.allocate(1, 512) == one, pool.allocate(1, 512), pool.calls    # the rest stays with stream 0, and is found
    (True, 512, [1024])
    """

    def __init__(self, initial: int, calls: Upstream | None = None) -> None:
        self.calls: Upstream = [] if calls is None else calls
        self._free: dict[int, FreeBlocks] = {}
        self._next = self._bytes = 0
        if initial:
            self._list_of(_FIRST_STREAM).add(*self._grow(initial))

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream."""
        own = self._list_of(stream)
        block = own.take(size)
        if block is not None:
            return _cut(own, block, size)
        return self._from_others(stream, own, size)

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given, after the work on a stream so far."""
        self._list_of(stream).add(address, size)

    def _list_of(self, stream: int) -> FreeBlocks:
        return self._free.setdefault(stream, FreeBlocks())

    def _from_others(self, stream: int, own: FreeBlocks, size: int) -> int:
        others = [number for number in self._free if number != stream]
        for number in others:
            block = self._free[number].take(size)
            if block is not None:
                return _cut(self._free[number], block, size)
        for number in others:
            own.join(self._free.pop(number))
            block = own.take(size)
            if block is not None:
                return _cut(own, block, size)
        return _cut(own, self._grow(max(size, self._bytes)), size)

    def _grow(self, size: int) -> tuple[int, int]:
        """Take a block from the upstream; addresses that no block has keep it apart from the others."""
        start = self._next
        self._next += size + GRANULE
        self._bytes += size
        self.calls.append(size)
        return start, size


def _cut(blocks: FreeBlocks, block: tuple[int, int], size: int) -> int:
    """Return the start of a block that was taken out; what is left of it goes back into a list."""
    start, whole = block
    if whole > size:
        blocks.add(start + size, whole - size)
    return start


def smallest_pool(cards: list[CardRequests], step: int = POOL_STEP) -> int:
    """Return the smallest pool a card, in steps, that serves everything without growing, as far as halves tell.

    >>> requests = CardRequests([0, 1, -1, 2], [512, 512, 512, 1024], [0, 0, 0, 0])
    >>> smallest_pool([requests], step=256)    # neither hole is large enough for the last
    2048
    """
    return _smallest(cards, step, lambda size, requests: len(serve(StreamPool(size), requests).calls) <= 1)


LEAST = 1 << 20
"""Bytes of a superblock at least; what is larger is served by the global arena."""
ARENA_STEP = 1 << 20
_GLOBAL = -1


class _Superblock:
    """A range of which blocks are given by first fit; free blocks by address."""

    __slots__ = ("free", "owner", "room", "size", "start")

    def __init__(self, start: int, size: int, owner: int) -> None:
        self.start, self.size, self.owner = start, size, owner
        self.free: list[list[int]] = [[start, size]]
        self.room = size
        """No free block is larger."""

    def is_empty(self) -> bool:
        return len(self.free) == 1 and self.free[0][1] == self.size

    def take(self, size: int) -> int:
        """Take the first block by address that fits."""
        if size > self.room:
            return NO_ROOM
        largest = 0
        for place, block in enumerate(self.free):
            start, length = block
            if length >= size:
                if length == size:
                    del self.free[place]
                else:
                    block[0], block[1] = start + size, length - size
                return start
            largest = max(largest, length)
        self.room = largest
        return NO_ROOM

    def give(self, start: int, size: int) -> None:
        """Take a block back, joined with those that touch it."""
        place = bisect_right(self.free, [start])
        if place < len(self.free) and start + size == self.free[place][0]:
            size += self.free.pop(place)[1]
        if place and sum(self.free[place - 1]) == start:
            self.free[place - 1][1] += size
            size = self.free[place - 1][1]
        else:
            self.free.insert(place, [start, size])
        self.room = max(self.room, size)


class Arena:
    """The arena resource of one card, with `size` bytes.

    References
    ----------
    RMM, arena_memory_resource.

    Examples
    --------
    >>> arena = Arena(4 << 20)
    >>> arena.allocate(0, 256), arena.allocate(1, 256), arena.allocate(0, 2 << 20), arena.allocate(0, 2 << 20)
    (0, 1048576, 2097152, -1)
    """

    def __init__(self, size: int) -> None:
        self.calls: Upstream = [size]
        self._blocks = {0: _Superblock(0, size, _GLOBAL)}
        """Superblocks by their start."""
        self._starts = [0]
        self._own: dict[int, list[int]] = {_GLOBAL: [0]}
        """The starts of the superblocks of the global arena and of each stream's."""

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream; `NO_ROOM` = it has none."""
        at = self._allocate(stream, size)
        if at == NO_ROOM:
            self._give_all_back()
            at = self._allocate(stream, size)
        return at

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given."""
        block = self._blocks[self._starts[bisect_right(self._starts, address) - 1]]
        block.give(address, size)
        if block.owner == _GLOBAL and block.is_empty():
            self._join(block)

    def _allocate(self, stream: int, size: int) -> int:
        if size > LEAST:
            return self._from_global(size, _GLOBAL)
        for start in self._own.setdefault(stream, []):
            at = self._blocks[start].take(size)
            if at != NO_ROOM:
                return at
        return self._from_global(size, stream)

    def _from_global(self, size: int, owner: int) -> int:
        """Take a block from the first superblock that has room, which then belongs to an owner."""
        for start in self._own[_GLOBAL]:
            block = self._blocks[start]
            was_empty = block.is_empty()
            at = block.take(size)
            if at == NO_ROOM:
                continue
            if was_empty:
                self._split(block, max(LEAST, size), at + size)
            self._hand(block, owner)
            return at
        return NO_ROOM

    def _split(self, block: _Superblock, size: int, used: int) -> None:
        """Cut the end off a superblock of which only the beginning was just taken, where enough is left of it."""
        if block.size < size + LEAST:
            return
        rest = _Superblock(block.start + size, block.size - size, _GLOBAL)
        block.size = block.room = size
        block.free = [[used, block.start + size - used]] if used < block.start + size else []
        self._blocks[rest.start] = rest
        insort(self._starts, rest.start)
        insort(self._own[_GLOBAL], rest.start)

    def _hand(self, block: _Superblock, owner: int) -> None:
        if block.owner != owner:
            self._own[block.owner].remove(block.start)
            insort(self._own[owner], block.start)
            block.owner = owner

    def _join(self, block: _Superblock) -> None:
        """Join an empty superblock of the global arena with the empty ones beside it."""
        place = bisect_right(self._starts, block.start)
        self._absorb(block, self._starts[place] if place < len(self._starts) else None)
        if place > 1:
            self._absorb(self._blocks[self._starts[place - 2]], block.start)

    def _absorb(self, block: _Superblock, start: int | None) -> None:
        """Make one of two empty superblocks of the global arena, of which the second begins where the first ends."""
        other = None if start is None else self._blocks[start]
        if other is None or {block.owner, other.owner} != {_GLOBAL} or not (block.is_empty() and other.is_empty()):
            return
        block.size += other.size
        block.room, block.free = block.size, [[block.start, block.size]]
        del self._blocks[other.start]
        self._starts.remove(other.start)
        self._own[_GLOBAL].remove(other.start)

    def _give_all_back(self) -> None:
        """Give the superblocks of all streams back to the global arena."""
        for owner in [it for it in self._own if it != _GLOBAL]:
            for start in list(self._own[owner]):
                block = self._blocks[start]
                self._hand(block, _GLOBAL)
                if block.is_empty():
                    self._join(block)


def smallest_arena(cards: list[CardRequests], step: int = ARENA_STEP) -> int:
    """Return the smallest arena a card, in steps, that serves everything, as far as halves tell.

    >>> smallest_arena([CardRequests([0, 1], [1 << 20, 256], [0, 1])]) >> 20
    2
    """
    return _smallest(cards, step, lambda size, requests: serve(Arena(size), requests).failed_at < 0)


BLOCKS = 128
"""Blocks that a bin gets at a time."""


class Bins(NamedTuple):
    """The exponents of the smallest and the largest bin."""

    least: int
    most: int

    def of(self, size: int) -> int:
        """Return the exponent of the bin that serves a size; one above the last = the upstream does.

        >>> Bins(18, 22).of(256), Bins(18, 22).of((1 << 18) + 256), Bins(18, 22).of(5 << 20)
        (18, 19, 23)
        """
        return min(max((size - 1).bit_length(), self.least), self.most + 1)


class Binning:
    """The binning resource of one card.

    Parameters
    ----------
    bins : Bins
    pool : int, optional
        What the pool upstream starts with; None = the driver is upstream.

    References
    ----------
    RMM, binning_memory_resource and fixed_size_memory_resource.

    Examples
    --------
    >>> binning = Binning(Bins(8, 9))
    >>> binning.calls == [128 << 8, 128 << 9], binning.allocate(0, 4096), binning.calls[2:]
    (True, 98304, [4096])
    """

    def __init__(self, bins: Bins, pool: int | None = None) -> None:
        self.calls: Upstream = []
        self._bins = bins
        self._pool = None if pool is None else StreamPool(pool, self.calls)
        self._free: dict[int, list[int]] = {}
        self._next = 0
        for exponent in range(bins.least, bins.most + 1):
            self._free[exponent] = self._blocks(exponent, 0)

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream."""
        exponent = self._bins.of(size)
        if exponent > self._bins.most:
            return self._upstream(size, stream)
        free = self._free[exponent]
        if not free:
            free.extend(self._blocks(exponent, stream))
        return free.pop()

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given."""
        exponent = self._bins.of(size)
        if exponent <= self._bins.most:
            self._free[exponent].append(address)
        elif self._pool is None:
            self.calls.append(-size)
        else:
            self._pool.free(stream, address, size)

    def _blocks(self, exponent: int, stream: int) -> list[int]:
        """Take a bin's next blocks from the upstream."""
        start = self._upstream(BLOCKS << exponent, stream)
        return list(range(start, start + (BLOCKS << exponent), 1 << exponent))

    def _upstream(self, size: int, stream: int) -> int:
        if self._pool is not None:
            return self._pool.allocate(stream, size)
        self.calls.append(size)
        self._next += size
        return self._next - size


class FreeBlocks:
    """Free blocks by address and by size; what touches is joined.

    >>> blocks = FreeBlocks()
    >>> blocks.add(0, 512), blocks.add(1024, 256), blocks.add(512, 512)
    (None, None, None)
    >>> blocks.take(300), blocks.take(2048)
    ((0, 1280), None)
    """

    def __init__(self) -> None:
        self.size_at: dict[int, int] = {}
        self._start_of_end: dict[int, int] = {}
        self._by_size: list[tuple[int, int]] = []

    def add(self, start: int, size: int) -> None:
        """Add a block, joined with those that touch it."""
        before = self._start_of_end.get(start)
        if before is not None:
            size += self._remove(before)
            start = before
        if start + size in self.size_at:
            size += self._remove(start + size)
        self.size_at[start] = size
        self._start_of_end[start + size] = start
        insort(self._by_size, (size, start))

    def take(self, size: int) -> tuple[int, int] | None:
        """Take out the smallest block that is large enough: its start and size; None = there is none."""
        place = bisect_left(self._by_size, (size, -1))
        if place == len(self._by_size):
            return None
        whole, start = self._by_size[place]
        self._remove(start)
        return start, whole

    def join(self, others: FreeBlocks) -> None:
        """Add all blocks of another stream, which has none then."""
        for start, size in sorted(others.size_at.items()):
            self.add(start, size)

    def _remove(self, start: int) -> int:
        size = self.size_at.pop(start)
        del self._start_of_end[start + size]
        del self._by_size[bisect_left(self._by_size, (size, start))]
        return size


class CardRequests(NamedTuple):
    """One row a request of a card, as lists: they are served one after another."""

    block: list[int]
    """The number of the block that is asked for, or given back as -1 - number."""
    size: list[int]
    """Bytes, a multiple of `GRANULE`."""
    stream: list[int]
    """The number of the stream; that of a release is where it was given back."""

    def live_peak(self) -> int:
        """Return the most bytes that were live at a time, rounded as the resources do."""
        change = np.where(np.array(self.block) >= 0, self.size, np.negative(self.size))
        return int(np.cumsum(change).max(initial=0))


def requests_by_card(file: TraceFile) -> list[CardRequests]:
    """Return the requests that a trace tells of, what was live before it first, of each card.

    Raises
    ------
    InputError
        The trace holds no memory events.
    """
    rows = memory_events(file, -1)
    requests = requests_of_rank(file, -1, True, 0)
    before = len(live_before(rows).bytes)
    stream = np.zeros(len(requests.handle), np.int64)
    if rows.stream is not None:
        stream[before:] = rows.stream
    name = np.where(requests.action == ALLOC, requests.handle, -1 - requests.handle)
    size = -(-requests.bytes // GRANULE) * GRANULE
    cards = [np.flatnonzero(requests.card == card) for card in range(len(cards_of(rows)))]
    return [CardRequests(name[own].tolist(), size[own].tolist(), stream[own].tolist()) for own in cards]
