"""One number a point: the mean of a measure over the seeds, or of what it gains on its baseline at the same seeds."""

from __future__ import annotations

import math
from typing import Literal

from workbench.errors import InputError
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.row import run_id
from workbench.experiments.run_set import RunSet
from workbench.metrics.measure import Measure

Of = Literal["mean", "gain"]


def outputs(runs: RunSet, measure: Measure, of: Of) -> dict[str, float]:
    """Return the output of every point by its id; with `gain`, of those that have a baseline.

    All points share their seeds, so an output is a function of the levers alone.

    Raises
    ------
    InputError
        A run is missing, failed, or has no finite value.
    """
    means = {point.id: _values(runs, point, measure) for point in runs.points}
    if of == "mean":
        return {id: math.fsum(values) / len(values) for id, values in means.items()}
    sign = -1.0 if measure.better == "higher" else 1.0
    compared = {point.id: str(point.baseline) for point in runs.points if point.baseline is not None}
    return {id: sign * _mean_difference(means[baseline], means[id]) for id, baseline in compared.items()}


def _mean_difference(baseline: list[float], other: list[float]) -> float:
    return math.fsum(a - b for a, b in zip(baseline, other, strict=True)) / len(other)


def _values(runs: RunSet, point: PlannedPoint, measure: Measure) -> list[float]:
    """Return the measure at every seed, in their order."""
    by_seed = runs.values(point, measure.name)
    for seed in runs.seeds:
        if not math.isfinite(by_seed.get(seed, math.nan)):
            raise InputError(
                f"sensitivity needs a finite {measure.name} of every run: {_why(runs, point, seed, by_seed)}"
            )
    return [by_seed[seed] for seed in runs.seeds]


def _why(runs: RunSet, point: PlannedPoint, seed: int, by_seed: dict[int, float]) -> str:
    row = runs.rows.get(run_id(point.id, seed))
    place = ", ".join(f"{path} = {value}" for path, value in point.coordinates.items())
    where = f"seed {seed} where {place}" if place else f"seed {seed}"
    if row is None:
        return f"{where} has not been run."
    return f"{where} failed: {row.error}" if row.status != "done" else f"{where} gave {by_seed[seed]:g}."
