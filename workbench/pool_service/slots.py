"""Where in an arena does a driver allocation lie? In a slot of its class: sizes up to the same power of two.

An arena has far more addresses than its card has bytes; pages are behind those that the driver has given. So each class
can have addresses for as many slots as could ever be in use at a time, none is searched for, and none is ever missing.
"""

from __future__ import annotations

import mmap

PAGE = mmap.PAGESIZE


def addresses_for(size: int) -> int:
    """Return the addresses of the arena of a card of so many bytes.

    A slot of the class 2^k serves more than 2^(k-1) bytes, so fewer than `size` / 2^(k-1) are in use: at most twice the
    card's bytes a class.

    >>> addresses_for(PAGE) == 2 * PAGE * PAGE.bit_length(), addresses_for(0)
    (True, 0)
    """
    return _area(size) * (_class_of(size) + 1) if size else 0


def _area(size: int) -> int:
    """Return the addresses of each class: whole pages, so that a slot of at least a page begins with one."""
    return 2 * max(1 << _class_of(size), PAGE)


def _class_of(size: int) -> int:
    """Return the exponent of the least power of two that holds a size."""
    return (size - 1).bit_length()


class Slots:
    """The slots of one arena, the one that became free last first.

    >>> slots = Slots(1 << 20)
    >>> one, other = slots.take(5000), slots.take(8192)
    >>> other - one, slots.give_back(one, 5000), slots.take(6000) == one
    (8192, None, True)
    """

    def __init__(self, size: int) -> None:
        classes = _class_of(size) + 1 if size else 0
        self._area = _area(size)
        self._free: list[list[int]] = [[] for _ in range(classes)]
        """Of each class, the places of slots that were used before."""
        self._fresh = [0] * classes
        """Of each class, the first place that never was."""

    def take(self, size: int) -> int:
        """Take the start of a slot that now belongs to the caller."""
        kind = _class_of(size)
        if self._free[kind]:
            place = self._free[kind].pop()
        else:
            place = self._fresh[kind]
            self._fresh[kind] += 1
        return kind * self._area + (place << kind)

    def give_back(self, start: int, size: int) -> None:
        """Free a slot again."""
        kind = _class_of(size)
        self._free[kind].append((start - kind * self._area) >> kind)

    def is_slot(self, start: int, size: int) -> bool:
        """Return whether a range of so many bytes may lie there."""
        kind = _class_of(size)
        place = start - kind * self._area
        return size > 0 and kind < len(self._fresh) and 0 <= place < self._area and place % (1 << kind) == 0

    def take_all(self, taken: list[tuple[int, int]]) -> None:
        """Begin with these (start, bytes) taken, and nothing else."""
        places: list[set[int]] = [set() for _ in self._fresh]
        for start, size in taken:
            kind = _class_of(size)
            places[kind].add((start - kind * self._area) >> kind)
        self._fresh = [max(used, default=-1) + 1 for used in places]
        self._free = [
            [place for place in range(fresh) if place not in used] for fresh, used in zip(self._fresh, places)
        ]
