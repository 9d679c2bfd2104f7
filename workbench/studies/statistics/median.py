"""Is the median of paired differences 0? The exact sign test, and the interval of order statistics that it leaves.

A difference above 0, below 0 or equal to it is all that the test sees, so that neither skewness nor an infinite value
(which is the largest rank there is) nor a range that nobody knows moves it: it errs in no more than alpha of all
studies, whatever the law of the differences. A tie is on neither side: where more than half of all pairs are equal, the
median difference is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.studies.statistics.interval import Interval
from workbench.studies.statistics.pairing import check_open, ranked_sample


def sign_p(above: int, below: int, count: int) -> float:
    """Return the exact two-sided p-value against a median of 0; 1 without pairs.

    Twice the chance that so many of `count` pairs, ties included, are on one side where each is with a chance of one
    half (`scipy.stats.binomtest` says the same): a median of 0 has no more than half of all differences on either side.

    References
    ----------
    Arbuthnott (1710), Phil. Trans. 27; Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.4.

    Examples
    --------
    >>> sign_p(9, 1, 10) == 22 / 1024, sign_p(9, 1, 20), sign_p(0, 0, 20)
    (True, 1.0, 1.0)
    """
    return min(1.0, 2 * one_sided_p(max(above, below), count))


def one_sided_p(above: int, count: int) -> float:
    """Return the exact one-sided p-value of so many of all pairs above a value against a median that is not; 1 without
    pairs.

    >>> one_sided_p(10, 10) == 2.0**-10, one_sided_p(0, 10)
    (True, 1.0)
    """
    from scipy.special import bdtr

    return float(bdtr(count - above, count, 0.5)) if count and above else 1.0


def least_p(count: int) -> float:
    """Return the smallest two-sided p-value of so many pairs: that of all on one side.

    >>> least_p(6), least_p(0)
    (0.03125, 1.0)
    """
    return min(1.0, 2.0 ** (1 - count))


def median_interval(sample: Any, *, level: float = 0.95) -> Interval:
    """Compute the median with the order statistics that the sign test does not reject.

    The limits are values of the sample, and hold the median of the law in at least `level` of all studies, whatever the
    law. Where no p-value can be below 1 - level (fewer than 6 values at 95 %) there are none (NaN, `none`).

    Parameters
    ----------
    sample : array-like of numbers, shape (n,)
        One value a seed; infinite ones are ranks.
    level : float
        0 < level < 1, two-sided.

    Raises
    ------
    InputError
        A value that is no number (NaN), or a level out of range.

    References
    ----------
    Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.2.

    Examples
    --------
    >>> print(median_interval([9, 8, 7, 6, 5, 4, 3, 2, float("inf")]))
    6 [3, 9]
    >>> median_interval([7] * 20)
    Interval(mean=7.0, low=7.0, high=7.0, level=0.95, method='median', n=20)
    """
    values = np.sort(ranked_sample(sample))
    check_open(level, "level")
    cut = _cut(values.size, level)
    if cut < 0:
        return Interval(middle(values), np.nan, np.nan, level, "none", values.size)
    return Interval(middle(values), float(values[cut]), float(values[-1 - cut]), level, "median", values.size)


def middle(ascending: np.ndarray) -> float:
    """Return the median of sorted values: NaN of none, and 0 half way between two infinities."""
    if not ascending.size:
        return float("nan")
    low, high = float(ascending[(ascending.size - 1) // 2]), float(ascending[ascending.size // 2])
    if low == high:
        return low
    return 0.0 if low == -high else low / 2 + high / 2


def _cut(count: int, level: float) -> int:
    """Return how many values lie beyond either limit; -1 where the test rejects nothing."""
    from scipy.special import bdtr

    tails = 2 * bdtr(np.arange((count + 1) // 2), count, 0.5)
    return int(np.searchsorted(tails, 1 - level, side="left")) - 1
