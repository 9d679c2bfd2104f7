"""Comparisons of two policies on the same seeds: which is better, or are they as good as equal?

`compare` judges one thing that the line names: the median paired difference, by the exact sign test, with the interval
that this test leaves. The mean difference stands beside it: a policy that is better on most seeds and loses much on a
few is not sold as a winner. It can be chosen for the verdict (`estimand="mean"`), from 40 seeds on.

`median_within` and `ratio_within` are two one-sided sign tests of the median of values, or of ratios, in a band.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.number_text import to_decimals
from workbench.statistics.interval import (
    Interval,
    check_open,
    mean_interval,
    mean_test,
    median_interval,
    one_sided_p,
    ranked_sample,
    sign_p,
)
from workbench.statistics.pairs import Pairs, pair

Better = Literal["lower", "higher"]
Estimand = Literal["median", "mean"]
ESTIMANDS: dict[str, str] = {
    "median": "the median paired difference, by the exact sign test",
    "mean": "the mean paired difference, by the studentised bootstrap, from 40 seeds on",
}
MEAN_FROM = 40
"""Pairs from which a mean is judged: of fewer, any test of it errs too often where differences are skewed."""


class PairedComparison(NamedTuple):
    """How another policy does against the baseline. A positive difference always means: the other is better."""

    baseline: str
    other: str
    better: Better
    n: int
    """Pairs compared."""
    seeds: tuple[Hashable, ...]
    """The seeds of the pairs, in natural order (2 before 10)."""
    missing: tuple[Hashable, ...]
    """The seeds that lack a value on one side or on both; they are in no figure below. An infinite value is a value."""
    differences: tuple[float, ...]
    """One a pair: baseline - other where lower is better (spec 1, R33), other - baseline where higher is better."""
    baseline_mean: float
    other_mean: float
    estimand: Estimand
    interval: Interval
    """The estimate with its interval: the median difference, or the mean difference where that is what is judged."""
    p_value: float
    """Against an estimand of 0, two-sided; below 1 - level exactly where `interval` leaves zero out. NaN without a
    pair."""
    mean: Interval
    """The mean difference, whatever is judged."""
    saving: Interval
    """The differences over the baseline's values, seed by seed: their median, or of a judged mean its share of the
    baseline's (no limits). NaN unless the baseline's values are positive."""
    wins: int
    """Pairs in which the other is better (faster, where a time is compared)."""
    losses: int
    """Pairs in which the other is worse (slower)."""
    ties: int

    @property
    def infinite(self) -> int:
        """Count the pairs whose difference is infinite: the largest rank there is, which no mean can be taken of."""
        return int(np.isinf(self.differences).sum())

    @property
    def is_same(self) -> bool:
        """Return whether both are equal on every seed."""
        return self.ties == self.n > 0

    @property
    def sentence(self) -> str:
        """Return the result in one line, with what is missing."""
        if not self.n:
            return f"{self.other} against {self.baseline}: no seed has a value on both sides, so nothing is compared"
        alone = f"; {len(self.missing)} seeds without a pair" if self.missing else ""
        opening = f"{self.other} against {self.baseline} ({self.better} is better): "
        if self.is_same:
            return f"{opening}the same at all {self.n} seeds{alone}"
        relative = "" if np.isnan(self.saving.mean) else f", {to_decimals(100 * self.saving.mean, 2)}% of the baseline"
        mean = "" if self.estimand == "mean" else f"; mean {self.mean}"
        return (
            f"{opening}better at {self.wins}, worse at {self.losses}, the same at {self.ties} of {self.n} seeds; "
            f"{self.estimand} difference {self.interval}{relative}; p = {self.p_value:.2g}{mean}{alone}"
        )


def compare(
    baseline: Any,
    other: Any,
    *,
    names: tuple[str, str] = ("baseline", "other"),
    better: Better = "lower",
    level: float = 0.95,
    estimand: Estimand = "median",
) -> PairedComparison:
    """Compare two policies seed by seed; the test is two-sided.

    Differences that are zero throughout are a result: median 0, its interval [0, 0], p = 1. With fewer than 6 pairs no
    p-value is below 5 % and there are no limits (NaN); with none (one side has no value at all) figures and p-value are
    NaN. A mean of fewer than 40 pairs is not judged: its p-value is 1 and its limits are unknown.

    Parameters
    ----------
    baseline, other : mapping from seed to number, or array-like of numbers, shape (n,)
        One measure of either policy. NaN and None mark failed runs; pairs that lack a value are listed in `missing`.
    names : tuple of str
        Of the baseline and of the other.
    better : {"lower", "higher"}
        Which values of the measure are good. It sets the sign: a positive difference means that the other is better.
    level : float
        Of all intervals.
    estimand : {"median", "mean"}
        What the verdict is about.

    Raises
    ------
    InputError
        Values that cannot be paired (see `pair`) or an unknown option.

    References
    ----------
    spec 1, R33 (sign convention) and section 6 (common design).

    Examples
    --------
    >>> c = compare({1: 100, 2: 110, 3: 120, 4: 90}, {1: 95, 2: 104, 3: 113, 5: 80}, names=("first_fit", "best_fit"))
    >>> c.differences, c.missing, c.wins
    ((5.0, 6.0, 7.0), (4, 5), 3)
    >>> print(c.interval, c.p_value)  # three pairs cannot show a difference: 2 of 8 patterns of signs look like it
    6 0.25
    >>> compare([5, 6, 7], [5, 6, 7]).p_value
    1.0
    """
    if better not in ("lower", "higher"):
        raise unknown_name("", "side that is better", better, ("lower", "higher"))
    if estimand not in ESTIMANDS:
        raise unknown_name("", "estimand", estimand, ESTIMANDS)
    pairs = pair(baseline, other)
    gained = pairs.differences() if better == "lower" else 0.0 - pairs.differences()
    wins, losses, count = int((gained > 0).sum()), int((gained < 0).sum()), gained.size
    mean = mean_interval(gained, level=level)
    interval, p_value = median_interval(gained, level=level), sign_p(wins, losses, count)
    if estimand == "mean":
        unjudged = mean._replace(low=np.nan, high=np.nan, method="none"), 1.0
        interval, p_value = mean_test(gained, level=level) if count >= MEAN_FROM else unjudged
    return PairedComparison(
        *names,
        better,
        n=count,
        seeds=pairs.seeds,
        missing=pairs.missing,
        differences=tuple(gained.tolist()),
        baseline_mean=mean_interval(pairs.baseline).mean,
        other_mean=mean_interval(pairs.other).mean,
        estimand=estimand,
        interval=interval,
        p_value=p_value if count else np.nan,
        mean=mean,
        saving=_saving(gained, pairs, interval, estimand, level),
        wins=wins,
        losses=losses,
        ties=count - wins - losses,
    )


def _saving(gained: np.ndarray, pairs: Pairs, interval: Interval, estimand: Estimand, level: float) -> Interval:
    unknown = Interval(np.nan, np.nan, np.nan, level, "none", gained.size)
    if not gained.size or pairs.baseline.min() < 0 or not 0 < pairs.baseline.max() < np.inf:
        return unknown
    if estimand == "mean":
        return unknown._replace(mean=interval.mean / float(pairs.baseline.mean()))
    return median_interval(shares(gained, pairs.baseline), level=level)


def shares(parts: np.ndarray, wholes: np.ndarray) -> np.ndarray:
    """Return parts over wholes, none of which is below 0: nothing of nothing is 0, anything else of it infinite.

    >>> shares(np.array([1.0, 0.0, -1.0]), np.array([2.0, 0.0, 0.0])).tolist()
    [0.5, 0.0, -inf]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(parts == 0, 0.0, parts / wholes)


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
    p_inside = max(0.0 if end else one_sided_p(count, values.size) for end, count in zip(ends, within, strict=True))
    p_outside = min(1.0, 2 * min(one_sided_p(count, values.size) for count in beyond))
    place: Literal["inside", "outside", "across"] = "across"
    if p_inside < alpha:
        place = "inside"
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


def _check(band: Band, alpha: float) -> None:
    check_open(alpha, "alpha", 0.5)
    try:
        ordered = len(band) == 2 and band[0] < band[1]
    except TypeError:
        ordered = False
    if not ordered:
        raise InputError(f"a band must be (low, high), two numbers with low < high. Got {band!r}.")
