"""The event-driven twin with its rivals: tags of several pages, walks of a node, walks by cores, entries not made.

Written from docs/translation-rules.md; it shares no code with the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tests.oracles.translation_load import Choices, Load, Row
from tests.oracles.translation_load_clock import REQUESTS, WALK_ENDS
from tests.oracles.translation_load_walks import Answer, Request, SharedTlb, Walk, Walkers

BASE_BITS, ALONE, LARGE = 48, 1 << 58, 1 << 59


class Range(NamedTuple):
    """Addresses of large pages."""

    begin: int
    end: int
    page_bytes: int


class Rivals(NamedTuple):
    """The levers; as they stand here, nothing is different."""

    ranges: tuple[Range, ...] = ()
    mean_run: float = 0.0
    merges: bool = True
    level: int = 0
    most: int = 1
    software: int = 0
    start_cycles: int = 0
    level_cycles: int = 0
    only: bool = False
    threshold: int = 0
    counters: int = 1
    region_pages: int = 1
    remembered: int = 0


def chance(number: int) -> float:
    """Return what is drawn for a page or a group."""
    return ((number * 0x9E3779B97F4A7C15) % (1 << 64) // (1 << 11)) / (1 << 53)


class Pages:
    """Which tag each page has."""

    def __init__(self, base_bytes: int, rivals: Rivals, group: int, share: float) -> None:
        self.base_bytes, self.rivals, self.group, self.share = base_bytes, rivals, group, share
        self.sizes = sorted({one.page_bytes for one in rivals.ranges})
        self.first: dict[int, int] = {}
        self.saved: dict[int, int] = {}

    def tag(self, page: int) -> int:
        """Return the tag of a page, and note which page its entry begins with and how many levels it saves."""
        tag, first, saved = self._large(page) or (*self._small(page), 0)
        assert self.first.setdefault(tag, first) == first
        self.saved[tag] = saved
        return tag

    def _large(self, page: int) -> tuple[int, int, int] | None:
        for one in self.rivals.ranges:
            if one.begin <= page * self.base_bytes < one.end:
                span = one.page_bytes // self.base_bytes
                saved = max(k for k in range(6) if 512**k <= span)
                return page // span + (1 + self.sizes.index(one.page_bytes)) * LARGE, page // span * span, saved
        return None

    def _small(self, page: int) -> tuple[int, int]:
        n = self.group
        if n == 1:
            return page, page
        if self.rivals.mean_run:
            first = page
            while first % n and not chance(first) < 1 / self.rivals.mean_run:
                first -= 1
            return first // n + first % n * (1 << BASE_BITS) // n, first
        group = page // n
        return (group, group * n) if chance(group) < self.share else (page + ALONE, page)


class WatchedTlb(SharedTlb):
    """A shared TLB that does not make entries which it predicts dead."""

    def __init__(self, *given: Any, rivals: Rivals) -> None:
        super().__init__(*given)
        self.rivals = rivals
        self.counts = [0] * rivals.counters
        self.used: dict[int, bool] = {}
        self.list: list[int] = []

    def _counter(self, tag: int) -> int:
        return tag // self.rivals.region_pages % self.rivals.counters

    def enter(self, tag: int, row: int) -> None:
        if not self.machine.shared_entries or tag in self.tlb:
            return
        if self.rivals.threshold and self.counts[self._counter(tag)] == self.rivals.threshold:
            self.list = [*(one for one in self.list if one != tag), tag]
            self.list = self.list[max(len(self.list) - self.rivals.remembered, 0) :]
            return
        victim = self.tlb.victim(tag, lambda _: 1)
        if victim is not None:
            here = self._counter(victim)
            self.counts[here] = 0 if self.used[victim] else min(self.counts[here] + 1, self.rivals.threshold)
            self.drop(victim)
            self.evicted(victim, row)
        self.tlb.enter(tag)
        self.used[tag] = False
        self.given[tag] = set()

    def finds(self, tag: int) -> bool:
        """Look a tag up: the entry is used, or the prediction was wrong."""
        if tag in self.tlb:
            self.tlb.use(tag)
            self.used[tag] = True
            return True
        if tag in self.list:
            self.list.remove(tag)
            self.counts[self._counter(tag)] = 0
        return False

    def _look(self, request: Request, answer: Answer, walkers: Walkers) -> None:
        self.accesses += 1
        known = self.clock.now + self.machine.shared_cycles
        if self.finds(request.tag):
            answer(request, "shared", known)
        else:
            self.clock.at(known, REQUESTS, request.key, lambda: walkers.arrive(request))


class ManyWalkers(Walkers):
    """Walkers that may take walks of one node, and cores that walk."""

    def __init__(
        self, clock: Any, machine: Any, shared: WatchedTlb, pages: Pages, answer: Answer, rivals: Rivals
    ) -> None:
        super().__init__(clock, machine, shared, lambda tag: pages.first[tag], answer)
        self.watched, self.pages, self.rivals = shared, pages, rivals
        self.idle = 0 if rivals.only else machine.walkers
        self.by_core = [0] * machine.cores
        self.open: list[Walk] = []

    def unmap(self, tag: int) -> None:
        for walk in self.open:
            walk.dead = walk.dead or walk.tag == tag

    def _admit(self, request: Request, asked: int) -> bool:
        for walk in self.open:
            if self.rivals.merges and walk.tag == request.tag and not walk.dead:
                walk.waiters.append(request)
                self.joined += 1
                return True
        walk = Walk(request.tag, request.key, asked, [request])
        if self.idle:
            self.idle -= 1
            self._walk(walk, 1)
        elif self.by_core[request.core] < self.rivals.software:
            self.by_core[request.core] += 1
            self._walk(walk, 0)
        elif not self.machine.walk_queue or len(self.queue) < self.machine.walk_queue:
            self.queue.append(walk)
        else:
            return False
        self.open.append(walk)
        return True

    def _walk(self, walk: Walk, number: int) -> None:
        waited = self.clock.now - walk.asked
        self.walks += 1
        self.queue_cycles += waited
        self.queued_at[self.clock.now] += waited
        levels = self._levels_of(walk)
        if number > 1:
            levels = min(levels, self.rivals.level)
        self.levels += levels
        cycles = levels * self.machine.level_cycles
        if number == 0:
            cycles = self.rivals.start_cycles + levels * self.rivals.level_cycles
        self.busy_cycles += cycles
        self.clock.at(self.clock.now + cycles, WALK_ENDS, walk.key, lambda: self._ended(walk, number))

    def _uppers(self, walk: Walk) -> list[tuple[int, int]]:
        page, saved = walk.waiters[0].trace_page, self.pages.saved[walk.tag]
        return [(upper, page // 512**upper) for upper in range(saved + 1, self.machine.walk_levels)]

    def _levels_of(self, walk: Walk) -> int:
        saved = self.pages.saved[walk.tag]
        there = [upper - saved for upper, prefix in self._uppers(walk) if (upper, prefix) in self.cache]
        return there[0] if there else int(self.machine.walk_levels) - saved

    def _node(self, walk: Walk) -> tuple[int, int]:
        saved = self.pages.saved[walk.tag]
        return saved, walk.waiters[0].trace_page // 512 ** (self.rivals.level + saved)

    def _ended(self, walk: Walk, number: int) -> None:
        self.open.remove(walk)
        if not walk.dead:
            self.shared.enter(walk.tag, walk.key[2])
        for upper in reversed(self._uppers(walk)):
            self.cache[upper] = None
            self.cache.move_to_end(upper)
            if len(self.cache) > self.machine.walk_cache_entries:
                self.cache.popitem(last=False)
        for request in walk.waiters:
            self.answer(request, "walk", self.clock.now)
        self._next(walk, number)
        self._call_back()

    def _next(self, walk: Walk, number: int) -> None:
        core = walk.waiters[0].core
        if number == 0:
            own = self._take(lambda one: one.waiters[0].core == core)
            if own is None:
                self.by_core[core] -= 1
            else:
                self._walk(own, 0)
            return
        follows = self._take(lambda one: self._node(one) == self._node(walk)) if number < self.rivals.most else None
        if follows is not None:
            self._walk(follows, number + 1)
        elif self.queue:
            self._walk(self.queue.popleft(), 1)
        else:
            self.idle += 1

    def _take(self, likes: Callable[[Walk], bool]) -> Walk | None:
        for walk in self.queue:
            if likes(walk):
                self.queue.remove(walk)
                return walk
        return None

    def _call_back(self) -> None:
        while self.sent_back and self._has_place(self.sent_back[0][0]):
            request, asked = self.sent_back.popleft()
            if self.machine.shared_entries and self.watched.finds(request.tag):
                self.answer(request, "shared", self.clock.now)
            else:
                assert self._admit(request, asked)

    def _has_place(self, request: Request) -> bool:
        return len(self.queue) < self.machine.walk_queue or self.by_core[request.core] < self.rivals.software


class RivalLoad(Load):
    """One run of the machine on a trace, with rivals."""

    def __init__(
        self,
        machine: Any,
        rows: Sequence[Row],
        policies: dict[str, Any],
        choices: Choices,
        seed: Callable[[str], int],
        rivals: Rivals,
        share: float,
    ) -> None:
        super().__init__(machine, rows, policies, choices, seed)
        self.pages = Pages(machine.page_bytes, rivals, choices.pages_an_entry, share)
        self.shared = WatchedTlb(self.clock, machine, self.shared.tlb.base, self._shared_evicted, rivals=rivals)
        self.walkers = ManyWalkers(self.clock, machine, self.shared, self.pages, self._answer, rivals)

    def _tag(self, page: int) -> int:
        return self.pages.tag(page)

    def _first_page(self, tag: int) -> int:
        return self.pages.first[tag]
