"""RMM's arenas: superblocks of one allocation, of which every stream has its own.

One allocation of the upstream, cut into superblocks, of which every stream has its own. A request of at most
1 MiB is served by the arena of its stream, the first block by address that fits; where none does the arena takes a
superblock of 1 MiB or more from the global one. Larger requests are served there, by the first superblock by address
that has space. A superblock that becomes whole again goes back to the global arena's free memory if it was taken there.
Else it stays with its stream until some request finds no space. Then all arenas give all of theirs back, once, and it
is tried again. The global arena never grows. Streams that share the per-thread default stream have an arena a thread.
"""

from __future__ import annotations

from bisect import bisect_right, insort

from workbench.advice.rmm.resource import NO_ROOM, CardRequests, Driver, serve, smallest_size

LEAST = 1 << 20
"""Bytes of a superblock at least; what is larger is served by the global arena."""
ARENA_STEP = 1 << 20
_GLOBAL = -2
"""Instead of the number of a stream."""


class _Superblock:
    """A range of which blocks are given by first fit; free blocks by address."""

    __slots__ = ("free", "longest_free", "owner", "size", "start")

    def __init__(self, start: int, size: int, owner: int) -> None:
        self.start, self.size, self.owner = start, size, owner
        self.free: list[list[int]] = [[start, size]]
        self.longest_free = size
        """No free block is larger."""

    def is_empty(self) -> bool:
        return len(self.free) == 1 and self.free[0][1] == self.size

    def take(self, size: int) -> int:
        """Take the first block by address that fits."""
        if size > self.longest_free:
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
        self.longest_free = largest
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
        self.longest_free = max(self.longest_free, size)


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

    def __init__(self, size: int, driver: Driver | None = None) -> None:
        self.driver = driver or Driver()
        self.built = self.driver.get(size) != NO_ROOM
        self._blocks = {0: _Superblock(0, size, _GLOBAL)}
        """Superblocks by their start."""
        self._starts = [0]
        self._own: dict[int, list[int]] = {_GLOBAL: [0]}
        """The starts of the superblocks of the global arena and of each stream's."""

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream; `NO_ROOM` = it has none."""
        if not self.built:
            return NO_ROOM
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
        """Take a block from the first superblock that has space, which then belongs to an owner."""
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
        block.size = block.longest_free = size
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
        """Join an empty superblock of the global arena with its empty neighbors."""
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
        block.longest_free, block.free = block.size, [[block.start, block.size]]
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
    return smallest_size(cards, step, lambda size, requests: serve(Arena(size), requests).failed_at < 0)
