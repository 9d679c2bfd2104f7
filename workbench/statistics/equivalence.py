"""Whether the median of values, or of ratios, lies within a band: two one-sided sign tests."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.statistics.interval import Interval, check_open, median_interval, one_sided_p, ranked_sample

Band = tuple[float, float]
"""The values that count as equal, ends excluded. An infinite end leaves one test: non-inferiority within a margin."""


class Equivalence(NamedTuple):
    """Where a median lies with respect to a band."""

    place: Literal["inside", "outside", "across"]
    """`inside`: p < alpha, and so the interval lies in the band; `outside`: it lies beyond one end; `across`:
    undecided."""
    band: Band
    interval: Interval
    """Of the median, of level 1 - 2 alpha: it lies in the band exactly where both one-sided tests reject at alpha."""
    p_value: float
    """The larger of the two one-sided p-values; small = inside."""
    p_outside: float
    """Against "within the band", two-sided; small = outside."""


def median_within(sample: Any, band: Band, *, alpha: float = 0.05) -> Equivalence:
    """Test whether the median of independent values lies within a band: give differences for a pair.

    A value on an end is not inside. Values that are all equal are decided as any others: 20 of them inside have p =
    2 ** -20. Without any value there is no test (p = NaN).

    Parameters
    ----------
    sample : array-like of numbers, shape (n,)
        One value a seed, for instance `compare(...).differences`; infinite ones are ranks.
    band : tuple of float
        (low, high), low < high, in the sample's unit; either end may be infinite.
    alpha : float
        Chance of saying "inside" for a median that is not; 0 < alpha < 0.5.

    Raises
    ------
    InputError
        A band that is none, an alpha out of range, or a value that is no number.

    References
    ----------
    Schuirmann (1987), J. Pharmacokin. Biopharm. 15 (two one-sided tests), here by the sign test.

    Examples
    --------
    >>> median_within([0.49, 0.50, 0.51, 0.50, 0.49, 0.51], (0.48, 0.52)).place
    'inside'
    >>> median_within([0.5, 0.51, 0.53, 0.54, 0.51, 0.53], (0.48, 0.52)).place
    'across'
    """
    values = ranked_sample(sample)
    _check(band, alpha)
    low, high = band
    ends = [np.isneginf(low), np.isposinf(high)]
    within = [int((values > low).sum()), int((values < high).sum())]
    beyond = [int((values < low).sum()), int((values > high).sum())]
    interval = median_interval(values, level=1 - 2 * alpha)
    if not values.size:
        return Equivalence("across", band, interval, np.nan, np.nan)
    # No value lies beyond an infinite end, so its test always passes.
    p_inside = max(0.0 if end else one_sided_p(count, values.size) for end, count in zip(ends, within, strict=True))
    p_outside = min(1.0, 2 * min(one_sided_p(count, values.size) for count in beyond))
    place: Literal["inside", "outside", "across"] = "across"
    if p_inside < alpha:
        place = "inside"
    # The p-value is doubled for two sides, so below 2 alpha one side is below alpha.
    elif p_outside < 2 * alpha:
        place = "outside"
    return Equivalence(place, band, interval, p_inside, p_outside)


def ratio_within(numerators: Any, denominators: Any, band: Band, *, alpha: float = 0.05) -> Equivalence:
    """Test whether the median of ratios, seed by seed, lies within a band.

    Parameters
    ----------
    numerators, denominators : array-like of numbers, shape (n,) each
        One value a seed, none below 0. Nothing over nothing is 1, anything else over nothing infinite.
    band, alpha
        As in `median_within`; for the ratio, no unit.

    Raises
    ------
    InputError
        As in `median_within`, or a denominator below 0.

    Examples
    --------
    >>> low_half, high_half = [500, 510, 495, 505, 498], [502, 505, 500, 501, 497]
    >>> ratio_within(low_half, high_half, (0.95, 1.05)).place
    'inside'
    """
    upper, lower = ranked_sample(numerators, "numerators"), ranked_sample(denominators, "denominators")
    if upper.size != lower.size:
        raise InputError(
            f"numerators and denominators must have one value a seed each. Got {upper.size} and {lower.size} values."
        )
    if lower.size and lower.min() < 0:
        raise InputError(f"the denominators of a ratio must not be below 0. Got {float(lower.min())!r}.")
    return median_within(ratios(upper, lower), band, alpha=alpha)


def ratios(numerators: np.ndarray, denominators: np.ndarray) -> np.ndarray:
    """Return numerators over denominators: of two that are equal, also if both are nothing or both infinite, 1.

    >>> ratios(np.array([3.0, 0.0, 2.0]), np.array([2.0, 0.0, 0.0])).tolist()
    [1.5, 1.0, inf]
    """
    return np.where(numerators == denominators, 1.0, shares(numerators, denominators))


def shares(parts: np.ndarray, wholes: np.ndarray) -> np.ndarray:
    """Return parts over wholes, none of which is below 0: nothing of nothing is 0, anything else of it infinite.

    >>> shares(np.array([1.0, 0.0, -1.0]), np.array([2.0, 0.0, 0.0])).tolist()
    [0.5, 0.0, -inf]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(parts == 0, 0.0, parts / wholes)


def _check(band: Band, alpha: float) -> None:
    check_open(alpha, "alpha", 0.5)
    try:
        ordered = len(band) == 2 and band[0] < band[1]
    except TypeError:
        ordered = False
    if not ordered:
        raise InputError(f"a band must be (low, high), two numbers with low < high. Got {band!r}.")
