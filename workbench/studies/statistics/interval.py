"""Where does the mean of a sample lie? A confidence interval, by Student's t or by the BCa bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import unknown_name
from workbench.streams import Streams
from workbench.studies.statistics.equal_values import reach
from workbench.studies.statistics.sample import check_open, finite_sample

Method = Literal["t", "bca"]

RESAMPLES = 2_000
"""Bootstrap resamples: from seed to seed a 95 % limit moves by some 3 % of the interval's half width."""

_NUMBERS_AT_ONCE = 2_000_000
"""How many numbers of all resamples are in memory at a time (16 MB)."""


class Interval(NamedTuple):
    """An estimate with its confidence interval. Limits are NaN where nothing is known about them, as with one value."""

    mean: float
    """The estimate itself: a mean, a share, or a ratio of means."""
    low: float
    high: float
    level: float
    """The confidence level, e.g. 0.95, two-sided."""
    method: str
    """`t`, `bca`, `log_ratio`, `ranks`, `fieller`, `clopper_pearson`; `constant` = all values equal, so that the limits
    bound what was not seen; `infinite` = some values are; `none` = fewer than two values."""
    n: int
    """How many values it rests on."""

    def above(self, value: float) -> bool:
        """Return whether the whole interval lies above a value; unknown limits never do."""
        return self.low > value

    def below(self, value: float) -> bool:
        """Return whether the whole interval lies below a value; unknown limits never do."""
        return self.high < value

    def __str__(self) -> str:
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}]"


BCA_FROM = 20
"""Values from which BCa covers what it says; of fewer, `bca` gives Student's interval, and `method` says so."""


def mean_interval(
    sample: Any, *, level: float = 0.95, method: Method = "t", seed: int = 0, span: float | None = None
) -> Interval:
    """Compute the two-sided confidence interval of the mean of independent values.

    A sample of equal values shows no spread to judge by. Its limits (`constant`) bound what was not seen: with a
    confidence of `level` no more than some 3 / n of all seeds differ (`unseen_share`), each by `span` at most; without
    a span the limits are infinite. One value or none leaves them unknown (NaN, `none`); no value leaves the mean NaN.

    Parameters
    ----------
    sample : array-like of numbers, shape (n,)
        In the measure's unit, one value a seed.
    level : float
        Confidence level, 0 < level < 1.
    method : {"t", "bca"}
        `t` (Student 1908): exact for normal values, good from some thirty values on for mildly skewed ones.
        `bca` (Efron 1987, bias-corrected and accelerated bootstrap, `scipy.stats.bootstrap`): follows the skew;
        too narrow below some twenty values (`BCA_FROM`), where `t` takes its place.
    span : float, optional
        How far apart two values of the measure can lie, in its unit; it matters where all values are equal.
    seed : int
        Of the named stream `bootstrap`: the same sample in the same order gives the same bits.

    Raises
    ------
    InputError
        A value that is not finite, a level outside (0, 1), or an unknown method.

    Examples
    --------
    >>> print(mean_interval([1, 2, 3, 4, 5]))
    3 [1.037, 4.963]
    >>> mean_interval([7, 7, 7])
    Interval(mean=7.0, low=-inf, high=inf, level=0.95, method='constant', n=3)
    >>> print(mean_interval([7] * 60, span=10))
    7 [6.513, 7.487]
    >>> mean_interval([7])
    Interval(mean=7.0, low=nan, high=nan, level=0.95, method='none', n=1)

    References
    ----------
    spec 1, section 6 (common design); ecosystem notes 1.9.
    """
    values = finite_sample(sample)
    check_open(level, "level")
    if method not in _LIMITS:
        raise unknown_name("", "interval method", method, _LIMITS)
    if values.size < 2:
        return Interval(float(values[0]) if values.size else np.nan, np.nan, np.nan, level, "none", values.size)
    if values.min() == values.max():
        same, far = float(values[0]), reach(values.size, level, span)
        return Interval(same, same - far, same + far, level, "constant", values.size)
    method = method if values.size >= BCA_FROM else "t"
    low, high = _LIMITS[method](values, level, seed)
    return Interval(float(values.mean()), float(low), float(high), level, method, values.size)


def t_quantile(level: float, degrees: int) -> float:
    """Return the half width of a two-sided t interval in standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))


def _t_limits(values: np.ndarray, level: float, seed: int) -> tuple[float, float]:
    error = values.std(ddof=1) / np.sqrt(values.size)
    half = t_quantile(level, values.size - 1) * error
    return values.mean() - half, values.mean() + half


def _bca_limits(values: np.ndarray, level: float, seed: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    batch = max(1, min(RESAMPLES, _NUMBERS_AT_ONCE // values.size))
    drawn = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=batch,
        vectorized=True,
        confidence_level=level,
        method="BCa",
        rng=Streams(seed)["bootstrap"],
    )
    return drawn.confidence_interval.low, drawn.confidence_interval.high


_LIMITS: dict[str, Callable[[np.ndarray, float, int], tuple[float, float]]] = {"t": _t_limits, "bca": _bca_limits}
