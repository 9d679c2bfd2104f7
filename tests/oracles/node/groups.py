"""The life of a group: channel, compute, touches and mallocs of each phase, end (spec 6, R6, R7, R12, R14, E1)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Couplings, Kernel, Phase
from tests.oracles.node.heap import Block, Call
from tests.oracles.node.touch import Access


class Surroundings(Protocol):
    """What a group asks of the node."""

    calendar: Calendar
    couplings: Couplings

    def pages_of(self, part: Part, phase: int) -> list[tuple[Any, int]]:
        """Return the simulated pages of a phase with the bytes that each stands for."""

    def translate(self, access: Access, card: int) -> None:
        """Ask the card's translation."""

    def fetch(self, access: Access, size: int, card: int, done: Callable[[], None]) -> None:
        """Bring the data of a touch."""

    def malloc(self, part: Part, key: Key, lanes: list[int], answered: Callable[[Call], None]) -> Call:
        """Ask the application's heap on the card."""

    def stalled_until(self, card: int, module: int) -> int:
        """Return until when a module issues nothing."""

    def executed(self, card: int, module: int, begin: int, end: int, kind: str, amount: int) -> None:
        """Enter instructions into a module's history."""

    def lowest_priority(self, card: int) -> int:
        """Return the least urgent priority of a card."""

    def give_blocks(self, part: Part, blocks: list[Block]) -> None:
        """Free blocks of a device heap."""

    def release(self, part: Part) -> None:
        """Give back the resources of a part."""

    def group_ended(self, group: Group) -> None:
        """Hear of a group's end."""


@dataclass(eq=False)
class Item:
    """A touch or a malloc of a phase: asked at the end of compute, answered later."""

    key: Key
    holds: bool  # whether the phase waits for it
    access: Access | None = None
    call: Call | None = None
    answered_at: int | None = None


@dataclass(eq=False)
class PhaseRecord:
    """When a phase computed, and what it asked for."""

    begin: int
    compute_end: int
    items: list[Item] = field(default_factory=list)
    end: int | None = None  # the next phase begins, or resources go back


@dataclass(eq=False)
class Group:
    """A group of a kernel; it is one part unless it is split."""

    kernel: Kernel
    key: Key
    compute: list[int]  # by phase
    reached_at: int
    put_forward_at: int
    parts: list[Part] = field(default_factory=list)
    ended_at: int | None = None
    cancelled: bool = False

    def maybe_end(self, around: Surroundings) -> None:
        """End the group if all its parts have ended."""
        if self.ended_at is None and all(part.ended_at is not None for part in self.parts):
            self.ended_at = around.calendar.now
            around.group_ended(self)


class Part:
    """A group, or one wave of a group that was split."""

    def __init__(self, around: Surroundings, group: Group, wave: int, urgency: int) -> None:
        self.group, self.kernel, self.urgency = group, group.kernel, urgency
        self.key = group.key._replace(wave=wave)
        self.wave_numbers = [wave] if wave >= 0 else list(range(group.kernel.waves))
        self.module = -1
        self.dispatched_at = -1
        self.phases: list[PhaseRecord] = []
        self.blocks: list[Block] = []
        self.ended_at: int | None = None
        self.left = False  # gave its resources back
        self._around, self._open = around, 0

    @property
    def waves(self) -> int:
        """Return how many waves it has."""
        return len(self.wave_numbers)

    @property
    def card(self) -> int:
        """Return the card that it runs on."""
        return self.key.card

    def split(self) -> list[Part]:
        """Return a part a wave, each of the lowest priority (spec 3, R26, R27)."""
        lowest = self._around.lowest_priority(self.card)
        self.group.parts = [Part(self._around, self.group, wave, lowest) for wave in self.wave_numbers]
        return list(self.group.parts)

    def share(self, amount: int) -> int:
        """Return this part's share of a number of the whole group; the first waves have one more."""
        if self.key.wave < 0:
            return amount
        return amount // self.kernel.waves + (self.key.wave < amount % self.kernel.waves)

    def started(self, module: int) -> None:
        """Begin the first phase on a module."""
        self.module, self.dispatched_at = module, self._around.calendar.now
        self._begin_phase(0)

    def _begin_phase(self, number: int) -> None:
        now, cycles = self._around.calendar.now, self.group.compute[number]
        self.phases.append(PhaseRecord(now, now + cycles))
        for kind, amount in self.kernel.phases[number].instructions:
            self._around.executed(self.card, self.module, now, now + cycles, kind, self.share(amount))
        key = self.key._replace(phase=number)
        self._around.calendar.at(now + cycles, Rank.COMPUTE_END, key, lambda: self._computed(number))

    def _computed(self, number: int) -> None:
        record = self.phases[number]
        self._touch(number, record)
        self._malloc(self.kernel.phases[number], number, record)
        self._open += len(record.items)
        self._look(number)

    def _look(self, number: int) -> None:
        """End the phase once nothing holds it, and the part once nothing is open."""
        record = self.phases[number]
        if record.end is None and not any(item.holds and item.answered_at is None for item in record.items):
            record.end = self._around.calendar.now
            self._go_on(number + 1)
        self._maybe_end()

    def _go_on(self, number: int) -> None:
        if number < len(self.kernel.phases):
            self._begin_phase(number)
        else:
            self.left = True
            self._around.calendar.at(
                self._around.calendar.now, Rank.RELEASE, self.key, lambda: self._around.release(self)
            )

    def _maybe_end(self) -> None:
        if self.left and not self._open and self.ended_at is None:
            self.ended_at = self._around.calendar.now
            self.group.maybe_end(self._around)

    # Touches.

    def _touch(self, number: int, record: PhaseRecord) -> None:
        holds = self._around.couplings.touches_hold == "group"
        pages = self._around.pages_of(self, number)
        items = [Item(self.key._replace(phase=number, touch=k), holds) for k in range(len(pages))]
        record.items += items
        for item, (page, size) in zip(items, pages):
            item.access = Access(page, self.module, item.key, lambda: None, lambda _: None)
            self._answer_into(item, item.access, size, number)
        for before, item in itertools.pairwise(items):
            self._follow(before, item)
        for item in items if self._around.couplings.issue_at_once else items[:1]:
            self._ask(item, self._around.calendar.now)

    def _answer_into(self, item: Item, access: Access, size: int, number: int) -> None:
        def brought() -> None:
            self._answered(item, number)

        access.answered = lambda _: self._around.fetch(access, size, self.card, brought)

    def _follow(self, before: Item, item: Item) -> None:
        """Ask for a touch one cycle after the one before it was issued (E1)."""
        assert before.access is not None
        if not self._around.couplings.issue_at_once:
            before.access.gone_on = lambda: self._ask(item, self._around.calendar.now + 1)

    def _ask(self, item: Item, cycle: int) -> None:
        access = item.access
        assert access is not None
        self._around.calendar.at(
            cycle, Rank.TRANSLATION_REQUEST, item.key, lambda: self._around.translate(access, self.card)
        )

    def _stalled(self, record: PhaseRecord) -> None:
        """Enter the wait for touches into the history, once the last of them is answered (R16)."""
        answers = [item.answered_at for item in record.items if item.access is not None]
        if None not in answers:
            begin, end = record.compute_end, self._around.calendar.now
            self._around.executed(self.card, self.module, begin, end, "translation_stall", end - begin)

    # Mallocs.

    def _malloc(self, phase: Phase, number: int, record: PhaseRecord) -> None:
        waits = self._around.couplings.malloc == "wait"
        lanes = list(phase.mallocs)
        for wave in self.wave_numbers if lanes else ():
            item = Item(self.key._replace(phase=number, wave=wave), waits)
            if waits:
                record.items.append(item)
            self._plan_malloc(item, lanes, number, self._around.calendar.now)

    def _plan_malloc(self, item: Item, lanes: list[int], number: int, cycle: int) -> None:
        self._around.calendar.at(cycle, Rank.MALLOC_REQUEST, item.key, lambda: self._call(item, lanes, number))

    def _call(self, item: Item, lanes: list[int], number: int) -> None:
        """Call malloc, unless the module is stalled by a shoot-down."""
        now, until = self._around.calendar.now, self._around.stalled_until(self.card, self.module)
        if until > now:
            self._plan_malloc(item, lanes, number, until)
            return
        item.call = self._around.malloc(self, item.key, lanes, lambda call: self._got(item, call, number))

    def _got(self, item: Item, call: Call, number: int) -> None:
        self.blocks += call.blocks
        if item.holds and self._around.couplings.history:
            self._lock_waited(call)
        if self.group.ended_at is not None:
            self._around.give_blocks(self, call.blocks)
        if item.holds:
            self._answered(item, number)

    def _lock_waited(self, call: Call) -> None:
        for begin, end, kind in call.spans():
            if kind == "malloc lock":
                self._around.executed(self.card, self.module, begin, end, "lock_wait", end - begin)

    def _answered(self, item: Item, number: int) -> None:
        item.answered_at = self._around.calendar.now
        self._open -= 1
        if item.access is not None and item.holds and self._around.couplings.history:
            self._stalled(self.phases[number])
        self._look(number)
