"""Where does an estimate lie? An interval as a value; of a mean by Student's t or by the bootstrap, of a share
exactly."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.streams import Streams
from workbench.studies.statistics.pairing import check_open, ranked_sample

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
    """`median` (order statistics), `t` and `bootstrap_t` (a mean), `clopper_pearson` (a share); `constant` = a mean of
    values that are all equal, `infinite` = one of values some of which are, `none` = too few values for any limit."""
    n: int
    """How many values it rests on."""

    def above(self, value: float) -> bool:
        """Return whether the whole interval lies above a value; unknown limits never do."""
        return self.low > value

    def below(self, value: float) -> bool:
        """Return whether the whole interval lies below a value; unknown limits never do."""
        return self.high < value

    def __str__(self) -> str:
        limits = "" if np.isnan(self.low) else f" [{self.low:.4g}, {self.high:.4g}]"
        return f"{self.mean:.4g}{limits}"


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
    3 [1.037, 4.963]
    >>> print(mean_interval([0, 0, 1], bounds=(0, 1)))
    0.3333 [0, 1]
    >>> mean_interval([7, 7, 7])
    Interval(mean=7.0, low=nan, high=nan, level=0.95, method='constant', n=3)
    """
    values = ranked_sample(sample)
    check_open(level, "level")
    mean, method = _mean(values), "t"
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


def _mean(values: np.ndarray) -> float:
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


RESAMPLES, _AT_ONCE = 9_999, 2_000_000
"""Of the bootstrap, whose smallest p-value is therefore 1 in 10,000; numbers of them in memory at a time (16 MB)."""


def mean_test(sample: Any, *, level: float = 0.95) -> tuple[Interval, float]:
    """Compute the mean with the interval and the two-sided p-value against 0 of the studentised bootstrap.

    Resamples of the values say how far from the mean, in standard errors, it lies as often as not; on skewed values it
    errs half as often as Student's t (`docs/statistics.md`). The p-value is below 1 - level exactly where the interval
    leaves zero out. Values without spread, infinite ones and fewer than two have none to judge by: no limits, p = 1.

    References
    ----------
    Hall (1988), Ann. Statist. 16: symmetric studentised intervals. Efron and Tibshirani (1993), chapter 12.

    Examples
    --------
    >>> interval, p = mean_test([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    >>> interval.mean, interval.low > 0, p < 0.05
    (4.5, True, True)
    """
    values = ranked_sample(sample)
    plain = mean_interval(values, level=level)
    if plain.method != "t":
        return plain, 1.0
    far = np.sort(_distances(values))
    error = float(values.std()) / math.sqrt(values.size)
    p_value = (1 + far.size - int(np.searchsorted(far, abs(plain.mean) / error))) / (1 + far.size)
    half = float(far[-int((1 - level) * (1 + far.size) * (1 + 1e-12))]) * error
    return plain._replace(low=plain.mean - half, high=plain.mean + half, method="bootstrap_t"), p_value


def _distances(values: np.ndarray) -> np.ndarray:
    """Return how many of its standard errors each resample's mean is away from the sample's: float64[resamples]."""
    draws, count = Streams(0)["bootstrap"], max(1, _AT_ONCE // values.size)
    distances = []
    for first in range(0, RESAMPLES, count):
        drawn = values[draws.integers(values.size, size=(min(count, RESAMPLES - first), values.size))]
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.abs(drawn.mean(axis=1) - values.mean()) / (drawn.std(axis=1) / np.sqrt(values.size))
        distances.append(np.nan_to_num(away, nan=np.inf, posinf=np.inf))
    return np.concatenate(distances)


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
    0.99 [0.9643, 0.9988]
    >>> print(proportion_interval(0, 10))
    0 [0, 0.3085]
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
