"""Time of the event-driven translation twin: a heap of closures, and resources that serve in order of asking."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

WALK_ENDS, ANSWERS, NEWS, REQUESTS, ISSUES = range(5)
"""Ranks of events of one cycle (spec 4, T1)."""

Key = tuple[int, int, int]
"""Core, page, row: the order of one rank (T1)."""
Action = Callable[[], None]


class Clock:
    """Run actions by cycle, rank, key, and order of creation."""

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, Key, int, Action]] = []
        self._serial = count()

    def at(self, cycle: int, rank: int, key: Key, action: Action) -> None:
        """Plan an action; a cycle that has passed is a fault of the model."""
        assert cycle >= self.now
        heapq.heappush(self._heap, (cycle, rank, key, next(self._serial), action))

    def run(self) -> None:
        """Run to the end."""
        while self._heap:
            self.now, _, _, _, action = heapq.heappop(self._heap)
            action()


class Slots:
    """A resource that starts so many services a cycle, in order of asking; 0 = all at once."""

    def __init__(self, clock: Clock, a_cycle: int) -> None:
        self.clock, self.a_cycle = clock, a_cycle
        self.cycle, self.used = -1, 0

    def take(self) -> int:
        """Return the cycle of the service that is asked for now."""
        now = self.clock.now
        if not self.a_cycle:
            return now
        if self.cycle < now:
            self.cycle, self.used = now, 0
        if self.used == self.a_cycle:
            self.cycle, self.used = self.cycle + 1, 0
        self.used += 1
        return self.cycle
