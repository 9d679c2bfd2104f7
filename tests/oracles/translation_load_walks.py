"""The shared TLB and the walkers of the event-driven twin (spec 4, T5-T7; docs/translation-rules.md)."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.oracles.translation_load_clock import REQUESTS, WALK_ENDS, Clock, Key, Slots
from tests.oracles.translation_load_dead import NeverDead
from tests.oracles.translation_load_eviction import Base, Tlb

Asked = tuple[int, int]
"""A tag and its era: before an unmapping a tag stands for another page than after it (T12)."""


class Eras:
    """How often each tag was unmapped."""

    def __init__(self) -> None:
        self._over: Counter[int] = Counter()

    def now(self, tag: int) -> Asked:
        """Return what is asked for by who misses a tag now."""
        return tag, self._over[tag]

    def end(self, tag: int) -> None:
        """A tag is unmapped: what was asked for until now comes into no TLB."""
        self._over[tag] += 1

    def is_over(self, asked: Asked) -> bool:
        """Return whether a page was unmapped since it was asked for."""
        return asked != self.now(asked[0])


@dataclass(eq=False)
class Request:
    """A miss on its way: whose it is, what it asks for, and what came of it so far."""

    core: int
    tag: int
    row: int
    started: int
    trace_page: int
    known_at: int = 0
    """The end of the look-up in the own TLB."""
    asked: Asked = (-1, -1)
    """Its page, as it was mapped at its look-up."""
    joiners: list[Any] = field(default_factory=list)
    named: set[int] = field(default_factory=set)
    in_shared: bool = False
    tries: int = 0
    peer: int = -1
    teaches: set[int] = field(default_factory=set)
    requested: int = -1
    """When it first came to the walkers."""

    @property
    def key(self) -> Key:
        return self.core, self.tag, self.row


@dataclass(eq=False)
class Walk:
    """A walk that waits or is under way; its opener is the first that waits for it."""

    waiters: list[Request]
    of_batch: int = 1
    """Its place in its batch, from 1."""
    begun: bool = False
    by_core: bool = False

    @property
    def opener(self) -> Request:
        return self.waiters[0]

    @property
    def asked(self) -> Asked:
        return self.opener.asked


class WalkRules(NamedTuple):
    """Who walks what, and when."""

    merge: bool = True
    node_level: int = 1
    most_of_batch: int = 1
    """1 = by arrival."""
    core_walks: int = 0
    """Walks of a core at a time, 0 = the machine's walkers alone."""
    core_start_cycles: int = 0
    core_level_cycles: int = 0
    cores_only: bool = False


Answer = Callable[[Request, str, int], None]
"""Deliver an answer: to whom, served by what, at which cycle."""


class Walkers:
    """The queue, the walkers, the cores that walk, the page-walk cache."""

    def __init__(
        self,
        clock: Clock,
        machine: Any,
        rules: WalkRules,
        shared: SharedTlb,
        saves: Callable[[int], int],
        answer: Answer,
        eras: Eras,
    ) -> None:
        """`saves` gives the levels that a page's walk does not need."""
        self.clock, self.machine, self.rules, self.shared, self.answer = clock, machine, rules, shared, answer
        self.saves, self.eras = saves, eras
        self.idle = 0 if rules.cores_only else machine.walkers
        self.walking: Counter[int] = Counter()
        """Software walks under way, by core."""
        self.queue: list[Walk] = []
        self.sent_back: list[Request] = []
        self.live: list[Walk] = []
        self.cache: OrderedDict[tuple[int, int], None] = OrderedDict()
        self.walks = self.levels = self.queue_cycles = self.joined = self.waited = 0
        self.opened_late = self.joined_late = 0
        """Walks that were opened, and joined, by requests for pages that had been unmapped by then."""
        self.queued_at: Counter[int] = Counter()
        self.busy_cycles = 0

    def arrive(self, request: Request) -> None:
        """Take a request in: it joins a walk, starts or waits for one, or waits at the shared TLB."""
        request.requested = self.clock.now
        if not self._admit(request):
            self.sent_back.append(request)

    def _joinable(self, asked: Asked) -> Walk | None:
        return next((walk for walk in self.live if walk.asked == asked), None) if self.rules.merge else None

    def _admit(self, request: Request) -> bool:
        walk, late = self._joinable(request.asked), self.eras.is_over(request.asked)
        if walk:
            walk.waiters.append(request)
            self.waited += self.clock.now - request.requested if walk.begun else 0
            self.joined += 1
            self.joined_late += late
            return True
        walk = Walk([request])
        if self.idle:
            self.idle -= 1
            self._start(walk, self.machine.walk_levels)
        elif self._may_walk(request.core):
            self.walking[request.core] += 1
            walk.by_core = True
            self._start(walk, self.machine.walk_levels)
        elif self._has_place():
            self.queue.append(walk)
        else:
            return False
        self.live.append(walk)
        self.opened_late += late
        return True

    def _may_walk(self, core: int) -> bool:
        return self.walking[core] < self.rules.core_walks

    def _has_place(self) -> bool:
        return not self.machine.walk_queue or len(self.queue) < self.machine.walk_queue

    def _start(self, walk: Walk, most: int) -> None:
        self.walks += 1
        walk.begun = True
        waited = self.clock.now - walk.opener.requested
        self.queue_cycles += waited
        self.waited += sum(self.clock.now - request.requested for request in walk.waiters)
        self.queued_at[self.clock.now] += waited
        levels = min(self._levels(walk.opener.trace_page), most)
        self.levels += levels
        cycles = levels * self.machine.level_cycles
        if walk.by_core:
            cycles = self.rules.core_start_cycles + levels * self.rules.core_level_cycles
        self.busy_cycles += cycles
        self.clock.at(self.clock.now + cycles, WALK_ENDS, walk.opener.key, lambda: self._end(walk))

    def _upper(self, page: int) -> list[tuple[int, int]]:
        """Return the upper levels of a page, the lowest first."""
        return [(level, page // 512**level) for level in range(self.saves(page) + 1, self.machine.walk_levels)]

    def _levels(self, page: int) -> int:
        there = next((upper for upper in self._upper(page) if upper in self.cache), None)
        return (self.machine.walk_levels if there is None else there[0]) - self.saves(page)

    def _keep_levels(self, page: int) -> None:
        for upper in reversed(self._upper(page)):
            self.cache[upper] = None
            self.cache.move_to_end(upper)
            if len(self.cache) > self.machine.walk_cache_entries:
                self.cache.popitem(last=False)

    def _end(self, walk: Walk) -> None:
        self._keep_levels(walk.opener.trace_page)
        self.live.remove(walk)
        if not self.eras.is_over(walk.asked):
            self.shared.enter(walk.opener.tag, walk.opener.row)
        for request in walk.waiters:
            self.answer(request, "walk", self.clock.now)
        if walk.by_core:
            self._core_goes_on(walk.opener.core)
        else:
            self._walker_goes_on(walk)
        self._call_back()

    def _walker_goes_on(self, ended: Walk) -> None:
        same = [walk for walk in self.queue if self._node(walk) == self._node(ended)]
        if same and ended.of_batch < self.rules.most_of_batch:
            self.queue.remove(same[0])
            same[0].of_batch = ended.of_batch + 1
            self._start(same[0], self.rules.node_level)
        elif self.queue:
            self._start(self.queue.pop(0), self.machine.walk_levels)
        else:
            self.idle += 1

    def _node(self, walk: Walk) -> tuple[int, int]:
        page = walk.opener.trace_page
        return self.saves(page), page // 512 ** (self.rules.node_level + self.saves(page))

    def _core_goes_on(self, core: int) -> None:
        own = [walk for walk in self.queue if walk.opener.core == core]
        if own:
            self.queue.remove(own[0])
            own[0].by_core = True
            self._start(own[0], self.machine.walk_levels)
        else:
            self.walking[core] -= 1

    def _call_back(self) -> None:
        """Let those who wait at the shared TLB try again, in order, while there is a place for the first."""
        while self.sent_back and (self._has_place() or self._may_walk(self.sent_back[0].core)):
            request = self.sent_back.pop(0)
            if self.shared.look(request.tag):
                self.answer(request, "shared", self.clock.now)
            else:
                self._admit(request)


class SharedTlb:
    """The TLB of all cores, its banks, and whom each of its entries was given to."""

    def __init__(
        self, clock: Clock, machine: Any, base: Base, evicted: Callable[[int, int], None], dead: NeverDead
    ) -> None:
        self.clock, self.machine, self.evicted, self.dead = clock, machine, evicted, dead
        self.reach = machine.shared_pages if machine.shared_entries else 1
        self.tlb = Tlb(machine.shared_entries, machine.shared_ways, base, None)
        self.banks = [Slots(clock, machine.shared_ports) for _ in range(machine.shared_banks)]
        self.given: dict[int, set[int]] = {}
        self.accesses = 0

    def block(self, tag: int) -> int:
        """Return what the entry that covers a tag is found by."""
        return tag // self.reach

    def has(self, tag: int) -> bool:
        return self.block(tag) in self.tlb

    def look(self, tag: int) -> bool:
        """Look a tag up, which uses an entry that is there."""
        tag = self.block(tag)
        if tag in self.tlb:
            self.tlb.use(tag)
            self.dead.found(tag)
            return True
        self.dead.missed(tag)
        return False

    def enter(self, tag: int, row: int) -> None:
        """Make an entry, once, unless it would be dead; the victim is chosen now."""
        tag = self.block(tag)
        if not self.machine.shared_entries or tag in self.tlb or self.dead.passes_by(tag):
            return
        victim = self.tlb.victim(tag, lambda _: 1)
        if victim is not None:
            self._drop_block(victim)
            self.dead.evicted(victim)
            self.evicted(victim, row)
        self.tlb.enter(tag)
        self.dead.made(tag)
        self.given[tag] = set()

    def drop(self, tag: int) -> None:
        """Let an entry go, if there is one."""
        if self.has(tag):
            self._drop_block(self.block(tag))

    def _drop_block(self, block: int) -> None:
        self.tlb.drop(block)
        del self.given[block]

    def arrive(self, request: Request, answer: Answer, walkers: Walkers) -> None:
        """Look a request up in the cycle in which its bank is free for it."""
        granted = self.banks[self.block(request.tag) % len(self.banks)].take()
        self.clock.at(granted, REQUESTS, request.key, lambda: self._look(request, answer, walkers))

    def _look(self, request: Request, answer: Answer, walkers: Walkers) -> None:
        self.accesses += 1
        known = self.clock.now + self.machine.shared_cycles
        if self.look(request.tag):
            answer(request, "shared", known)
        else:
            self.clock.at(known, REQUESTS, request.key, lambda: walkers.arrive(request))
