"""Where do paired differences lie by their ranks? The pseudo-median with the interval that Wilcoxon's test leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.studies.statistics.interval import Interval
from workbench.studies.statistics.sample import as_numbers, check_open


def pseudo_median(differences: Any, *, level: float = 0.95) -> Interval:
    """Compute the median of the means of all pairs of differences, with its interval (Hodges and Lehmann 1963).

    It is what Wilcoxon's signed-rank test is about, as the mean is what Student's is; for symmetric differences the two
    are the same. Infinite differences are the largest, and two of opposite sign cancel.

    Parameters
    ----------
    differences : array-like of numbers, shape (n,)
        Infinite ones included; no NaN.
    level : float
        0 < level < 1. The interval of so few differences that no test could reject (5 at 95 %) is unbounded.

    Examples
    --------
    >>> print(pseudo_median([1, 2, 3, 4, 5, 6]))
    3.5 [1, 6]
    >>> print(pseudo_median([1, 2, 3, 4, 5, float("inf")]))
    3.5 [1, inf]
    """
    values = as_numbers(differences, "differences")
    check_open(level, "level")
    if values.size < 2:
        mean = float(values[0]) if values.size else np.nan
        return Interval(mean, np.nan, np.nan, level, "none", values.size)
    means = _walsh(values)
    cut = _cut(values.size, 1 - level)
    low, high = (means[cut], means[-1 - cut]) if cut >= 0 else (-np.inf, np.inf)
    return Interval(_middle(means), float(low), float(high), level, "ranks", values.size)


def _walsh(values: np.ndarray) -> np.ndarray:
    """Return the means of all pairs, a value with itself included, sorted: float64[n (n + 1) / 2]."""
    first, second = np.triu_indices(values.size)
    opposite = np.isinf(values[first]) & (values[first] == -values[second])
    with np.errstate(invalid="ignore"):
        means = values[first] / 2 + values[second] / 2
    return np.sort(np.where(opposite, 0.0, means))


def _middle(means: np.ndarray) -> float:
    below, above = means[(means.size - 1) // 2], means[means.size // 2]
    return float(below) if below == above else float(below / 2 + above / 2)


def _cut(count: int, alpha: float) -> int:
    """Return how many means lie beyond either limit: the largest rank sum that the two-sided test rejects; -1 =
    none."""
    from scipy.special import ndtri

    if count > 50:
        return int(
            count * (count + 1) / 4 + ndtri(alpha / 2) * np.sqrt(count * (count + 1) * (2 * count + 1) / 24) - 0.5
        )
    ways = np.zeros(count * (count + 1) // 2 + 1)
    ways[0] = 1
    for rank in range(1, count + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    return int(np.searchsorted(2 * np.cumsum(ways) / 2.0**count, alpha * (1 + 1e-12), side="left")) - 1
