"""What applications cost each other: slowdown against running alone, and its fairness (spec 6, section 7)."""

from __future__ import annotations

import math

import numpy as np

from workbench.metrics.measure import Measure
from workbench.metrics.statistics import mean
from workbench.records.node import NEVER, NodeRecord, time_of

_AGAINST = "time of an application over its time in a run of its own"


def slowdown_declarations() -> list[Measure]:
    """Return the measures of how much slower applications are than alone."""
    return [
        Measure("slowdown_mean", "", "lower", f"{_AGAINST}, mean of those that end; needs options.alone"),
        Measure("slowdown_max", "", "lower", f"{_AGAINST}, the largest; needs options.alone"),
    ]


def application_declarations() -> list[Measure]:
    """Return the measures of applications."""
    return [
        Measure("applications_refused", "applications", "lower", "applications that were refused memory"),
        Measure(
            "fairness",
            "",
            "higher",
            "Jain's index of the applications' speeds, 1 / slowdown, 0 of who is refused; needs options.alone",
        ),
    ]


def application_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of applications; fairness is NaN where they have no runs of their own."""
    fairness = jain(speeds_of(record)) if record.alone.size else math.nan
    return {"applications_refused": float(record.refused.sum()), "fairness": fairness}


def slowdowns(record: NodeRecord) -> dict[str, float]:
    """Compute how much slower applications are than in runs of their own, NaN where there are none."""
    speeds = speeds_of(record) if record.alone.size else np.zeros(0)
    each = 1 / speeds[speeds > 0]
    return {"slowdown_mean": mean(each), "slowdown_max": float(each.max()) if each.size else math.nan}


def speeds_of(record: NodeRecord) -> np.ndarray:
    """Return the speed of each application that ends when it is alone, as a share of that: float64[applications].

    An application that does not end, or is refused memory, has speed 0; one that takes no time has 1.
    """
    times = np.array([time_of(record, number) for number in range(record.alone.size)], np.int64)
    alone, shared = record.alone[record.alone != NEVER], times[record.alone != NEVER]
    return np.where(shared == NEVER, 0.0, np.where(shared == 0, 1.0, alone / np.maximum(shared, 1)))


def jain(speeds: np.ndarray) -> float:
    """Return (sum)^2 / (n x sum of squares): 1 where all are equal, 1 / n where one has everything; NaN of nothing.

    >>> jain(np.array([0.5, 0.5])), jain(np.array([1.0, 0.0])), jain(np.zeros(2))
    (1.0, 0.5, nan)
    """
    squares = float((speeds**2).sum())
    return float(speeds.sum()) ** 2 / (speeds.size * squares) if squares else math.nan
