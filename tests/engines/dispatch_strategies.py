"""Small dispatchers for hypothesis: machines, groups that fit an empty module, options and policies of every slot."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.engines.dispatch_cases import Case, Row
from tests.engines.dispatch_policies import EVERY, ROUND
from workbench.machine.machine import Resource
from workbench.policies.dispatch import (
    LeastDecayedEnergy,
    LeastRecentEnergy,
    MostResidual,
    PriorityWindows,
    SameChannel,
    StrictBlocking,
)
from workbench.policies.placement import FirstFit, NearestBoundary, RandomFit
from workbench.policies.probes import ExactRun, SharedRun

MORE = (
    Resource(label="acc", blocks=8),
    Resource(label="tokens", contiguous=False, blocks=5),
    Resource(label="cluster", level="module", blocks=8),
    Resource(label="tickets", level="module", contiguous=False, blocks=4),
)
"""Of each kind one; any two of them are added to the usual resources."""

MIXES = ((0, 0, 0, 0, 0, 0), (5, 3, 1, 0, 0, 2), (100, 7, 0, 300, 1, 0), (0, 0, 0, 1, 0, 0))
"""Instructions of a group by class."""


@st.composite
def machines(draw: Any, rounded: bool) -> dict[str, Any]:
    few = st.sampled_from([4, 8, 16]) if rounded else st.integers(2, 20)
    return {
        "modules": draw(st.integers(1, 4)),
        "units": draw(st.integers(1, 4)),
        "vgpr": draw(few),
        "sgpr": draw(few | st.just(0)),
        "slots": draw(st.integers(1, 5)),
        "shared": draw(few),
        "workgroups": draw(st.integers(1, 4)),
        "barriers": draw(st.sampled_from([0, 0, 1, 2])),
        "more": tuple(draw(st.lists(st.sampled_from(MORE), unique=True, max_size=2))),
    }


@st.composite
def rows(draw: Any, machine: dict[str, Any], levels: int, channels: int) -> Row:
    """A group that fits an empty module when its waves are shared out evenly."""
    waves = draw(st.integers(1, machine["units"] * machine["slots"]))
    on_a_unit = -(-waves // machine["units"])
    most = {"vgpr": machine["vgpr"] // on_a_unit, "sgpr": machine["sgpr"] // on_a_unit, "shared": machine["shared"]}
    for more in machine["more"]:
        most[more.label] = more.blocks // on_a_unit if more.level == "unit" else more.blocks
    return Row(
        arrival=draw(st.just(0) | st.integers(0, 40)),
        channel=draw(st.integers(0, channels - 1)),
        priority=draw(st.integers(1, levels)),
        waves=waves,
        duration=draw(st.integers(1, 12) | st.integers(1, 60) | st.just(200)),
        independent=draw(st.booleans()),
        need={name: draw(st.just(0) | st.integers(0, blocks)) for name, blocks in most.items()},
        instructions=draw(st.sampled_from(MIXES)),
    )


OPTIONS = st.fixed_dictionaries(
    {
        "dispatches_a_round": st.sampled_from([1, 1, 2, 5]),
        "round_cycles": st.sampled_from([1, 1, 1, 3]),
        "fail_init": st.sampled_from([0, 0, 2]),
        "blocks_on_a_unit": st.sampled_from(["aggregated", "per_wave"]),
        "module_tie": st.sampled_from(["lowest", "random", "rotating"]),
    }
)


def in_queue_order(given: list[Row]) -> list[Row]:
    """Arrivals that do not decrease within a channel; across channels they come as drawn."""
    left = {channel: sorted(row.arrival for row in given if row.channel == channel) for channel in range(64)}
    return [row._replace(arrival=left[row.channel].pop(0)) for row in given]


@st.composite
def cases(draw: Any, most: int = 14) -> Case:
    """A machine of any shape or of round numbers, and policies that go with it."""
    rounded, levels, channels = draw(st.booleans()), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    machine = draw(machines(rounded))
    given = draw(st.lists(rows(machine, levels, channels), min_size=1, max_size=most))
    chosen = {
        slot: draw(st.sampled_from(result + (ROUND.get(slot, []) if rounded else []))) for slot, result in EVERY.items()
    }
    options = draw(OPTIONS)
    if rounded and options["blocks_on_a_unit"] == "per_wave":
        given = [row._replace(need={name: _rounded(need) for name, need in row.need.items()}) for row in given]
    return Case(in_queue_order(given), **machine, policies=chosen, options=options, seed=draw(st.integers(0, 9)))


def _rounded(need: int) -> int:
    """A power of two: a policy that rounds each wave's blocks up would not fit all waves of a group into a unit."""
    return 1 << need.bit_length() - 1 if need else 0


@st.composite
def combinations(draw: Any) -> Case:
    """What waits while nothing happens, combined: windows, long rounds, slow probes, blocked channels, splits.

    One or two small modules under more groups than they hold; most take half of one or more for a long time. Windows
    are 1 to 20 cycles long, one a priority, or more or fewer of them than priorities; a wave's share of a group's
    instructions is below 1.
    """
    levels, units = draw(st.integers(2, 3)), draw(st.integers(1, 2))
    lengths = draw(st.lists(st.integers(1, 20), min_size=2, max_size=levels + 1))
    slow = [SharedRun(width=20, cycles_a_period=3), SharedRun(width=20, stale="forget", cycles_a_period=2)]
    policies = {
        "priority": PriorityWindows(lengths=tuple(lengths), unmatched=True, increasing=True),
        "selection": draw(
            st.sampled_from(
                [StrictBlocking(), StrictBlocking(), StrictBlocking(equals="lowest"), SameChannel(blocks=True)]
            )
        ),
        "stuck": draw(st.sampled_from(EVERY["stuck"])),
        "probe": draw(st.sampled_from([ExactRun(), ExactRun(timing="pipe_3cycle"), *slow])),
        "choice": draw(st.sampled_from([LeastRecentEnergy(nx=8), LeastDecayedEnergy(half_life=5), MostResidual()])),
        "placement": draw(st.sampled_from([FirstFit(), RandomFit(), NearestBoundary()])),
    }
    options = {
        "round_cycles": draw(st.integers(2, 7) | st.just(1)),
        "dispatches_a_round": draw(st.sampled_from([1, 1, 3])),
    }
    shape = {"modules": draw(st.sampled_from([1, 1, 2])), "units": units, "slots": 8}
    given = in_queue_order(draw(st.lists(blockers(units, levels), min_size=6, max_size=14)))
    return Case(given, **shape, policies=policies, options=options, seed=draw(st.integers(0, 9)))


@st.composite
def blockers(draw: Any, units: int, levels: int) -> Row:
    """A group of one of three channels; half of them take most of every unit's registers, half of them few."""
    waves = draw(st.integers(1, 4)) * units
    most = 16 // (waves // units)
    blocks = st.integers(most // 2 + 1, most) if draw(st.booleans()) else st.integers(0, most // 4)
    return Row(
        arrival=draw(st.integers(0, 3) | st.integers(0, 40)),
        channel=draw(st.integers(0, 2)),
        priority=draw(st.integers(1, levels)),
        waves=waves,
        duration=draw(st.integers(1, 30) | st.integers(80, 120)),
        independent=draw(st.booleans()),
        need={"vgpr": draw(blocks), "shared": draw(st.integers(0, 2))},
        instructions=draw(st.tuples(*[st.integers(0, 9)] * 6)),
    )
