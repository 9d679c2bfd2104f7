"""The shared TLB and the walkers of the event-driven twin (spec 4, T5-T7)."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.oracles.translation_load_clock import REQUESTS, WALK_ENDS, Clock, Key, Slots
from tests.oracles.translation_load_eviction import Base, Tlb


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
    dead: bool = False
    """Its page was unmapped while it was under way."""
    joiners: list[Any] = field(default_factory=list)
    named: set[int] = field(default_factory=set)
    in_shared: bool = False
    tries: int = 0
    peer: int = -1
    teaches: set[int] = field(default_factory=set)

    @property
    def key(self) -> Key:
        return self.core, self.tag, self.row


@dataclass(eq=False)
class Walk:
    """A walk that waits or is under way."""

    tag: int
    key: Key
    asked: int
    waiters: list[Request]
    dead: bool = False


Answer = Callable[[Request, str, int], None]
"""Deliver an answer: to whom, served by what, at which cycle."""


class Walkers:
    """The queue, the walkers, the page-walk cache."""

    def __init__(
        self, clock: Clock, machine: Any, shared: SharedTlb, first_page: Callable[[int], int], answer: Answer
    ) -> None:
        self.clock, self.machine, self.shared, self.answer = clock, machine, shared, answer
        self.first_page = first_page
        self.idle = machine.walkers
        self.queue: deque[Walk] = deque()
        self.sent_back: deque[tuple[Request, int]] = deque()
        self.live: dict[int, Walk] = {}
        self.cache: OrderedDict[tuple[int, int], None] = OrderedDict()
        self.walks = self.levels = self.queue_cycles = self.joined = 0
        self.queued_at: Counter[int] = Counter()
        self.busy_cycles = 0

    def arrive(self, request: Request) -> None:
        """Take a request in: it joins a walk, starts or waits for one, or waits at the shared TLB."""
        if not self._admit(request, self.clock.now):
            self.sent_back.append((request, self.clock.now))

    def unmap(self, tag: int) -> None:
        """A page is unmapped: its walk answers those who wait, makes no entry, and is joined by nobody."""
        walk = self.live.pop(tag, None)
        if walk:
            walk.dead = True

    def _admit(self, request: Request, asked: int) -> bool:
        walk = self.live.get(request.tag)
        if walk:
            walk.waiters.append(request)
            self.joined += 1
            return True
        if not self.idle and self.machine.walk_queue and len(self.queue) >= self.machine.walk_queue:
            return False
        walk = self.live[request.tag] = Walk(request.tag, request.key, asked, [request])
        if self.idle:
            self._start(walk)
        else:
            self.queue.append(walk)
        return True

    def _start(self, walk: Walk) -> None:
        self.idle -= 1
        self.walks += 1
        waited = self.clock.now - walk.asked
        self.queue_cycles += waited
        self.queued_at[self.clock.now] += waited
        levels = self._levels(self.first_page(walk.tag))
        self.levels += levels
        cycles = levels * self.machine.level_cycles
        self.busy_cycles += cycles
        self.clock.at(self.clock.now + cycles, WALK_ENDS, walk.key, lambda: self._end(walk))

    def _levels(self, page: int) -> int:
        for level in range(1, self.machine.walk_levels):
            if (level, page >> 9 * level) in self.cache:
                return level
        return int(self.machine.walk_levels)

    def _keep_levels(self, page: int) -> None:
        for level in reversed(range(1, self.machine.walk_levels)):
            self.cache[level, page >> 9 * level] = None
            self.cache.move_to_end((level, page >> 9 * level))
            if len(self.cache) > self.machine.walk_cache_entries:
                self.cache.popitem(last=False)

    def _end(self, walk: Walk) -> None:
        self._keep_levels(self.first_page(walk.tag))
        if not walk.dead:
            del self.live[walk.tag]
            self.shared.enter(walk.tag, walk.key[2])
        for request in walk.waiters:
            self.answer(request, "walk", self.clock.now)
        self.idle += 1
        if self.queue:
            self._start(self.queue.popleft())
        self._call_back()

    def _call_back(self) -> None:
        """Let those who wait at the shared TLB try again, in order, while there is a place."""
        while self.sent_back and (self.idle or len(self.queue) < self.machine.walk_queue):
            request, asked = self.sent_back.popleft()
            if self.shared.has(request.tag):
                self.shared.tlb.use(request.tag)
                self.answer(request, "shared", self.clock.now)
            else:
                self._admit(request, asked)


class SharedTlb:
    """The TLB of all cores, its banks, and whom each of its entries was given to."""

    def __init__(self, clock: Clock, machine: Any, base: Base, evicted: Callable[[int, int], None]) -> None:
        self.clock, self.machine, self.evicted = clock, machine, evicted
        self.tlb = Tlb(machine.shared_entries, machine.shared_ways, base, None)
        self.banks = [Slots(clock, machine.shared_ports) for _ in range(machine.shared_banks)]
        self.given: dict[int, set[int]] = {}
        self.accesses = 0

    def has(self, tag: int) -> bool:
        return tag in self.tlb

    def enter(self, tag: int, row: int) -> None:
        """Make an entry, once; the victim is chosen now."""
        if not self.machine.shared_entries or tag in self.tlb:
            return
        victim = self.tlb.victim(tag, lambda _: 1)
        if victim is not None:
            self.drop(victim)
            self.evicted(victim, row)
        self.tlb.enter(tag)
        self.given[tag] = set()

    def drop(self, tag: int) -> None:
        """Let an entry go, if there is one."""
        if tag in self.tlb:
            self.tlb.drop(tag)
            del self.given[tag]

    def arrive(self, request: Request, answer: Answer, walkers: Walkers) -> None:
        """Look a request up in the cycle in which its bank is free for it."""
        granted = self.banks[request.tag % len(self.banks)].take()
        self.clock.at(granted, REQUESTS, request.key, lambda: self._look(request, answer, walkers))

    def _look(self, request: Request, answer: Answer, walkers: Walkers) -> None:
        self.accesses += 1
        known = self.clock.now + self.machine.shared_cycles
        if request.tag in self.tlb:
            self.tlb.use(request.tag)
            answer(request, "shared", known)
        else:
            self.clock.at(known, REQUESTS, request.key, lambda: walkers.arrive(request))
