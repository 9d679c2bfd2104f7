"""What contiguous placement costs in residency: the workgroups of a trace in one unit, as the rules of six GPUs place
them.

Each workgroup stays as long under every rule. So the mean number that a unit holds at once, until it is through with
all of them, is the sum of their durations over the cycles that this takes, the drain time. A rule's lost residency is
1 - drain time of a memory without addresses / drain time of the rule, run by run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.plan import Plan, PlannedPoint, make_plan
from workbench.experiments.sweep import read_sweep
from workbench.studies.statistics import Interval, mean_interval

BYTES = "byte_counter"
"""A memory without addresses: what fits in bytes is granted."""
RULES = ("first_fit", "unsorted_free_list", "worst_fit", "best_fit", "ring_buffer", "nearest_boundary")
"""As MGPUSim, gem5 (vector registers), MIAOW, Ventus and Vortex place, and the source document; gem5's LDS and
GPGPU-Sim count bytes."""
Arrival = Literal["all_at_once", "recorded"]


class RuleLoss(NamedTuple):
    """What one rule costs at one granule."""

    rule: str
    granule_bytes: int
    arrival: Arrival
    units: int
    """Units whose share of the trace was run, each a run of its own."""
    lost: Interval
    """Residency lost against bytes at the same granule, 0 to 1, with its 95 % interval over the units."""
    blocked: float
    """Share of the time in which a workgroup waits that none of the holes was long enough though all together were."""


def by_rule(
    workload: Mapping[str, Any],
    machine: Mapping[str, Any],
    rules: Sequence[str] = RULES,
    arrival: Arrival = "all_at_once",
    units: int = 20,
) -> list[RuleLoss]:
    """Return what each rule costs on a trace, each seed the share of another unit.

    Parameters
    ----------
    workload : mapping
        A recorded trace as a sweep says it: `{"trace": NAME, ...}` and levers of `trace_workgroups`; or another
        workload of the engine, whose seeds then are draws instead of units.
    machine : mapping
        Of the engine `shared_memory`, such as `{"preset": "mi350x"}`, with the granule in it.
    rules : sequence of str
        Names of placement policies.
    arrival : {"all_at_once", "recorded"}
        The two ends of what a trace does not tell: which kernels' workgroups met on a unit.
    units : int
        How many runs.

    Raises
    ------
    InputError
        The trace, the machine or a rule cannot be used; the sentence says why.

    Examples
    --------
    >>> made = {"regime": "large_uniform", "count": 100}
    >>> [(one.rule, one.lost.mean > 0) for one in by_rule(made, {"segments": 128}, ["best_fit"], units=3)]
    [('best_fit', True)]
    """
    if units < 1:
        raise InputError(f"by_rule: units must be at least 1. Got {units}.")
    plan = make_plan(read_sweep(_sweep(workload, machine, rules, arrival, units)))
    runs = {_rule(point): _measured(plan, point) for point in plan.points}
    granule = plan.points[0].setup.machine.granule_bytes
    return [_loss(rule, granule, arrival, runs[BYTES], runs[rule]) for rule in rules]


def _sweep(
    workload: Mapping[str, Any], machine: Mapping[str, Any], rules: Sequence[str], arrival: Arrival, units: int
) -> dict[str, Any]:
    of_trace = {"unit": -1, "arrival": arrival} if "trace" in workload else {}
    return {
        "engine": "shared_memory",
        "machine": dict(machine),
        "workload": {**workload, **of_trace},
        "policy": {"placement": {"vary": list(dict.fromkeys([BYTES, *rules]))}},
        "seeds": units,
    }


def _rule(point: PlannedPoint) -> str:
    return str(point.setup.policies["placement"].name)


def _measured(plan: Plan, point: PlannedPoint) -> np.ndarray:
    """Return drain time and share of waiting for want of a long hole, of every run of a point: float64[seeds, 2]."""
    mechanism = plan.sweep.mechanism
    records = (mechanism.engine.simulate(point.setup, seed) for seed in plan.sweep.seeds)
    measures = [mechanism.measure(record) for record in records]
    return np.array([(one["drain_cycles"], one["blocked_by_fragmentation_rate"]) for one in measures])


def _loss(rule: str, granule: int, arrival: Arrival, of_bytes: np.ndarray, of_rule: np.ndarray) -> RuleLoss:
    lost = 1 - of_bytes[:, 0] / np.maximum(of_rule[:, 0], 1)
    return RuleLoss(rule, granule, arrival, len(lost), mean_interval(lost), float(np.nan_to_num(of_rule[:, 1]).mean()))
