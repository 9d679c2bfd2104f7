"""Free blocks of one stream: best fit, the lowest address first, with coalescing."""

from __future__ import annotations

from bisect import bisect_left, insort


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
