"""How large is one mean in terms of another, measured on the same seeds? Fieller's interval of a ratio of means."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.studies.statistics.equal_values import reach, span_of
from workbench.studies.statistics.interval import Interval, t_quantile
from workbench.studies.statistics.sample import check_open, finite_sample

_SAME = 1e-12
"""Residuals below this part of the numerator are rounding: the ratio was the same on every seed."""


def ratio_interval(numerators: Any, denominators: Any, *, level: float = 0.95, span: float | None = None) -> Interval:
    """Compute the interval of mean(numerators) / mean(denominators), paired by position (Fieller 1954).

    It holds exactly the ratios r that a paired t test of `numerators - r * denominators` does not reject. So a seed
    with a denominator of zero does no harm, and shares within runs whose trials depend on each other are counted by
    run, as they must be. Where the mean denominator is not clear of zero the interval would be unbounded: NaN limits.

    Parameters
    ----------
    numerators, denominators : array-like of numbers, shape (n,) each
        One value a seed, same order; the mean denominator must not be zero.
    span : float, optional
        How far a numerator can lie from its denominator's share of it, in the numerators' unit; left out, as far as the
        range of all values given allows. It matters where the ratio is the same on every seed.

    Returns
    -------
    Interval
        `constant` where the ratio is the same on every seed: its limits bound what was not seen, as those of
        `mean_interval`, over the range of all the values given. `none` with fewer than two seeds.

    Raises
    ------
    InputError
        Different lengths, a value that is not finite, a mean denominator of zero, a level outside (0, 1).

    Examples
    --------
    >>> print(ratio_interval([9, 11, 10, 12], [10, 10, 10, 10]))
    1.05 [0.8446, 1.255]
    """
    upper, lower = paired_samples(numerators, denominators)
    check_open(level, "level")
    if not lower.size:
        return Interval(np.nan, np.nan, np.nan, level, "none", 0)
    if not lower.mean():
        raise InputError("the denominators of a ratio must not have mean 0. Got 0.0. Compare differences instead.")
    ratio = float(upper.mean() / lower.mean())
    rest = upper - ratio * lower
    if upper.size < 2:
        return Interval(ratio, np.nan, np.nan, level, "none", upper.size)
    if np.abs(rest).max() <= _SAME * np.abs(upper).max():
        far = reach(
            upper.size, level, ratio_span(upper, lower, ratio) if span is None else span / abs(float(lower.mean()))
        )
        return Interval(ratio, ratio - far, ratio + far, level, "constant", upper.size)
    low, high = _fieller(rest, lower, t_quantile(level, upper.size - 1) ** 2)
    return Interval(ratio, ratio + low, ratio + high, level, "fieller", upper.size)


def ratio_span(upper: np.ndarray, lower: np.ndarray, ratio: float) -> float:
    """Return how far the ratio of one seed can lie from that of all, each side anywhere in its own range."""
    return float((span_of(upper) + abs(ratio) * span_of(lower)) / abs(lower.mean()))


def alike_span(upper: np.ndarray, lower: np.ndarray) -> float:
    """Return the same of two sides of one unit, each anywhere in the range of both, in that unit.

    >>> alike_span(np.zeros(3), np.array([4.0, 5.0, 6.0]))
    6.0
    """
    least, most = min(upper.min(), lower.min()), max(upper.max(), lower.max())
    ratio = upper.mean() / lower.mean()
    return float(max(abs(most - ratio * least), abs(least - ratio * most))) if most > least else 0.0


def _fieller(rest: np.ndarray, lower: np.ndarray, t_squared: float) -> tuple[float, float]:
    """Return the limits as seen from the ratio itself: solved for the residuals, nothing large cancels."""
    spread = np.cov(rest, lower) / rest.size * t_squared
    slack = lower.mean() ** 2 - spread[1, 1]
    if slack <= 0:
        return np.nan, np.nan
    half = np.sqrt(spread[0, 1] ** 2 + slack * spread[0, 0])
    return float((-spread[0, 1] - half) / slack), float((-spread[0, 1] + half) / slack)


def paired_samples(numerators: Any, denominators: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both samples as float64[n]; refuses different lengths."""
    upper, lower = finite_sample(numerators, "numerators"), finite_sample(denominators, "denominators")
    if upper.size != lower.size:
        raise InputError(
            f"numerators and denominators must have one value a seed each. Got {upper.size} and {lower.size} values."
        )
    return upper, lower
