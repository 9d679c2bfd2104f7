"""The driver of one arena: which ranges of it are given out. The lowest range that is long enough is taken."""

from __future__ import annotations

from bisect import bisect_left, insort


class FreeRanges:
    """The ranges of an arena that nobody has, lowest first; neighbours are one range.

    >>> ranges = FreeRanges(100)
    >>> ranges.take(30), ranges.take(20), ranges.free_bytes
    (0, 30, 50)
    >>> ranges.give_back(0, 30)
    >>> ranges.take(31), ranges.longest()
    (50, 30)
    """

    def __init__(self, size: int) -> None:
        self._starts = [0] if size else []
        self._length = {0: size}
        self.free_bytes = size

    def longest(self) -> int:
        """Bytes of the longest range; what a single driver allocation can have."""
        return max((self._length[start] for start in self._starts), default=0)

    def holds(self, size: int) -> bool:
        """Whether a single range has so many bytes."""
        return self.free_bytes >= size and any(self._length[start] >= size for start in self._starts)

    def take(self, size: int) -> int | None:
        """The start of a range that now belongs to the caller; None = no single range is long enough."""
        for start in self._starts:
            if self._length[start] >= size:
                self.take_at(start, size)
                return start
        return None

    def take_at(self, start: int, size: int) -> None:
        """Take a range that is known to be free, wherever it lies."""
        place = bisect_left(self._starts, start + 1) - 1
        first = self._starts.pop(place)
        length = self._length.pop(first)
        assert first <= start and start + size <= first + length
        for low, high in ((first, start), (start + size, first + length)):
            if high > low:
                insort(self._starts, low)
                self._length[low] = high - low
        self.free_bytes -= size

    def give_back(self, start: int, size: int) -> None:
        """A range is free again."""
        self.free_bytes += size
        place = bisect_left(self._starts, start)
        if place < len(self._starts) and self._starts[place] == start + size:
            size += self._length.pop(self._starts.pop(place))
        if place and self._starts[place - 1] + self._length[self._starts[place - 1]] == start:
            self._length[self._starts[place - 1]] += size
        else:
            insort(self._starts, start)
            self._length[start] = size
