"""The engine `dispatch` against a simulator of one page that asks no policy of the workbench, always saturated."""

from __future__ import annotations

import random
from typing import Any

from tests.engines.dispatch_cases import Case, Row, plain
from tests.engines.dispatch_strategies import in_queue_order
from tests.oracles.dispatch_clock import Clock, Levers
from tests.slow import LONG
from workbench.compiled import INTERPRETED
from workbench.policies.dispatch import (
    FirstModule,
    LeastRecentEnergy,
    LeastWaves,
    NeverSplit,
    NoPriority,
    OldestFirst,
    PriorityWindows,
    RotatedSplit,
    ServedMarks,
    SplitWhenStuck,
    StaticPriority,
    StrictBlocking,
    StrictPriority,
)
from workbench.policies.placement import FirstFit
from workbench.policies.probes import ExactRun

CONFIGURATIONS = 500 if LONG else 10 if INTERPRETED else 15
SELECTIONS = {
    "strict_blocking": StrictBlocking(),
    "strict_blocking lowest": StrictBlocking(equals="lowest"),
    "strict_priority": StrictPriority(),
    "oldest": OldestFirst(),
    "marks": ServedMarks(pick="lowest"),
}


def saturated(seed: int) -> tuple[Case, Levers]:
    """A small machine under 8 to 24 groups of a third of it and more, in its levers and in the policies' words."""
    chance = random.Random(seed)
    probe, rounds, units = chance.choice([1, 1, 3]), chance.randint(1, 7), chance.randint(1, 3)
    priority = chance.choice(["static", "none", "windows", "windows", "windows"])
    selections = {"windows": ["strict_blocking"], "none": ["marks"], "static": []}[priority]
    levers = Levers(
        modules=chance.choice([1, 1, 3, 4]),
        units=units,
        vgpr=16,
        shared=16,
        slots=8,
        groups_a_module=chance.choice([2, 8]),
        round_cycles=probe * rounds,
        dispatches_a_round=chance.choice([1, 1, 2, 3]),
        fail_init=chance.choice([0, 0, 2]),
        priority=priority,
        selection=chance.choice([*SELECTIONS, *selections * 8]),
        threshold=chance.choice([None, 1, 1, 2, 5]),
        into=chance.choice(["waves", "halves"]),
        sub_priority=chance.choice(["inherit", "lowest", "below_all"]),
        divides=chance.random() < 0.5,
        head_pointer=chance.random() < 0.5,
        choice=chance.choice(["first", "waves", *["energy"] * 4]),
        nx=2 ** chance.randint(1, 5),
    )
    most = chance.choice([9, 9, 10**6])
    rows = in_queue_order([group(chance, units, most) for _ in range(chance.randint(8, 24))])
    levels = max(row.priority for row in rows)
    if levers.priority == "windows":
        levers.lengths = [chance.randint(1, 20) for _ in range(chance.randint(1, levels + 1))]
    return Case(rows, **in_words(levers, probe, rounds)), levers


def group(chance: random.Random, units: int, most: int) -> Row:
    """A group that takes most of every unit's registers, or a few; up to `most` instructions of a class."""
    on_a_unit = chance.randint(1, 4)
    size = 16 // on_a_unit
    large = chance.random() < 0.5
    return Row(
        arrival=chance.choice([0, chance.randint(0, 4), chance.randint(0, 60)]),
        channel=chance.randrange(4),
        priority=chance.randint(1, 3),
        waves=units * (on_a_unit - 1) + chance.randint(1, units),
        duration=chance.choice([chance.randint(1, 30), chance.randint(80, 120)]),
        independent=chance.random() < 0.5,
        need={"vgpr": chance.randint(size // 2 + 1, size) if large else chance.randint(0, size // 4)}
        | {"shared": chance.choice([0, 0, chance.randint(1, 8)])},
        instructions=tuple(chance.choice([0, chance.randint(1, most)]) for _ in range(6)),
    )


def in_words(levers: Levers, probe: int, rounds: int) -> dict[str, Any]:
    windows = PriorityWindows(lengths=tuple(levers.lengths), unmatched=True, increasing=True)
    stuck = (
        NeverSplit()
        if levers.threshold is None
        else SplitWhenStuck(
            threshold=levers.threshold,
            into=levers.into,
            priority=levers.sub_priority,
            shared="divided" if levers.divides else "full",
        )
    )
    energy = LeastRecentEnergy(nx=levers.nx, weights=levers.weights)
    policies = {
        "priority": {"static": StaticPriority(), "none": NoPriority(), "windows": windows}[levers.priority],
        "selection": SELECTIONS[levers.selection],
        "stuck": stuck,
        "units": RotatedSplit(pointer="head" if levers.head_pointer else "tail"),
        "choice": {"first": FirstModule(), "waves": LeastWaves(), "energy": energy}[levers.choice],
        "placement": FirstFit(),
        "probe": ExactRun(timing="pipe_3cycle" if probe == 3 else "comb_1cycle"),
    }
    options = {
        "round_cycles": rounds,
        "dispatches_a_round": levers.dispatches_a_round,
        "fail_init": levers.fail_init,
    }
    shape = {"modules": levers.modules, "units": levers.units, "workgroups": levers.groups_a_module}
    return {**shape, "policies": policies, "options": options}


def test_saturated_combinations_equal_a_clock_that_looks_at_every_cycle() -> None:
    """Windows of 1 to 20 cycles, rounds of 1 to 7 and three times as long, splits of few instructions."""
    split = blocked = 0
    for seed in range(CONFIGURATIONS):
        case, levers = saturated(seed)
        record, clock = plain(case.engine()), Clock(levers, case.rows).run()
        lives, places = clock.lives, record["resources"]
        expected = {
            "group": [life.part.group for life in lives],
            "cycle": [life.begin for life in lives],
            "module": [life.module for life in lives],
            "level": [life.part.level for life in lives],
            "sent": [life.counts for life in lives],
            "rounds": clock.rounds,
            "head_rounds": clock.head_rounds,
            "failures": clock.failures,
            "splits": clock.splits,
        }
        assert {name: record[name] for name in expected} == expected, seed
        ranges = [
            [k, u, places.index(n), at, many] for k, life in enumerate(lives) for u, n, at, many in life.ranges if many
        ]
        assert [take for take in record["takes"] if take[3] >= 0] == ranges, seed
        split += bool(clock.splits)
        blocked += len(clock.failures) > 5
    assert split and blocked > 1
