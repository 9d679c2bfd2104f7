"""The statistics that packages of measures share, and exact step functions of the cycle.

What is not defined is NaN, never an exception, never 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


def over(total: float, count: float) -> float:
    """Return the quotient, NaN where there is nothing to divide by.

    >>> over(3, 4), over(3, 0)
    (0.75, nan)
    """
    return float(total) / float(count) if count else math.nan


def mean(values: np.ndarray) -> float:
    """Return the mean of whole numbers, flags or float64, NaN of nothing: that of NumPy's method, to the bit, in half
    the time for the few values of a short run.

    >>> mean(np.array([1, 2])), mean(np.array([True, False, False, False])), mean(np.array([]))
    (1.5, 0.25, nan)
    """
    return float(np.add.reduce(values, axis=None, dtype=np.float64) / values.size) if values.size else math.nan


def mean_and_deviation(values: np.ndarray) -> tuple[float, float]:
    """Return the mean and the standard deviation of whole numbers or float64, to the bit those of NumPy's methods; NaN
    of nothing.

    >>> mean_and_deviation(np.array([1, 3])), mean_and_deviation(np.array([]))
    ((2.0, 1.0), (nan, nan))
    """
    if not values.size:
        return math.nan, math.nan
    middle = mean(values)
    off = values - middle
    return middle, math.sqrt(mean(np.multiply(off, off, out=off)))


def cv(values: np.ndarray) -> float:
    """Return the standard deviation over the mean; NaN of nothing, and where the mean is 0.

    >>> cv(np.array([1.0, 3.0])), cv(np.zeros(2))
    (0.5, nan)
    """
    middle, deviation = mean_and_deviation(values)
    return deviation / middle if middle else math.nan


def quantile(values: np.ndarray, share: float) -> float:
    """Return the smallest value that is not exceeded by at least this share of them, NaN of nothing.

    >>> quantile(np.arange(200), 0.99), quantile(np.array([7]), 0.99), quantile(np.array([]), 0.99)
    (197.0, 7.0, nan)
    """
    if not len(values):
        return math.nan
    at = max(math.ceil(share * len(values)) - 1, 0)
    ordered = values.copy()
    ordered.partition(at)
    return float(ordered[at])


def gini(values: np.ndarray) -> float:
    """Return the Gini coefficient of non-negative values: 0 when all are equal, towards 1 when one has everything.

    >>> gini(np.array([1.0, 1.0, 1.0])), round(gini(np.array([0.0, 0.0, 3.0])), 12)
    (0.0, 0.666666666667)
    """
    ordered = values.copy()
    ordered.sort()
    ranks = np.arange(1, len(ordered) + 1)
    return float(2 * (ranks * ordered).sum() / (len(ordered) * ordered.sum()) - (len(ordered) + 1) / len(ordered))


def entropy(counts: np.ndarray) -> float:
    """Return the Shannon entropy of a distribution, in bits.

    >>> entropy(np.array([2, 2, 0])), entropy(np.array([3, 0])), entropy(np.array([0, 0]))
    (1.0, 0.0, nan)
    """
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(0.0 - (shares * np.log2(shares)).sum()) if shares.size else math.nan


class Steps(NamedTuple):
    """A quantity that changes at whole cycles and stays as it is between them.

    >>> steps = Steps(before=4, cycle=np.array([2, 5]), value=np.array([1, 3]))
    >>> steps.at(np.array([0, 2, 4, 5, 99]))
    array([4, 1, 1, 3, 3])
    """

    before: int
    """The value until the first change."""
    cycle: np.ndarray
    """int64[changes], strictly increasing: the cycles with an event."""
    value: np.ndarray
    """int64[changes], the value from each of these cycles until the next, every event of the cycle applied."""

    def at(self, cycles: np.ndarray) -> np.ndarray:
        """Return the value at each cycle: int64[cycles]; nothing is interpolated."""
        return np.concatenate([[self.before], self.value])[np.searchsorted(self.cycle, cycles, side="right")]


def added_up(before: int, *changes: tuple[np.ndarray, np.ndarray]) -> Steps:
    """Add up a quantity from what it begins with and from its changes: pairs of cycles and amounts, in any order.

    >>> added_up(0, (np.array([5, 2]), np.array([1, 1])), (np.array([5]), np.array([-1])))
    Steps(before=0, cycle=array([2, 5]), value=array([1, 1]))
    """
    cycles = np.concatenate([cycle for cycle, _ in changes])
    order = np.argsort(cycles, kind="stable")
    ordered = cycles[order]
    values = before + np.concatenate([change for _, change in changes])[order].cumsum()
    last = np.flatnonzero(np.diff(ordered, append=np.iinfo(np.int64).max))
    return Steps(before, ordered[last], values[last])
