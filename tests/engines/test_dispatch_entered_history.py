"""What others enter: as the groups' own where it says the same, and cycle by cycle (spec 6, R16; spec 3, R75)."""

from __future__ import annotations

import dataclasses
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.engines.dispatch_cases import Case, Row
from tests.engines.dispatch_policies import WARM
from tests.engines.dispatch_stepping import Asked, Request, advance, assert_same_record, finished, part_of, take_next
from tests.engines.stepping import REFUSED, ask, next_event
from tests.engines.test_dispatch import crowded
from tests.slow import seeds
from workbench.engines.dispatch.part import FULL
from workbench.engines.kit.order import RANK
from workbench.machine.power import ClassPower, RcHeat
from workbench.policies.dispatch import (
    LeastDecayedEnergy,
    LeastRecentActivity,
    LeastRecentEnergy,
    MostResidual,
    SplitWhenStuck,
    WeightedChoice,
)
from workbench.structures.timetable import NEVER

HEATED: dict[str, Any] = {"power": ClassPower(), "heat": RcHeat(step_cycles=4, capacity_j_per_k=1e-9)}
PAST = [
    LeastRecentEnergy(nx=4),
    LeastRecentEnergy(nx=64),
    LeastRecentActivity(nx=16),
    LeastDecayedEnergy(half_life=1),
    LeastDecayedEnergy(half_life=8),
    WeightedChoice(
        choices=(LeastRecentActivity(nx=8), MostResidual(), LeastDecayedEnergy(half_life=4), LeastRecentEnergy(nx=32)),
        weights=(0.5, 0.1, 1.5, 0.25),
    ),
    WARM,
]


@pytest.mark.parametrize("policy", PAST, ids=lambda policy: policy.short())
def test_what_is_entered_evenly_is_what_groups_execute_evenly(policy: Any) -> None:
    """Whole instructions a cycle: nothing is rounded, so every choice is the same; sub-groups have their share."""
    case = crowded(2, policies={"choice": policy, "stuck": SplitWhenStuck(threshold=3)}, options=HEATED)
    rows = [
        row._replace(instructions=tuple((k + s) % 3 * row.duration * row.waves for s in range(6)))
        for k, row in enumerate(case.rows)
    ]
    case = dataclasses.replace(case, rows=rows)
    record = case.engine()
    entries = 60 if max(term.history_cycles() for term, _ in policy.terms()) <= 16 else 120
    part = part_of(case, record, entries=entries)
    entered = played(case, part)
    assert_same_record(part, record)
    assert entered > entries, "room is made"
    assert len(set(record.module.tolist())) > 1


def execute(part: Asked, *entry: int) -> int:
    """Enter what a module executes: the module, the class, the first cycle, how many cycles, the amount."""
    return part.called("enter_history", *entry)


def played(case: Case, part: Asked) -> int:
    """Take event by event; of each grant, enter what it executes; return how often something was entered."""
    rows, entered = sorted(range(len(case.rows)), key=lambda row: case.rows[row].arrival), 0
    while rows or next_event(part)[0] != NEVER:
        if rows and (case.rows[rows[0]].arrival, RANK.steps) < next_event(part):
            ask(part, Request(case.rows[rows[0]].arrival, rows.pop(0)))
        else:
            take_next(part)
        for one in (one for one in finished(part) if not one.ended):
            group = case.rows[one.ticket]
            for kind, amount in enumerate(group.instructions):
                if amount:
                    share = amount * one.waves // group.waves
                    execute(part, one.module, kind, one.cycle, group.duration, share)
                    entered += 1
    return entered


class Entry(NamedTuple):
    """What was entered, slowly."""

    first: int
    cycles: int
    amount: int

    def until(self, cycle: int) -> int:
        """Return how much of it was executed before a cycle (N10)."""
        return self.amount * min(max(cycle - self.first, 0), max(self.cycles, 1)) // max(self.cycles, 1)


class Slow:
    """The past of one module: entries a class, and counters that are halved."""

    def __init__(self, period: int) -> None:
        self.period, self.entries = period, [list[Entry]() for _ in range(8)]
        self.halved, self.read, self.at = [0] * 8, [0] * 8, 0

    def window(self, cycle: int, nx: int) -> list[int]:
        ends = (cycle, max(cycle - nx, 0))
        last, first = ([sum(one.until(end) for one in entries) for entries in self.entries] for end in ends)
        return [a - b for a, b in zip(last, first, strict=True)]

    def decayed(self, cycle: int) -> list[float]:
        """Every cycle: halved in multiples of the period, then what was executed, or came to be known, is added."""
        for now in range(self.at, cycle):
            for kind, entries in enumerate(self.entries):
                if now % self.period == 0:
                    self.halved[kind] >>= 1
                executed = sum(one.until(now + 1) for one in entries)
                self.halved[kind] += executed - self.read[kind] << 20
                self.read[kind] = executed
        self.at = cycle
        return [count / (1 << 20) for count in self.halved]


class Eight(LeastDecayedEnergy):
    """Decayed counters of waits, too."""

    classes = 8

    def check(self) -> None: ...


@pytest.mark.parametrize("seed", seeds(2, 20))
@pytest.mark.parametrize("halves", [False, True])
def test_what_a_policy_sees_of_what_was_entered_late_or_ahead(seed: int, halves: bool) -> None:
    random = Random(seed)
    reach = random.choice([1, 4, 16, 128])
    policy = Eight(weights=(1,) * 8, half_life=reach) if halves else LeastRecentActivity(nx=reach)
    case = Case([Row()] * 60, modules=2, slots=99, workgroups=99, policies={"choice": policy})
    part, slow, at = part_of(case, ends_on_request=1, entries=4096), [Slow(reach), Slow(reach)], 0
    for group in range(60):
        at += random.choice([1, 1, 2, 9, 40, 700])
        for _ in range(random.choice([0, 1, 3])):
            enter(part, slow, random, at)
        ask(part, Request(at, group))
        take_next(part)
        (began,) = finished(part)
        assert began.cycle == at
        seen = part.lent.state.recent[1].reshape(2, 8).tolist()
        assert seen == [one.decayed(at) if halves else one.window(at, reach) for one in slow]


def enter(part: Asked, slow: list[Slow], random: Random, now: int) -> None:
    first = max(now + random.choice([-90, -20, -3, 0, 0, 1, 30]), 0)
    module, kind = random.randrange(2), random.randrange(8)
    entry = Entry(first, random.choice([0, 1, 5, 33, 200]), random.choice([1, 7, 50, 1000]))
    assert execute(part, module, kind, *entry) == 0
    slow[module].entries[kind].append(entry)


def test_waits_have_an_energy_of_their_own() -> None:
    """A microjoule a cycle of one wait warms the module that waits, and the next group goes to the other."""
    case = Case([Row(duration=500)], modules=2, policies={"choice": WARM}, options=HEATED)
    for module, kind, waits_pj in ((0, 6, (1e6, 0.0)), (1, 6, (1e6, 0.0)), (0, 7, (0.0, 1e6)), (1, 7, (0.0, 1e6))):
        part = part_of(case, entries=4096)
        part.lent.policies.warmth.joules[-2:] = np.array(waits_pj) * 1e-12
        execute(part, module, kind, 0, 100, 100)
        execute(part, 1 - module, 13 - kind, 0, 100, 100)
        ask(part, Request(100, 0))
        advance(part, (101, 0))
        assert [one.module for one in finished(part)] == [1 - module]


def test_a_part_whose_policies_read_no_past_keeps_none() -> None:
    part = part_of(Case([Row()]), entries=4096)
    assert execute(part, 0, 0, 5, 5, 5) == 0
    assert part.lent.state.span.size == 0


@pytest.mark.parametrize(
    "entry",
    [(2, 0, 0, 1, 1), (0, 8, 0, 1, 1), (0, 0, -1, 1, 1), (0, 0, 0, 1 << 40, 1 << 40)],
    ids=["no such module", "no such class", "before cycle 0", "too much to be counted"],
)
def test_what_may_not_be_entered(entry: tuple[int, ...]) -> None:
    part = part_of(Case([Row()], modules=2, policies={"choice": LeastRecentEnergy()}), entries=4096)
    assert execute(part, *entry) == REFUSED


def test_more_than_there_is_room_for() -> None:
    case = Case([Row()] * 2, policies={"choice": LeastRecentEnergy(nx=8)})
    part = part_of(case, entries=2)
    for first in (0, 4):
        execute(part, 0, 1, first, 2, 2)
    assert execute(part, 0, 1, 5, 2, 2) == FULL
    ask(part, Request(11, 0))
    advance(part, (12, 0))
    assert execute(part, 0, 1, 5, 2, 2) == 0, "of the first, all was over 8 cycles before"
