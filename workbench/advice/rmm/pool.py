"""RMM's pool, which has a list of free blocks for each stream.

A block that is given back goes to the list of the stream that gave it back. A request looks for the best fit in
its stream's list, then in each other list, where the rest of the block stays; then the lists of other streams are
joined to its own, one after another, until a block fits; last the pool grows by what it has, or by the request if that
is more. Free blocks coalesce; of equal fits the lowest address is taken.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from workbench.advice.rmm.resource import GRANULE, CardRequests, Upstream, serve, smallest_size

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
    return smallest_size(cards, step, lambda size, requests: len(serve(StreamPool(size), requests).calls) <= 1)


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
