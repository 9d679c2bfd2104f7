"""A dispatcher in one page of plain Python, from the sentences of spec 3 alone: no policy, no map, no book is kept.

It asks nobody of the workbench. At every cycle what is free is worked out anew from who runs, recent instructions from
who ran, and the order of priorities from the written-out windows. It knows the exact probe, first fit, and the levers
that act together on who waits: windows, rounds of several cycles, probes of several, blocked channels, splits.

Undefined, and therefore never drawn: groups that no empty module holds (E24), placements that refuse what a report
promised (E18), levers of chance. A priority without a window is never raised (E8). Equal modules: the lowest (E19).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

ONE = 2**20


@dataclass
class Part:
    """A group that waits, or one of the parts that it was split into."""

    group: int
    waves: int
    level: int
    divided: bool = False


@dataclass
class Life:
    part: Part
    module: int
    begin: int
    end: int
    counts: list[int]
    ranges: list[tuple[int, str, int, int]]
    """Unit (-1 = the module's own), resource, first block, blocks."""


@dataclass
class Levers:
    """What a run is given; lengths without windows are empty."""

    modules: int
    units: int
    vgpr: int
    shared: int
    slots: int
    groups_a_module: int
    round_cycles: int
    """All in all: the option's times the probe's."""
    dispatches_a_round: int = 1
    fail_init: int = 0
    priority: str = "static"
    lengths: list[int] = field(default_factory=list)
    selection: str = "strict_blocking"
    threshold: int | None = None
    into: str = "waves"
    sub_priority: str = "lowest"
    divides: bool = False
    head_pointer: bool = False
    choice: str = "first"
    nx: int = 8
    weights: tuple[int, ...] = (1, 4, 4, 16, 1, 2)


class Clock:
    """A run; `rows` have arrival, channel, priority, waves, duration, independent, need and instructions."""

    def __init__(self, levers: Levers, rows: list) -> None:
        self.levers, self.rows = levers, rows
        self.levels = max(row.priority for row in rows)
        self.queues: dict[int, list[Part]] = {row.channel: [] for row in sorted(rows, key=lambda row: row.channel)}
        for group, row in enumerate(rows):
            self.queues[row.channel].append(Part(group, row.waves, row.priority))
        self.lives: list[Life] = []
        self.sent = [0] * levers.modules
        """Waves that each module was ever given: a pointer is what it began at, and so many units on (R63, R64)."""
        self.marks: set[tuple[int, int]] = set()
        self.g = levers.fail_init
        self.rounds = self.head_rounds = 0
        self.failures: list[int] = []
        self.splits: list[list[int]] = []

    def run(self) -> Clock:
        now = 0
        while any(self.queues.values()):
            heads = self.heads(now)
            if now % self.levers.round_cycles == 0 and heads:
                self.round(now)
            now += 1
            assert now < 10**5, "waits for ever"
        return self

    def heads(self, now: int) -> dict[int, Part]:
        return {c: queue[0] for c, queue in self.queues.items() if queue and self.rows[queue[0].group].arrival <= now}

    def round(self, now: int) -> None:
        self.rounds += 1
        self.head_rounds += len(self.heads(now))
        made = 0
        while made < self.levers.dispatches_a_round and self.dispatch_one(now):
            made += 1
        if made:
            self.g = 0
            return
        self.failures.append(now)
        if self.levers.threshold is not None:
            self.g = min(self.g + 1, self.levers.threshold + 1)
            if self.g > self.levers.threshold:
                self.split(now)

    def dispatch_one(self, now: int) -> bool:
        heads = self.heads(now)
        rooms = {c: [m for m in range(self.levers.modules) if self.ranges(m, part, now)] for c, part in heads.items()}
        if not any(rooms.values()):
            return False
        channel = self.select(now, heads, [c for c in heads if rooms[c]])
        if channel is None:
            return False
        part = self.queues[channel].pop(0)
        module = min(rooms[channel], key=lambda m: (self.score(m, now), m))
        ranges = self.ranges(module, part, now) or []
        row = self.rows[part.group]
        self.lives.append(Life(part, module, now, now + row.duration, self.counts(module, part.waves), ranges))
        self.sent[module] += part.waves
        return True

    # Priorities and selection ----------------------------------------------------------------------------------------

    def rank(self, now: int, level: int) -> int:
        """R16-R18: levels in order, that of the open window before all; a level below all stays below (E12)."""
        if self.levers.priority == "none":
            return int(level > self.levels)
        opened = [y + 1 for y, length in enumerate(self.levers.lengths) for _ in range(length)]
        raised = bool(opened) and opened[now % len(opened)] == level <= self.levels
        return 0 if raised else level

    def select(self, now: int, heads: dict[int, Part], fit: list[int]) -> int | None:
        rank = {c: self.rank(now, part.level) for c, part in heads.items()}
        blocking = self.levers.selection.startswith("strict_blocking")
        best = min(rank[c] for c in (heads if blocking else fit))
        among = sorted(c for c in fit if rank[c] == best)
        if not among:  # R15
            return None
        if self.levers.selection in ("strict_blocking", "oldest"):
            return min(among, key=lambda c: (self.rows[heads[c].group].arrival, c))
        if self.levers.selection != "marks" or len(among) == 1:  # R9
            return among[0]
        whole = self.levers.priority == "none"
        label = {c: 1 if whole and heads[c].level <= self.levels else heads[c].level for c in among}  # E3, E4
        fresh = [c for c in among if (c, label[c]) not in self.marks]
        if fresh:  # R10
            self.marks.add((fresh[0], label[fresh[0]]))
            return fresh[0]
        self.marks -= {(c, label[c]) for c in among[1:]}
        return among[0]

    # Modules ---------------------------------------------------------------------------------------------------------

    def counts(self, module: int, waves: int) -> list[int]:
        """R60-R64: the first unit to get a wave is the one behind the last that got one."""
        first = self.sent[module] + (0 if self.levers.head_pointer else 1)
        return [
            len(range((unit - first) % self.levers.units, waves, self.levers.units))
            for unit in range(self.levers.units)
        ]

    def ranges(self, module: int, part: Part, now: int) -> list[tuple[int, str, int, int]] | None:
        """R5, R6, R12: the ranges that a part would take, the lowest that are free; None where it does not fit."""
        row, counts = self.rows[part.group], self.counts(module, part.waves)
        here = [life for life in self.lives if life.module == module and life.begin <= now < life.end]
        shared = row.need.get("shared", 0)
        if part.divided:
            shared = ceil(Fraction(shared * part.waves, row.waves))
        wanted = [(unit, "vgpr", count * row.need.get("vgpr", 0)) for unit, count in enumerate(counts)]
        result = []
        for unit, name, blocks in [*wanted, (-1, "shared", shared)]:
            if not blocks:
                continue
            taken = {
                at
                for life in here
                for u, n, at0, many in life.ranges
                if (u, n) == (unit, name)
                for at in range(at0, at0 + many)
            }
            size = self.levers.vgpr if name == "vgpr" else self.levers.shared
            starts = [at for at in range(size - blocks + 1) if not taken & set(range(at, at + blocks))]
            if not starts:
                return None
            result.append((unit, name, starts[0], blocks))
        slots = [sum(life.counts[unit] for life in here) + count for unit, count in enumerate(counts)]
        if max(slots) > self.levers.slots or len(here) >= self.levers.groups_a_module:
            return None
        return result or [(-1, "nothing", 0, 0)]

    def score(self, module: int, now: int) -> Fraction:
        if self.levers.choice == "first":
            return Fraction(0)
        mine = [life for life in self.lives if life.module == module]
        if self.levers.choice == "waves":
            return Fraction(sum(sum(life.counts) for life in mine if life.end > now))
        cycles = [(life, max(min(now, life.end) - max(life.begin, now - self.levers.nx), 0)) for life in mine]
        return sum((self.energy(life) * many for life, many in cycles), Fraction(0))

    def energy(self, life: Life) -> Fraction:
        """R75, R76, E23: of a cycle, the share of its waves, rounded once."""
        row, part = self.rows[life.part.group], life.part
        each = [Fraction(n * part.waves * ONE, row.waves * row.duration) for n in row.instructions]
        return sum(
            (Fraction(w * floor(n + Fraction(1, 2)), ONE) for w, n in zip(self.levers.weights, each)), Fraction(0)
        )

    # Stuck groups ----------------------------------------------------------------------------------------------------

    def split(self, now: int) -> None:
        """R25-R28, E9-E12."""
        for channel, head in self.heads(now).items():
            if not self.rows[head.group].independent or head.waves < 2:
                continue
            parts = head.waves if self.levers.into == "waves" else 2
            level = {"inherit": head.level, "lowest": self.levels, "below_all": self.levels + 1}[
                self.levers.sub_priority
            ]
            waves = [len(range(k, head.waves, parts)) for k in range(parts)]
            self.queues[channel][:1] = [Part(head.group, n, level, self.levers.divides) for n in waves]
            self.splits.append([now, head.group, parts])
            self.g = 0
