"""Intervals of means, medians and shares, and the tests that go with them.

Of a mean by Student's t, of a share exactly, of a median by order statistics. The exact sign test asks whether a seed
that differs is as likely better as worse. The side of a difference is all that it sees. Neither skewness nor an
infinite value moves it, so it errs in no more than alpha of all studies, whatever the law of the differences.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.number_text import with_limits


def ranked_sample(values: Any, name: str = "sample") -> np.ndarray:
    """Return the values as float64[n], none of them NaN: an infinite one has a rank, though no mean can be taken with
    it.

    A failed run has no value: leave it out and say how many, as `pair` does.

    Raises
    ------
    InputError
        Not one row of numbers, or a value that is none.

    Examples
    --------
    >>> ranked_sample([1, 2.5])
    array([1. , 2.5])
    >>> ranked_sample([1, float("nan")], "drain_cycles")
    Traceback (most recent call last):
    workbench.errors.InputError: drain_cycles[1] must be a number; leave failed runs out. Got nan.
    """
    row = as_numbers(values, name)
    bad = np.flatnonzero(np.isnan(row))
    if bad.size:
        raise wrong_value("", f"{name}[{bad[0]}]", "must be a number; leave failed runs out", float(row[bad[0]]))
    return row


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Return the values as float64[n]; None becomes NaN, text and nested rows are refused."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError
        row = given.astype(np.float64)
    except (TypeError, ValueError):
        raise wrong_value("", name, "must be numbers", values) from None
    if row.ndim != 1:
        raise wrong_value("", name, "must be one row of numbers", values)
    return row


def check_open(value: float, name: str, below: float = 1.0) -> None:
    """Refuse a level or an error rate outside (0, below), both ends excluded."""
    if not isinstance(value, (int, float)) or not 0.0 < value < below:
        raise InputError(f"{name} must be a number above 0 and below {below:g}. Got {value!r}.")


Bounds = tuple[float, float]
"""The least and the largest value that there can be."""
UNBOUNDED: Bounds = (-np.inf, np.inf)


class Interval(NamedTuple):
    """An estimate with its confidence interval. Limits are NaN where nothing is known about them, as with one value."""

    mean: float
    """The estimate itself: a median, a mean or a share."""
    low: float
    high: float
    level: float
    """The confidence level, e.g. 0.95, two-sided."""
    method: str
    """`median` (order statistics), `t` (a mean), `geometric` (of logs), `clopper_pearson` (a share),
    `holm` (a share of cells).
    `constant` = a mean of values that are all equal. `infinite` = one of values some of which are. `none` = too few
    values for any limit."""
    n: int
    """How many values it rests on."""

    def above(self, value: float) -> bool:
        """Return whether the whole interval lies above a value; unknown limits never do."""
        return self.low > value

    def below(self, value: float) -> bool:
        """Return whether the whole interval lies below a value; unknown limits never do."""
        return self.high < value

    def __str__(self) -> str:
        return with_limits(self.mean, self.low, self.high)


def mean_interval(sample: Any, *, level: float = 0.95, bounds: Bounds = UNBOUNDED) -> Interval:
    """Compute the two-sided interval of the mean of independent values, by Student's t (1908).

    It is exact for normal values and covers less than it says where values are skewed and few (`docs/statistics.md` has
    how much). Values that are all equal show no spread, and a mean with an infinite value has no limits: they are NaN.
    The mean is never outside of the values, the limits never outside of what the measure can be.

    Parameters
    ----------
    sample : array-like of numbers, shape (n,)
        In the measure's unit, one value a seed.
    level : float
        Confidence level, 0 < level < 1.
    bounds : tuple of float
        Between which all values of the measure lie.

    Raises
    ------
    InputError
        A value that is no number (NaN), or a level outside (0, 1).

    Examples
    --------
    >>> print(mean_interval([1, 2, 3, 4, 5]))
    3.0 [1.0, 5.0]
    >>> print(mean_interval([0, 0, 1], bounds=(0, 1)))
    0.3 [0.0, 1.0]
    >>> mean_interval([7, 7, 7])
    Interval(mean=7.0, low=nan, high=nan, level=0.95, method='constant', n=3)
    """
    values = ranked_sample(sample)
    check_open(level, "level")
    mean, method = mean_of(values), "t"
    if not np.isfinite(values).all():
        method = "infinite"
    elif values.size < 2:
        method = "none"
    elif values.min() == values.max():
        method = "constant"
    if method != "t":
        return Interval(mean, np.nan, np.nan, level, method, values.size)
    half = t_quantile(level, values.size - 1) * float(values.std(ddof=1)) / np.sqrt(values.size)
    low, high = np.clip((mean - half, mean + half), *bounds).tolist()
    return Interval(mean, low, high, level, method, values.size)


def mean_of(values: np.ndarray) -> float:
    """Return the mean, rounding kept between the least and the largest value; NaN of none and of opposite
    infinities."""
    if not values.size:
        return float("nan")
    if np.isinf(values).any():
        ends = np.unique(values[np.isinf(values)])
        return float(ends[0]) if ends.size == 1 else float("nan")
    return float(np.clip(values.mean(), values.min(), values.max()))


def t_quantile(level: float, degrees: int) -> float:
    """Return the half width of a two-sided t interval in standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))


def proportion_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Compute the exact (Clopper-Pearson 1934) interval of the chance of success, of independent trials.

    It covers at least `level` of the time; no trials leave the share and its limits unknown (NaN).

    Raises
    ------
    InputError
        Not 0 <= successes <= trials in whole numbers, or a level outside (0, 1).

    Examples
    --------
    >>> print(proportion_interval(198, 200))
    0.990 [0.964, 0.999]
    >>> print(proportion_interval(0, 10))
    0.00 [0.00, 0.31]
    """
    from scipy.special import betaincinv

    whole = all(hasattr(count, "__index__") for count in (successes, trials))
    if not whole or not 0 <= successes <= trials:
        raise InputError(
            f"successes and trials must be whole numbers, 0 <= successes <= trials. Got {successes!r} of {trials!r}."
        )
    check_open(level, "level")
    if not trials:
        return Interval(np.nan, np.nan, np.nan, level, "none", 0)
    failures, tail = trials - successes, (1 - level) / 2
    low = betaincinv(successes, failures + 1, tail) if successes else 0.0
    high = 1 - betaincinv(failures, successes + 1, tail) if failures else 1.0
    return Interval(successes / trials, float(low), float(high), level, "clopper_pearson", trials)


def sign_p(wins: int, losses: int) -> float:
    """Return the exact two-sided p-value that a seed that differs is as likely a win as a loss; 1 without any.

    Seeds that tie say nothing on that and are not counted (`scipy.stats.binomtest` of the others says the same).

    References
    ----------
    Arbuthnott (1710), Phil. Trans. 27; Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.4.

    Examples
    --------
    >>> sign_p(9, 1) == 22 / 1024, sign_p(0, 0)
    (True, 1.0)
    """
    return min(1.0, 2 * one_sided_p(max(wins, losses), wins + losses))


def one_sided_p(above: int, count: int) -> float:
    """Return the exact one-sided p-value of so many of all pairs above a value against a median that is not; 1 without
    pairs.

    >>> one_sided_p(10, 10) == 2.0**-10, one_sided_p(0, 10)
    (True, 1.0)
    """
    from scipy.special import bdtr

    # At a chance of one half, P(at least `above`) equals P(at most count - above).
    return float(bdtr(count - above, count, 0.5)) if count and above else 1.0


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
    # Halve first: the sum of two large values may be infinite.
    return 0.0 if low == -high else low / 2 + high / 2


def _cut(count: int, level: float) -> int:
    """Return the number of values beyond either limit; -1 where the test rejects nothing."""
    from scipy.special import bdtr

    tails = 2 * bdtr(np.arange((count + 1) // 2), count, 0.5)
    return int(np.searchsorted(tails, 1 - level, side="left")) - 1
