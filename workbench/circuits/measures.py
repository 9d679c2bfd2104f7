"""What the circuits of a point's policies cost as hardware: measures of its setup, computed where a sweep names them.

Of a dispatcher: the probes of one execution unit, a circuit for each of its contiguous resources, or the shared one for
all of them. Of shared memory: the placement. Gates, areas and registers of several circuits add up, the longest way is
that of the slowest. A policy that has no circuit has no cost either: NaN. One synthesis a circuit serves all runs, and
all later sweeps (`workbench.circuits.synthesis`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from workbench.circuits.registry import Size, circuit_of, has_circuit
from workbench.circuits.synthesis import Counts, known, synthesised
from workbench.engines.kit.engine import Setup
from workbench.errors import WorkbenchError
from workbench.mechanisms.user_measure import UserMeasure
from workbench.metrics.measure import Measure
from workbench.policies.policy import Policy


class Parts(NamedTuple):
    """The circuits of a point."""

    circuits: tuple[tuple[Policy, Size], ...]
    """A policy and a size each."""
    cycles: int
    """Until all of them have answered again: of a shared probe, those of all periods."""


def parts_of(setup: Setup) -> Parts:
    """Return the circuits that a setup is judged by.

    >>> import workbench as wb
    >>> plan = wb.plan({"engine": "dispatch", "machine": "patent_dispatch", "workload": {"synthetic": "random_groups"}})
    >>> [(probe.name, blocks) for probe, blocks in parts_of(plan.points[0].setup).circuits]
    [('exact_run', 128), ('exact_run', 64)]
    """
    if setup.engine == "shared_memory":
        return Parts(((setup.policies["placement"], setup.machine.segments),), 1)
    probe: Any = setup.policies["probe"]
    blocks = [one.blocks for one in setup.machine.resources() if one.contiguous and one.level == "unit"]
    schedule = probe.schedule(blocks) if blocks else None
    if schedule is not None:
        return Parts(((probe, tuple(blocks)),), schedule.periods * schedule.cycles_a_period)
    return Parts(tuple(zip(probe.serving(blocks), blocks, strict=True)), probe.round_cycles(blocks))


def check_circuits(setup: Setup) -> None:
    """Refuse, before anything runs, a lever or a size that a circuit cannot have, and a synthesis without its tool.

    Raises
    ------
    WorkbenchError
        There is such a lever or size, or a circuit must be synthesized and no synthesizer is installed.
    """
    for policy, size in parts_of(setup).circuits:
        if has_circuit(policy):
            _checked(policy, size)


def _sum(values: Sequence[float]) -> float:
    return float(sum(values))


def area_gates(setup: Setup) -> float:
    """Return the gates of two inputs, and inverters."""
    return _over(setup, _sum, [one.area_gates for one in _counts_of(setup)])


def levels(setup: Setup) -> float:
    """Return the gates on the longest way of a cycle."""
    return _over(setup, max, [one.levels for one in _counts_of(setup)])


def registers(setup: Setup) -> float:
    """Return the flip-flops."""
    return _over(setup, _sum, [one.registers for one in _counts_of(setup)])


def relative_area(setup: Setup) -> float:
    """Return the area in NAND gates of two inputs."""
    return _over(setup, _sum, [one.relative_area for one in _counts_of(setup)])


def relative_delay(setup: Setup) -> float:
    """Return the time to an answer, in FO4."""
    cycles = parts_of(setup).cycles
    return _over(setup, max, [cycles * one.relative_delay for one in _counts_of(setup)])


def _over(setup: Setup, joined: Callable[[Sequence[float]], float], values: Sequence[float]) -> float:
    """Join the values of all circuits; NaN where one is missing."""
    return float(joined(values)) if values and len(values) == len(parts_of(setup).circuits) else math.nan


def _counts_of(setup: Setup) -> list[Counts]:
    """Return the figures of every circuit that there is."""
    outcomes = [_outcome(policy, size) for policy, size in parts_of(setup).circuits if has_circuit(policy)]
    for outcome in outcomes:
        if isinstance(outcome, str):
            raise WorkbenchError(outcome)
    return [outcome for outcome in outcomes if isinstance(outcome, Counts)]


@lru_cache(maxsize=1024)
def _outcome(policy: Policy, size: Size) -> Counts | str:
    """Return the figures of a circuit, or why there are none: what took too long is not tried again at each seed."""
    try:
        return synthesised(circuit_of(policy, size))
    except WorkbenchError as problem:
        return str(problem)


@lru_cache(maxsize=1024)
def _checked(policy: Policy, size: Size) -> None:
    known(circuit_of(policy, size))


_WHOSE = {
    "dispatch": "the probes of one execution unit",
    "shared_memory": "the placement's circuit",
}


def _declared(engine: str) -> dict[str, UserMeasure]:
    of = _WHOSE[engine]
    declared = [
        (area_gates, "gates", f"{of}, synthesised: gates of two inputs, and inverters"),
        (levels, "gates", f"{of}, synthesised: gates on the longest way of a cycle"),
        (registers, "flip-flops", f"{of}: flip-flops"),
        (relative_area, "NAND2", f"{of}, synthesised: area in NAND gates of two inputs, flip-flops included"),
        (relative_delay, "FO4", f"{of}, synthesised: how long an answer takes, all of its cycles together"),
    ]
    return {
        function.__name__: UserMeasure(
            Measure(function.__name__, unit, "lower", description), function, of="setup", check=check_circuits
        )
        for function, unit, description in declared
    }


DISPATCH, SHARED_MEMORY = _declared("dispatch"), _declared("shared_memory")
"""The measures by name."""
