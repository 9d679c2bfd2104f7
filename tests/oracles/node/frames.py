"""The physical memory of a card: free runs of granules, and what takes from them (spec 6, R10)."""

from __future__ import annotations

from collections.abc import Callable

Runs = list[tuple[int, int]]
"""Runs of granules: (first, count)."""


def lowest(free: Runs, count: int) -> Runs:
    """Take the lowest free granules, from as many runs as it needs: fragments are used up."""
    taken: Runs = []
    for first, length in free:
        if count:
            taken.append((first, min(length, count)))
            count -= taken[-1][1]
    return taken


def longest(free: Runs, count: int) -> Runs:
    """Take from the shortest run that holds all; else the longest runs first; the lowest of equals."""
    fitting = [run for run in free if run[1] >= count]
    if fitting:
        return [(min(fitting, key=lambda run: (run[1], run[0]))[0], count)]
    return lowest(sorted(free, key=lambda run: (-run[1], run[0])), count)


class Frames:
    """The granules of a card, each free or in a driver's allocation."""

    def __init__(self, granules: int, answer: Callable[[Runs, int], Runs]) -> None:
        self.free: Runs = [(0, granules)] if granules else []
        self.granules = granules
        self._answer = answer

    @property
    def free_granules(self) -> int:
        """Return how many granules are free."""
        return sum(length for _, length in self.free)

    @property
    def fragmentation(self) -> float:
        """Return 1 - longest free run / free granules; 0 when none is free."""
        return 1 - max(length for _, length in self.free) / self.free_granules if self.free else 0.0

    def take(self, count: int) -> Runs:
        """Take so many granules; there must be as many."""
        assert count <= self.free_granules
        taken = self._answer(list(self.free), count)
        assert sum(length for _, length in taken) == count
        for run in taken:
            self._cut(*run)
        return taken

    def give(self, runs: Runs) -> None:
        """Give granules back; neighbours join."""
        self.free, given = [], sorted([*self.free, *runs])
        for first, length in given:
            if self.free and sum(self.free[-1]) == first:
                self.free[-1] = (self.free[-1][0], self.free[-1][1] + length)
            else:
                assert not self.free or sum(self.free[-1]) < first, "granules were given back twice"
                self.free.append((first, length))

    def _cut(self, first: int, length: int) -> None:
        around = next(run for run in self.free if run[0] <= first and first + length <= sum(run))
        rest = [(around[0], first - around[0]), (first + length, sum(around) - first - length)]
        self.free.remove(around)
        self.free = sorted([*self.free, *(run for run in rest if run[1])])


def part_of(runs: Runs, offset: int, count: int) -> Runs:
    """Return the granules from an offset within runs that are counted as one."""
    part: Runs = []
    for first, length in runs:
        skipped = min(offset, length)
        offset, first, length = offset - skipped, first + skipped, length - skipped
        if length and count:
            part.append((first, min(length, count)))
            count -= part[-1][1]
    return part
