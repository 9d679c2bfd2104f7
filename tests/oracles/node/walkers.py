"""The page-table walkers of a card and their queue (spec 4, T5 to T7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tests.oracles.node.calendar import Calendar, Rank
from tests.oracles.node.log import Log
from tests.oracles.node.touch import Miss, Walk

Reach = Callable[[Walk, Callable[[], None]], None]
"""Brings a walk's bytes from the card of its page, then calls back; at once for a page of the own card."""


class Walkers:
    """Walks in order of entry; misses that find the queue full wait for a place, in order."""

    def __init__(
        self, calendar: Calendar, card: int, walkers: int, queue: int, cycles: int, log: Log,
        reach: Reach, ended: Callable[[Walk], None], look_again: Callable[[Miss], bool],
    ) -> None:  # fmt: skip
        self._calendar, self._card, self._log = calendar, card, log
        self._free, self._room, self._cycles = walkers, queue, cycles
        self._reach, self._ended, self._look_again = reach, ended, look_again
        self._queue: deque[Walk] = deque()
        self._outside: deque[Miss] = deque()
        self._walks: dict[tuple[int, int], Walk] = {}  # by page and unmapping: those of one unmapping join each other

    def request(self, miss: Miss) -> None:
        """Join a walk of the page, or start one, or queue for one, or wait for a place in the queue."""
        miss.trail.mark(self._calendar.now, "walkers")
        key = miss.waiting[0].key
        self._log("translation", self._card, "walk_request", key, core=miss.core, page=miss.page.tag)
        if (miss.page.tag, miss.unmapped) in self._walks:
            self._join(miss, self._walks[miss.page.tag, miss.unmapped])
        elif self._free or not self._room or len(self._queue) < self._room:
            self._open(miss)
        else:
            self._outside.append(miss)

    def unmap(self, tags: set[int], number: int) -> None:
        """Mark walks of pages that are unmapped: they answer, fill nothing, and are joined by those of before."""
        for tag in tags:
            walk = self._walks.pop((tag, 0), None)
            if walk:
                walk.unmapped = number
                self._walks[tag, number] = walk

    def _open(self, miss: Miss) -> None:
        key = miss.waiting[0].key
        walk = Walk(miss.page, miss.serial, miss.core, key, unmapped=miss.unmapped)
        self._walks[walk.page.tag, walk.unmapped] = walk
        self._join(miss, walk)
        self._queue.append(walk)
        self._start()

    def _join(self, miss: Miss, walk: Walk) -> None:
        walk.misses.append(miss)
        miss.trail.mark(self._calendar.now, walk.stage)

    def _start(self) -> None:
        while self._free and self._queue:
            self._begin(self._queue.popleft())

    def _begin(self, walk: Walk) -> None:
        self._free -= 1
        self._mark(walk, "translation")
        self._log("translation", self._card, "walk", walk.key, page=walk.page.tag)
        self._calendar.at(
            self._calendar.now + self._cycles, Rank.WALK_END, self._place(walk), lambda: self._fetch(walk)
        )

    def _place(self, walk: Walk) -> tuple[int, ...]:
        return (self._card, walk.core, walk.page.tag, walk.serial)

    def _fetch(self, walk: Walk) -> None:
        self._mark(walk, "link")
        self._reach(walk, lambda: self._arrived(walk))

    def _arrived(self, walk: Walk) -> None:
        self._calendar.at(self._calendar.now, Rank.WALK_END, self._place(walk), lambda: self._end(walk))

    def _mark(self, walk: Walk, kind: str) -> None:
        walk.stage = kind
        for miss in walk.misses:
            miss.trail.mark(self._calendar.now, kind)

    def _end(self, walk: Walk) -> None:
        self._free += 1
        del self._walks[walk.page.tag, walk.unmapped]
        self._log("translation", self._card, "walked", walk.key, page=walk.page.tag)
        self._ended(walk)
        self._start()
        self._admit()

    def _admit(self) -> None:
        """Let misses that wait outside try again while there is a place."""
        while self._outside and (self._free or len(self._queue) < self._room):
            miss = self._outside.popleft()
            if not self._look_again(miss):
                self.request(miss)
