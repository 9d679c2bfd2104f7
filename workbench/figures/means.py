"""Means with the limits of their intervals, as arrays: at the places of a curve, or one a point."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.studies.adaptive.schedule import looks_of
from workbench.studies.statistics import Interval
from workbench.studies.statistics.interval import t_quantile

LEVEL = 0.95
"""The confidence level of every interval that a figure shows."""


def level_of(runs: RunSet) -> float:
    """Return the level of single intervals: where results were shown before so high that those of all looks hold
    together at LEVEL."""
    return looks_of(runs).level(LEVEL)


class Means(NamedTuple):
    """Estimates, each with its interval."""

    mean: np.ndarray
    """float64[places]."""
    low: np.ndarray
    """float64[places]; NaN where nothing is known about the limit, as with one seed alone."""
    high: np.ndarray
    """float64[places], likewise."""


def means_of(intervals: Iterable[Interval]) -> Means:
    """Return intervals as arrays; of an infinite limit nothing is drawn, as of one that is not known."""
    ends = np.array([interval[:3] for interval in intervals], float).reshape(-1, 3).T
    return Means(*np.where(np.isfinite(ends), ends, np.nan))


def mean_curve(curves: np.ndarray, level: float = LEVEL) -> Means:
    """Return the mean over the rows, with Student's t interval of the mean at each place.

    Parameters
    ----------
    curves : array, shape (seeds, places)

    Examples
    --------
    >>> mean_curve(np.array([[1, 5], [3, 5]]))
    Means(mean=array([2., 5.]), low=array([-10.70620474,   5.        ]), high=array([14.70620474,  5.        ]))
    """
    mean = curves.mean(axis=0)
    if len(curves) < 2:
        return Means(mean, np.full(mean.shape, np.nan), np.full(mean.shape, np.nan))
    half = t_quantile(level, len(curves) - 1) * curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
    return Means(mean, mean - half, mean + half)


def rests_on(counts: Iterable[int], pointwise: bool = False, estimate: str = "mean") -> str:
    """Return what the estimates of a figure rest on, in small print; of bands around a curve that they are pointwise.

    >>> rests_on([200, 200]), rests_on([200, 198]), rests_on([1, 1])
    ('mean of 200 seeds with its 95 % interval', 'mean of 198 to 200 seeds with its 95 % interval', 'one seed')
    >>> rests_on([200], pointwise=True)
    'mean of 200 seeds with its pointwise 95 % interval'
    """
    least, most = min(numbers := set(counts)), max(numbers)
    if most == 1:
        return "one seed"
    seeds = str(most) if least == most else f"{least} to {most}"
    kind = "pointwise " if pointwise else ""
    return f"{estimate} of {seeds} seeds with its {kind}{100 * LEVEL:g} % interval"
