"""Is something as good as equal? Two one-sided tests (TOST, Schuirmann 1987) of a mean, ratio or share in a band."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.studies.statistics.equal_values import equal_p
from workbench.studies.statistics.interval import Interval, mean_interval
from workbench.studies.statistics.proportion import chance_of_at_least, chance_of_at_most, proportion_interval
from workbench.studies.statistics.ratio import paired_samples, ratio_interval, ratio_span
from workbench.studies.statistics.sample import check_open, finite_sample

NEARLY_ALL = 0.8
"""The share of equal values from which those that differ are counted: Student's test errs where they are few."""
Band = tuple[float, float]
"""The values that count as equal, ends excluded. An infinite end leaves one test: non-inferiority within a margin."""


class Equivalence(NamedTuple):
    """Where an estimate lies with respect to a band."""

    place: Literal["inside", "outside", "across"]
    """`inside`: the interval lies in the band and p < alpha; `outside`: it lies beyond one end; `across`: undecided."""
    band: Band
    interval: Interval
    """Of level 1 - 2 alpha, which lies in the band exactly when both one-sided tests reject at alpha."""
    p_value: float
    """The larger of the two one-sided p-values; small = inside."""
    p_low: float
    """Against "not above the low end"."""
    p_high: float
    """Against "not below the high end"."""


def equivalent_mean(sample: Any, band: Band, *, alpha: float = 0.05, span: float | None = None) -> Equivalence:
    """Test whether the mean of independent values lies within a band: paired t tests, give differences for a pair.

    Values that are all equal show no spread; the bound on what was not seen (`equal_values`) takes the place of the
    t test, and decides nothing where no span is given. One value decides nothing (p = 1); without any there is no test
    (p = NaN).

    Parameters
    ----------
    sample : array-like of numbers, shape (n,)
        One value a seed, for instance `compare(...).differences`.
    band : tuple of float
        (low, high), low < high, in the sample's unit; either end may be infinite.
    alpha : float
        Chance of saying "inside" for a mean that is not; 0 < alpha < 0.5.
    span : float, optional
        How far apart two values can lie, in the sample's unit.

    Raises
    ------
    InputError
        A band that is none, an alpha out of range, or a value that is not finite.

    Examples
    --------
    >>> equivalent_mean([0.49, 0.50, 0.51, 0.50, 0.49, 0.51], (0.48, 0.52)).place
    'inside'
    """
    values = finite_sample(sample)
    _check(band, alpha)
    tails = _tail(values - band[0], span), _tail(band[1] - values, span)
    return _placed(band, mean_interval(values, level=1 - 2 * alpha, span=span), tails, alpha)


def equivalent_ratio(
    numerators: Any, denominators: Any, band: Band, *, alpha: float = 0.05, span: float | None = None
) -> Equivalence:
    """Test whether mean(numerators) / mean(denominators) lies within a band, paired by seed (Sasabuchi 1988).

    Tests `numerators - low * denominators > 0` and `high * denominators - numerators > 0` by paired t tests, which is
    Fieller's interval seen from the band. The right test for a share within runs, too (spec 1, H1.6): events of one run
    depend on each other, runs do not.

    Parameters
    ----------
    numerators, denominators : array-like of numbers, shape (n,) each
        One value a seed; the mean denominator must be positive.
    band, alpha
        As in `equivalent_mean`; for the ratio, no unit.
    span
        As in `ratio_interval`.

    Raises
    ------
    InputError
        As in `equivalent_mean`, or a mean denominator that is not positive.

    Examples
    --------
    >>> low_half, high_half = [500, 510, 495, 505, 498], [502, 505, 500, 501, 497]
    >>> equivalent_ratio(low_half, high_half, (0.95, 1.05)).place
    'inside'
    """
    upper, lower = paired_samples(numerators, denominators)
    _check(band, alpha)
    if lower.size and lower.mean() <= 0:
        raise InputError(f"the denominators of a ratio must have a positive mean. Got {float(lower.mean())!r}.")
    interval = ratio_interval(upper, lower, level=1 - 2 * alpha, span=span)
    if interval.method == "constant":
        given = None if span is None else span / abs(float(lower.mean()))
        far = upper.size, ratio_span(upper, lower, interval.mean) if given is None else given
        tails = _equal_tail(interval.mean - band[0], *far), _equal_tail(band[1] - interval.mean, *far)
    else:
        tails = _end_tail(upper, lower, band[0]), _end_tail(-upper, -lower, band[1])
    return _placed(band, interval, tails, alpha)


def equivalent_proportion(successes: int, trials: int, band: Band, *, alpha: float = 0.05) -> Equivalence:
    """Test whether the chance of success lies within a band: exact binomial tests of independent trials.

    For shares within runs use `equivalent_ratio` with one count a seed.

    Raises
    ------
    InputError
        As in `equivalent_mean`, or counts that are none.

    Examples
    --------
    >>> equivalent_proportion(5000, 10000, (0.48, 0.52)).place
    'inside'
    >>> equivalent_proportion(5, 10, (0.48, 0.52)).place
    'across'
    """
    _check(band, alpha)
    low, high = (float(np.clip(end, 0.0, 1.0)) for end in band)
    tails = chance_of_at_least(successes, trials, low), chance_of_at_most(successes, trials, high)
    tails = (0.0 if band[0] < 0 else tails[0], 0.0 if band[1] > 1 else tails[1])
    return _placed(band, proportion_interval(successes, trials, level=1 - 2 * alpha), tails, alpha)


def _check(band: Band, alpha: float) -> None:
    check_open(alpha, "alpha", 0.5)
    try:
        ordered = len(band) == 2 and band[0] < band[1]
    except TypeError:
        ordered = False
    if not ordered:
        raise InputError(f"a band must be (low, high), two numbers with low < high. Got {band!r}.")


def _end_tail(upper: np.ndarray, lower: np.ndarray, end: float) -> float:
    return _tail(upper - end * lower, None) if np.isfinite(end) else 0.0


def _tail(distances: np.ndarray, span: float | None) -> float:
    """Compute the one-sided p-value against "the mean distance is not positive"; 0 for an end at infinity."""
    from scipy.special import stdtr

    if distances.size < 2:
        return 1.0
    if distances.min() == distances.max():
        return _equal_tail(float(distances[0]), distances.size, span)
    error = distances.std(ddof=1) / np.sqrt(distances.size)
    return max(float(stdtr(distances.size - 1, -distances.mean() / error)), _sparse_tail(distances))


def _sparse_tail(distances: np.ndarray) -> float:
    """Compute the same where nearly all distances are equal, and the mean is a matter of how many seeds are not.

    The chance that so few of them come nearer to the end, if those of all seeds that do were just enough (binomial).
    """
    values, counts = np.unique(distances, return_counts=True)
    usual = float(values[counts.argmax()])
    nearer = distances < usual
    if counts.max() < NEARLY_ALL * distances.size or usual <= 0 or not nearer.any():
        return 0.0
    share = usual / (usual - float(distances.min()))
    return chance_of_at_most(int(nearer.sum()), distances.size, share) if share < 1 else 0.0


def _equal_tail(distance: float, count: int, span: float | None) -> float:
    if np.isposinf(distance):
        return 0.0
    return equal_p(count, distance, span) if distance > 0 else 1.0


def _placed(band: Band, interval: Interval, tails: tuple[float, float], alpha: float) -> Equivalence:
    if not interval.n:
        return Equivalence("across", band, interval, np.nan, np.nan, np.nan)
    p_value = max(tails)
    place: Literal["inside", "outside", "across"] = "across"
    if interval.above(band[0]) and interval.below(band[1]) and p_value < alpha:
        place = "inside"
    elif interval.above(band[1]) or interval.below(band[0]):
        place = "outside"
    return Equivalence(place, band, interval, p_value, *tails)
