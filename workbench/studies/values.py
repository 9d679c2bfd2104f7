"""A measure of a point by seed, with what is missing as such: the two sides of every paired comparison."""

from __future__ import annotations

import math

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet


def by_seed(runs: RunSet, point: PlannedPoint, measure: str) -> dict[int, float]:
    """Return one value a seed of the sweep: NaN where the run failed, is missing, or has no such value.

    An infinite value is one: the worst there is, and it is not left out. It stands where a measure is missing because
    something was refused in the run (`Measure.refusals`): who refuses does less, and may not win by it.
    """
    known, refused = runs.values(point, measure), runs.refused(point, measure)
    worst = -math.inf if runs.plan.sweep.mechanism.measures[measure].better == "higher" else math.inf
    return {seed: worst if seed in refused else known.get(seed, math.nan) for seed in runs.seeds}


def values_of(runs: RunSet, point: PlannedPoint, measure: str) -> dict[int, float]:
    """Return the values by seed, infinite ones included; seeds without a value are left out."""
    return {seed: value for seed, value in runs.values(point, measure).items() if not math.isnan(value)}
