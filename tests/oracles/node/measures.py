"""Numbers of a run (spec 6, section 7)."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

from tests.oracles.node.groups import Group
from tests.oracles.node.node import Simulation, simulate
from tests.oracles.node.times import PARTS, parts_of

ALPHA = 0.1
"""Share of the way to its steady temperature that a module goes in one window."""


def measures(run: Simulation) -> dict[str, Any]:
    """Return the measures of a run that need no other run."""
    end = makespan(run)
    seconds = end / (run.node.machine.clock_mhz * 1e6)
    ended, steps = len(ended_groups(run)), len(run.log.of("node", "step"))
    return {
        "makespan_cycles": end,
        "groups_per_second": ended / seconds if end else 0.0,
        "steps_per_second": steps / seconds if end else 0.0,
        **_quantiles(run),
        **_fragmentation(run, end),
        **_touches(run),
        "walker_share": _share(run, "walkers"),
        "shootdowns": run.shootdowns,
        "stalled_modules": run.stalled_modules,
        **_heat(run, end),
    }


def makespan(run: Simulation) -> int:
    """Return the cycle of the last end of a step."""
    return max((row.cycle for row in run.log.of("node", "step")), default=0)


def ended_groups(run: Simulation) -> list[Group]:
    """Return the groups that have ended."""
    return [group for program in run.programs for group in program.groups if group.ended_at is not None]


def time_of(group: Group) -> int:
    """Return the cycles from the end of the step before a group's kernel to its own end."""
    assert group.ended_at is not None
    return group.ended_at - group.reached_at


def at_rank(run: Simulation, percent: int) -> Group | None:
    """Return the group at rank ceil(percent n / 100) by (time, key), none if no group ended."""
    ranked = sorted(ended_groups(run), key=lambda group: (time_of(group), group.key))
    return ranked[-(-percent * len(ranked) // 100) - 1] if ranked else None


def _quantiles(run: Simulation) -> dict[str, Any]:
    groups = {f"group_p{percent}": at_rank(run, percent) for percent in (50, 99)}
    times = {f"{name}_cycles": time_of(group) for name, group in groups.items() if group}
    return times | {f"{name}_parts": parts_of(run, group) for name, group in groups.items() if group}


def _fragmentation(run: Simulation, end: int) -> dict[str, float]:
    modules = [gauges for one in run.dispatchers for gauges in one.fragmentation]
    live, reserved = run.pool.live.mean(end), run.pool.reserved.mean(end)
    return {
        "fragmentation_shared": statistics.fmean(shared.mean(end) for shared, _ in modules),
        "fragmentation_registers": statistics.fmean(registers.mean(end) for _, registers in modules),
        "fragmentation_cards": statistics.fmean(gauge.mean(end) for gauge in run.pool.fragmentation),
        "reserved_over_live": reserved / live if live else 1.0,
        "rounding_bytes": run.pool.rounding_bytes,
    }


def _touches(run: Simulation) -> dict[str, float]:
    remote = run.remote_touches / run.touches if run.touches else 0.0
    return {"touches": run.touches, "remote_share": remote}


def _share(run: Simulation, part: str) -> float:
    totals = [parts_of(run, group) for group in ended_groups(run)]
    time = sum(total[name] for total in totals for name in PARTS)
    return sum(total[part] for total in totals) / time if time else 0.0


def _heat(run: Simulation, end: int) -> dict[str, float]:
    """Return the variation of power over modules and windows, and the largest spread of temperature."""
    spreads, powers = [0.0], []
    for card, dispatcher in enumerate(run.dispatchers):
        machine = run.node.machine.cards[card].dispatch
        warmth = [0.0] * machine.modules
        for first in range(0, end, machine.history_cycles):
            until = min(first + machine.history_cycles, end)
            weights = dict(machine.weights)
            power = [one.energy(first, until, weights) / (until - first) for one in dispatcher.histories]
            warmth = [now + ALPHA * (steady - now) for now, steady in zip(warmth, power)]
            powers += power
            spreads.append(max(warmth) - min(warmth))
    mean = statistics.fmean(powers) if powers else 0.0
    return {"power_cv": statistics.pstdev(powers) / mean if mean else 0.0, "temperature_spread": max(spreads)}


def slowdowns(run: Simulation) -> list[float]:
    """Return by application its time over its time in a run of its own."""
    times = [_time(run, number) for number in range(len(run.programs))]
    alone = [_time(_alone(run, number), 0) for number in range(len(run.programs))]
    return [time / max(one, 1) for time, one in zip(times, alone)]


def _alone(run: Simulation, number: int) -> Simulation:
    """Run one application by itself, with the numbers by chance that it had."""
    applications = tuple(
        one if k == number else dataclasses.replace(one, streams=()) for k, one in enumerate(run.node.applications)
    )
    result = simulate(dataclasses.replace(run.node, applications=applications))
    result.programs = [result.programs[number]]
    return result


def _time(run: Simulation, number: int) -> int:
    program = run.programs[number]
    end = program.ended_at if program.ended_at is not None else run.calendar.now
    return end - program.application.arrival


def fairness(run: Simulation) -> float:
    """Return Jain's index of the applications' speeds, each relative to a run of its own."""
    return jain([1 / max(slowdown, 1e-12) for slowdown in slowdowns(run)])


def jain(values: Sequence[float]) -> float:
    """Return (sum)^2 / (n x sum of squares)."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0
