"""A measure of a point by seed, with what is missing as such: the two sides of every paired comparison."""

from __future__ import annotations

import math

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet


def by_seed(runs: RunSet, point: PlannedPoint, measure: str) -> dict[int, float]:
    """Return one value a seed of the sweep: NaN where the run failed, is missing, or has no such finite value."""
    known = runs.values(point, measure)
    return {seed: _finite(known.get(seed, math.nan)) for seed in runs.seeds}


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan
