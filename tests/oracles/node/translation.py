"""The translation of a card: private TLBs, directory, shared TLB, walkers (spec 4, T1 to T13; spec 6, R11, E1)."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable

from tests.oracles.node.calendar import Calendar, Rank
from tests.oracles.node.description import Policies
from tests.oracles.node.description import Translation as Machine
from tests.oracles.node.log import Log
from tests.oracles.node.pages import Page
from tests.oracles.node.policies import answer_of
from tests.oracles.node.tlb import Tlb
from tests.oracles.node.touch import Access, Miss, Walk
from tests.oracles.node.walkers import Reach, Walkers


class Core:
    """What a module has of its own: a TLB, registers for misses, a queue of accesses, and stalls."""

    def __init__(self, tlb: Tlb) -> None:
        self.tlb = tlb
        self.queue: deque[Access] = deque()
        self.misses: dict[int, Miss] = {}  # those that may be joined
        self.unmapped: list[Miss] = []  # those whose page was unmapped since
        self.stalled_until = 0
        self.stalls: list[tuple[int, int]] = []
        self.issue_at: int | None = None  # cycle of the issue that is planned
        self.blocked = False  # the first access of the queue waits for a register


class Translation:
    """One card's translation system."""

    def __init__(
        self, calendar: Calendar, card: int, cores: int, machine: Machine, policies: Policies, log: Log,
        reach: Reach | None = None,
    ) -> None:  # fmt: skip
        self._calendar, self._card, self._machine, self._log = calendar, card, machine, log
        self._locate, self._fill = answer_of("locate", policies.locate), answer_of("fill", policies.fill)
        evicts = answer_of("eviction", policies.eviction)
        self.cores = [
            Core(Tlb(machine.private_entries, machine.private_ways, evicts, self._degree)) for _ in range(cores)
        ]
        shared_evicts = answer_of("shared_eviction", policies.shared_eviction)
        self._shared = Tlb(machine.shared_entries, machine.shared_ways, shared_evicts, self._degree)
        self._walkers = Walkers(
            calendar, card, machine.walkers, machine.walk_queue, machine.walk_cycles, log,
            reach or (lambda _, done: done()), self._walked, self._found_again,
        )  # fmt: skip
        self._serials = itertools.count()
        self._copies: list[Miss] = []  # under way to peers
        self._unmappings = 0

    @property
    def tlbs(self) -> list[Tlb]:
        """Return the private TLBs and the shared one."""
        return [*(core.tlb for core in self.cores), self._shared]

    def holders(self, tag: int) -> list[int]:
        """Return the cores whose private TLB holds a page."""
        return [index for index, core in enumerate(self.cores) if tag in core.tlb]

    def request(self, access: Access) -> None:
        """Put an access behind those that its core has still to issue."""
        access.serial, access.requested_at = next(self._serials), self._calendar.now
        self.cores[access.core].queue.append(access)
        self._log("translation", self._card, "request", access.key, core=access.core, page=access.page.tag)
        self._plan_issue(access.core, self._calendar.now)

    def unmap(self, pages: list[Page]) -> None:
        """Drop the entries of pages everywhere; what is under way for them fills nothing (R11, T12)."""
        tags = {page.tag for page in pages}
        self._unmappings += 1
        for tag in sorted(tags):
            self._shared.drop(tag)
            for core in self.cores:
                core.tlb.drop(tag)
        self._walkers.unmap(tags, self._unmappings)
        for core in self.cores:
            core.unmapped += [core.misses.pop(tag) for tag in sorted(tags & core.misses.keys())]
        for miss in [*self._copies, *(miss for core in self.cores for miss in core.unmapped)]:
            if miss.page.tag in tags:
                miss.unmapped = miss.unmapped or self._unmappings
        for access in (core.queue[0] for core in self.cores if core.queue):
            if access.looked_at is not None and access.page.tag in tags:  # it waits for a register
                access.unmapped = access.unmapped or self._unmappings

    def stall(self, core: int, cycles: int) -> None:
        """Let a core issue nothing for so many cycles from now on; overlapping stalls end with the later end."""
        now, until = self._calendar.now, self._calendar.now + cycles
        one = self.cores[core]
        if until > max(one.stalled_until, now):
            one.stalls.append((max(one.stalled_until, now), until))
            one.stalled_until = until

    def _degree(self, tag: int) -> int:
        """Return how many cores hold a page, as a directory says; without one nobody knows of another core."""
        knows = self._locate(0, [], lambda _: 0) is not None
        return len(self.holders(tag)) if knows else 1

    # Issue: T2, T3.

    def _plan_issue(self, core: int, cycle: int) -> None:
        one = self.cores[core]
        if one.queue and not one.blocked and (one.issue_at is None or cycle < one.issue_at):
            one.issue_at = cycle
            self._calendar.at(cycle, Rank.TRANSLATION_ISSUE, (self._card, core), lambda: self._issue(core, cycle))

    def _issue(self, core: int, cycle: int) -> None:
        one = self.cores[core]
        if one.issue_at != cycle:
            return
        one.issue_at = None
        if one.stalled_until > cycle:
            self._plan_issue(core, one.stalled_until)
            return
        one.blocked = bool(one.queue) and not self._goes_on(one, one.queue[0])
        if one.queue and not one.blocked:
            access = one.queue.popleft()
            access.issued_at = cycle
            access.gone_on()
            self._plan_issue(core, cycle)

    def _goes_on(self, core: Core, access: Access) -> bool:
        """Look an access up; return False if it is a miss for which no register is free."""
        if access.looked_at is None:
            access.looked_at = self._calendar.now
        tag = access.page.tag
        if tag in core.tlb:
            core.tlb.touch(tag)
            self._answer_access(access, "private")
        elif tag in core.misses:
            access.miss = core.misses[tag]
            access.miss.waiting.append(access)
        elif len(core.misses) + len(core.unmapped) < self._machine.registers:
            self._open(core, access)
        else:
            return False
        return True

    def _looked_up(self, access: Access) -> int:
        """Return the cycle at which an access knows what its private TLB holds."""
        assert access.looked_at is not None
        return max(self._calendar.now, access.looked_at + self._machine.private_cycles)

    def _open(self, core: Core, access: Access) -> None:
        miss = access.miss = Miss(access.page, access.core, access.serial, [access], unmapped=access.unmapped)
        if miss.unmapped:
            core.unmapped.append(miss)
        else:
            core.misses[access.page.tag] = miss
        miss.trail.mark(self._calendar.now, "translation")
        self._arrives(miss, self._looked_up(access), lambda: self._ask_directory(miss))

    def _arrives(self, miss: Miss, cycle: int, action: Callable[[], None]) -> None:
        place = (self._card, miss.core, miss.page.tag, miss.serial)
        self._calendar.at(cycle, Rank.TRANSLATION_ARRIVAL, place, action)

    # Peers: T4.

    def _ask_directory(self, miss: Miss) -> None:
        peers = self._locate(miss.core, self.holders(miss.page.tag), lambda peer: self._hops(miss.core, peer))
        miss.directed = peers is not None
        if peers is None:
            self._ask_shared(miss)
            return
        miss.tries = peers[: self._machine.remote_tries]
        self._log("translation", self._card, "directory", miss.waiting[0].key, core=miss.core, peers=tuple(miss.tries))
        self._arrives(miss, self._calendar.now + self._machine.directory_cycles, lambda: self._ask_peer(miss))

    def _ask_peer(self, miss: Miss) -> None:
        if not miss.tries:
            self._ask_shared(miss)
            return
        peer = miss.tries.pop(0)
        way = self._hops(miss.core, peer) * self._machine.hop_cycles
        self._arrives(miss, self._calendar.now + way, lambda: self._at_peer(miss, peer, way))

    def _at_peer(self, miss: Miss, peer: int, way: int) -> None:
        back = self._calendar.now + self._machine.private_cycles + way
        held = miss.page.tag in self.cores[peer].tlb
        self._log("translation", self._card, "peer", miss.waiting[0].key, core=miss.core, peer=peer, held=held)
        if held:
            self._plan_answer(miss, back, "peer")
        else:
            self._arrives(miss, back, lambda: self._ask_peer(miss))

    def _hops(self, core: int, peer: int) -> int:
        around = abs(core - peer)
        return min(around, len(self.cores) - around) if self._machine.network == "ring" else int(around > 0)

    # Shared TLB and walks: T5 to T7.

    def _ask_shared(self, miss: Miss) -> None:
        if not self._machine.shared_entries:
            self._walkers.request(miss)
            return
        self._log("translation", self._card, "shared", miss.waiting[0].key, core=miss.core, page=miss.page.tag)
        known = self._calendar.now + self._machine.shared_cycles
        if miss.page.tag in self._shared:
            self._shared.touch(miss.page.tag)
            self._plan_answer(miss, known, "shared")
        else:
            self._arrives(miss, known, lambda: self._walkers.request(miss))

    def _found_again(self, miss: Miss) -> bool:
        """Look into the shared TLB once more for a miss that waited for a place in the queue (T6)."""
        hit = miss.page.tag in self._shared
        if hit:
            self._shared.touch(miss.page.tag)
            self._plan_answer(miss, self._calendar.now, "shared")
        return hit

    def _walked(self, walk: Walk) -> None:
        if not walk.unmapped:
            self._shared.fill(walk.page.tag)
        for miss in walk.misses:
            self._plan_answer(miss, self._calendar.now, "walk")

    # Answers and fills: T8 to T10.

    def _plan_answer(self, miss: Miss, cycle: int, source: str) -> None:
        place = (self._card, miss.core, miss.page.tag, miss.serial)
        self._calendar.at(cycle, Rank.TRANSLATION_ANSWER, place, lambda: self._answer(miss, source))

    def _answer(self, miss: Miss, source: str) -> None:
        core = self.cores[miss.core]
        miss.answered_at = self._calendar.now
        if miss in core.unmapped:
            core.unmapped.remove(miss)
        else:
            del core.misses[miss.page.tag]
        core.blocked = False
        if not miss.unmapped:
            if miss.directed and source != "peer":
                self._push(miss)
            self._enter(miss.core, miss.page)
        for access in miss.waiting:
            self._answer_access(access, source if access is miss.waiting[0] else "merged")
        self._plan_issue(miss.core, self._calendar.now)

    def _enter(self, core: int, page: Page) -> None:
        known = page.tag in self.cores[core].tlb
        victim = self.cores[core].tlb.fill(page.tag)
        if not known:
            self._log(
                "translation", self._card, "fill", core=core, page=page.tag, victim=-1 if victim is None else victim
            )

    def _push(self, miss: Miss) -> None:
        """Send copies to the peers that the fill rule names (spec 4, R18, R21)."""
        for peer in self._fill(miss.core, miss.page.tag, [core.tlb.tags for core in self.cores]):
            cycle = self._calendar.now + self._hops(miss.core, peer) * self._machine.hop_cycles
            place = (self._card, peer, miss.page.tag, miss.serial)
            self._copies.append(miss)
            self._calendar.at(cycle, Rank.TRANSLATION_ANSWER, place, lambda peer=peer: self._copied(peer, miss))

    def _copied(self, peer: int, miss: Miss) -> None:
        self._copies.remove(miss)
        if not miss.unmapped:
            self._enter(peer, miss.page)

    def _answer_access(self, access: Access, source: str) -> None:
        place = (self._card, access.core, access.page.tag, access.serial)
        cycle = self._looked_up(access)
        if cycle == self._calendar.now and access.miss is not None:
            self._done(access, source)
        else:
            self._calendar.at(cycle, Rank.TRANSLATION_ANSWER, place, lambda: self._done(access, source))

    def _done(self, access: Access, source: str) -> None:
        access.answered_at = self._calendar.now
        latency = access.answered_at - access.requested_at
        values = {"core": access.core, "page": access.page.tag, "served_by": source, "latency": latency}
        self._log("translation", self._card, "answer", access.key, **values)
        access.answered(source)
