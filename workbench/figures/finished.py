"""What the finished runs of a point hold, or one sentence that says why a figure cannot be drawn of them."""

from __future__ import annotations

import math
from typing import Any

from workbench.errors import InputError
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet


def records(runs: RunSet, point: PlannedPoint, figure: str) -> list[Any]:
    """Return what happened in the finished runs of a point, simulated again, in the order of the seeds.

    Raises
    ------
    InputError
        The point has no finished run.
    """
    result = runs.records(point)
    if not result:
        raise none_finished(runs, point, figure)
    return result


def values(runs: RunSet, point: PlannedPoint, measure: str, figure: str) -> dict[int, float]:
    """Return a measure of a point by seed, the runs left out for which it is not defined: perhaps all.

    Raises
    ------
    InputError
        There is no such measure, or the point has no finished run.
    """
    result = runs.values(point, measure)
    if not result:
        raise none_finished(runs, point, figure)
    return {seed: value for seed, value in result.items() if math.isfinite(value)}


def undefined(runs: RunSet, point: PlannedPoint, measure: str, figure: str) -> InputError:
    """Say that a measure is defined for no run of a point."""
    return InputError(f"{figure} needs {measure}, which is not defined for {runs.label(point)}.")


def none_finished(runs: RunSet, point: PlannedPoint, figure: str) -> InputError:
    """Say that a point has no finished run, and why."""
    errors = [row.error for row in runs.failures if row.point == point.id]
    why = f"{len(errors)} failed, the first: {errors[0]}" if errors else "run the sweep first."
    return InputError(f"{figure} needs a finished run of every point; {runs.label(point)} has none: {why}")
