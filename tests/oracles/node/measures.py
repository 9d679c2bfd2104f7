"""Numbers of a run (spec 6, section 7)."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Any

from tests.oracles.node.groups import Group
from tests.oracles.node.history import History
from tests.oracles.node.node import Simulation, simulate
from tests.oracles.node.streams import Program
from tests.oracles.node.times import PARTS, parts_of


def measures(run: Simulation) -> dict[str, Any]:
    """Return the measures of a run that need no other run."""
    end = makespan(run)
    seconds = end / (run.node.machine.clock_mhz * 1e6)
    ended, steps = len(ended_groups(run)), len(run.log.of("node", "step"))
    times = {
        "makespan_cycles": end,
        "groups_per_second": ended / seconds if end else 0.0,
        "steps_per_second": steps / seconds if end else 0.0,
        **_quantiles(run),
        "walker_share": _share(run, "walkers"),
    }
    refused = any(program.refused for program in run.programs)  # less was done: sooner is not faster
    return {
        **({} if refused else times),
        **_fragmentation(run, end),
        **_touches(run),
        "applications_refused": sum(program.refused for program in run.programs),
        "groups_refused": sum(program.refused_groups for program in run.programs),
        "shootdowns": run.shootdowns,
        "stalled_modules": run.stalled_modules,
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


def power_windows(run: Simulation, window: int, picojoules: dict[str, float], idle_watts: float) -> list[list[float]]:
    """Return window by window the watts of every module, card by card; the last window ends with the makespan."""
    histories = [history for dispatcher in run.dispatchers for history in dispatcher.histories]
    spans = [(first, min(first + window, makespan(run))) for first in range(0, makespan(run), window)]
    to_watts = run.node.machine.clock_mhz / 1e6
    return [
        [idle_watts + _picojoules(one, *span, picojoules) * to_watts / (span[1] - span[0]) for one in histories]
        for span in spans
    ]


def _picojoules(history: History, first: int, end: int, picojoules: dict[str, float]) -> float:
    """Return the energy of what a module executes from a cycle (included) to another (excluded), each span evenly."""
    return sum(
        picojoules.get(span.kind, 0.0) * span.amount * max(min(end, span.end) - max(first, span.begin), 0)
        / (span.end - span.begin)
        for span in history.spans
    )  # fmt: skip


def speeds(run: Simulation) -> list[float]:
    """Return the speed of each application as a share of that in a run of its own; 0 of one that does not end there."""
    shared = [_time(program) for program in run.programs]
    alone = [_time(_alone(run, number).programs[number]) for number in range(len(run.programs))]
    return [0.0 if time is None else one / time if time else 1.0 for time, one in zip(shared, alone) if one is not None]


def _alone(run: Simulation, number: int) -> Simulation:
    """Run one application by itself, with the numbers by chance that it had."""
    applications = tuple(
        one if k == number else dataclasses.replace(one, streams=()) for k, one in enumerate(run.node.applications)
    )
    return simulate(dataclasses.replace(run.node, applications=applications))


def _time(program: Program) -> int | None:
    """Return how long an application took; None if it was refused or did not end."""
    if program.ended_at is None or program.refused:
        return None
    return program.ended_at - program.application.arrival
