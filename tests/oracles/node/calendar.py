"""One calendar of events for the whole node: the least (cycle, rank, key, serial) comes next (spec 6, R1 to R3)."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple


class Rank(IntEnum):
    """Which of the events of one cycle comes first; decisions.md says how these refine R3."""

    COMPUTE_END = 0
    RELEASE = 1
    FREE = 2
    SHOOTDOWN = 3
    POOL_ANSWER = 4
    LINK_END = 5
    WALK_END = 6
    TRANSLATION_ANSWER = 7
    MALLOC_ANSWER = 8
    STEP = 9
    POOL_REQUEST = 10
    TRANSLATION_ARRIVAL = 11
    TRANSLATION_REQUEST = 12
    TRANSLATION_ISSUE = 13
    MALLOC_REQUEST = 14
    SERVICE = 15
    ROUND = 16


class Key(NamedTuple):
    """Who an event is of, and so which of one rank comes first; what is absent is -1."""

    card: int = -1
    application: int = -1
    stream: int = -1
    kernel: int = -1
    group: int = -1
    wave: int = -1
    phase: int = -1
    touch: int = -1


class Calendar:
    """Events to come, and the cycle of the one that is under way."""

    def __init__(self) -> None:
        self.now = 0
        self.rank = Rank.COMPUTE_END  # of the event that is under way
        self._events: list[tuple[int, Rank, tuple[int, ...], int, Callable[[], None]]] = []
        self._serials = itertools.count()

    def at(self, cycle: int, rank: Rank, key: tuple[int, ...], action: Callable[[], None]) -> None:
        """Enter an event; one of the present cycle may have any rank."""
        assert cycle >= self.now, (cycle, self.now, rank)
        heapq.heappush(self._events, (cycle, rank, key, next(self._serials), action))

    @property
    def empty(self) -> bool:
        """Return whether nothing is to come."""
        return not self._events

    @property
    def next_event(self) -> tuple[int, Rank]:
        """Return when the next event comes: its cycle and rank."""
        return self._events[0][0], self._events[0][1]

    def step(self) -> None:
        """Take the next event."""
        self.now, self.rank, _, _, action = heapq.heappop(self._events)
        action()

    def run(self, horizon: int | None = None) -> None:
        """Take event after event until none is left, or none before the horizon."""
        while self._events and (horizon is None or self._events[0][0] < horizon):
            self.step()
