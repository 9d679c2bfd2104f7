"""Intervals of means, medians and shares, the tests that go with them, and what p-values are worth among many.

Two policies are compared seed by seed: values that belong together are a pair, and what has no partner is named.

Of a mean by Student's t or by the bootstrap, of a share exactly, of a median by order statistics. The exact sign test
asks whether the median of paired differences is 0. A difference above 0, below 0 or equal to it is all that it sees, so
that neither skewness nor an infinite value (which is the largest rank there is) nor a range that nobody knows moves it:
it errs in no more than alpha of all studies, whatever the law of the differences. A tie is on neither side: where more
than half of all pairs are equal, the median difference is 0.

Over a family of tests there are Holm's correction and the false discovery rate. Over looks: whoever stops when a
verdict looks right has looked many times, and one of many tests errs more often than each of them: of ten looks at 5 %,
one is wrong in a fifth of all studies without effect. The chance that any look shows a p-value as small as the one that
is seen is counted out, path by path, and takes its place.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np

from workbench.errors import InputError, shown, wrong_value
from workbench.streams import Streams

_BITS_KEPT = 40
"""A difference is known to this many bits of the largest value (a part in 10^12): below, it is rounding."""


class Pairs(NamedTuple):
    """Two policies' values on the same seeds."""

    seeds: tuple[Hashable, ...]
    """The seeds that both have, in natural order."""
    baseline: np.ndarray
    """float64[n], in the order of the seeds."""
    other: np.ndarray
    """float64[n], in the order of the seeds."""
    missing: tuple[Hashable, ...]
    """The seeds that lack a value on one side or on both, in natural order."""

    def differences(self) -> np.ndarray:
        """Return baseline - other: float64[n].

        Infinite values are the worst there are: of two there is no difference (0), and one alone differs infinitely.
        Whole numbers are subtracted as they are. Other values carry rounding, and a difference that is rounding alone
        must not count as a win or break a tie: those are rounded to 2^-40 of the largest value of the sample.
        """
        both = np.isinf(self.baseline) & (self.baseline == self.other)
        with np.errstate(invalid="ignore"):
            raw = np.where(both, 0.0, self.baseline - self.other)
        values = np.concatenate([self.baseline, self.other])
        values = values[np.isfinite(values)]
        if not values.size or (values == np.floor(values)).all():
            return raw
        _, exponent = np.frexp(np.abs(values).max())
        return np.ldexp(np.rint(np.ldexp(raw, _BITS_KEPT - exponent)), exponent - _BITS_KEPT) + 0.0  # no -0.0


def pair(baseline: Any, other: Any) -> Pairs:
    """Pair the values by seed; NaN and None are values that are missing.

    Parameters
    ----------
    baseline, other : mapping from seed to number (dict, pandas Series), or array-like of numbers, shape (n,)
        Both of one kind. In rows the position is the seed, so both must be as long.

    Raises
    ------
    InputError
        Rows of different lengths, a mapping beside a row, a seed twice, or no seed in common although both have
        values. Seeds that both name and of which each lacks a value on one side are no mistake: runs fail, and then
        there is no pair.

    Examples
    --------
    >>> pair({1: 10, 2: 20, 3: 30}, {2: 18, 3: None, 4: 40})
    Pairs(seeds=(2,), baseline=array([20.]), other=array([18.]), missing=(1, 3, 4))
    """
    left, right = _by_seed(baseline, "baseline"), _by_seed(other, "other")
    if hasattr(baseline, "items") != hasattr(other, "items"):
        raise InputError("baseline and other must both map seeds to values, or both be rows. Got one of each.")
    if not hasattr(baseline, "items") and len(left) != len(right):
        raise InputError(
            f"rows must have one value a seed each. Got {len(left)} and {len(right)} values. "
            "Give mappings from seed to value to pair what both have."
        )
    seeds = sorted(left.keys() | right.keys(), key=_natural)
    return _paired(seeds, left, right)


def _paired(seeds: list[Hashable], left: dict[Hashable, float], right: dict[Hashable, float]) -> Pairs:
    nan = float("nan")
    values = np.array([[left.get(seed, nan), right.get(seed, nan)] for seed in seeds]).reshape(-1, 2)
    known = ~np.isnan(values)
    both = known.all(axis=1)
    if known.any(axis=0).all() and not left.keys() & right.keys():
        raise InputError("baseline and other have no seed in common. Got no pair. Run both with the same seeds.")
    kept = values[both]
    common = tuple(seed for seed, has in zip(seeds, both) if has)
    missing = tuple(seed for seed, has in zip(seeds, both) if not has)
    return Pairs(common, kept[:, 0].copy(), kept[:, 1].copy(), missing)


def _by_seed(given: Any, name: str) -> dict[Hashable, float]:
    seeds_and_values = _items(given, name)
    numbers = as_numbers([value for _, value in seeds_and_values], name)
    by_seed: dict[Hashable, float] = {}
    for (seed, _), number in zip(seeds_and_values, numbers.tolist()):
        if seed in by_seed:
            raise InputError(f"{name} must have one value a seed. Got seed {shown(seed)} twice.")
        by_seed[seed] = number
    return by_seed


def _items(given: Any, name: str) -> list[tuple[Hashable, Any]]:
    try:
        return list(given.items() if hasattr(given, "items") else enumerate(given))
    except TypeError:
        raise wrong_value("", name, "must map seeds to values, or be a row of numbers", given) from None


def _natural(seed: Hashable) -> tuple[int, str]:
    """Return a key that orders 2 before 10, whatever order the rows finished in; the order decides what the bootstrap
    draws."""
    return len(str(seed)), str(seed)


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


Name = TypeVar("Name", bound=Hashable)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-value of every test, in the order given (Holm 1979); equal p-values stay equal.

    The smallest p is multiplied by the number of tests, the next by one less and so on, none falls below its
    predecessor, none exceeds 1. Rejecting what is below alpha then makes any false rejection in the whole family no
    more likely than alpha, however the tests depend on each other.

    Raises
    ------
    InputError
        A p-value outside [0, 1] or NaN.

    References
    ----------
    spec 1, section 6: "Holm correction over the family".

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    {'a': 0.03, 'b': 0.06, 'c': 0.06, 'd': 0.02}
    """
    ascending = sorted(_checked(p_values), key=lambda name: p_values[name])
    weighted = (min(1.0, (len(ascending) - k) * p_values[name]) for k, name in enumerate(ascending))
    adjusted = dict(zip(ascending, accumulate(weighted, max)))
    return {name: adjusted[name] for name in p_values}


def false_discovery(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-value of every test, in the order given (Benjamini and Hochberg 1995, by SciPy).

    Rejecting what is below alpha then makes the expected share of false ones among the rejected at most alpha, where
    the tests are independent or depend on each other positively, as cells of a map do. It rejects more than `holm`,
    which bounds the chance of any false rejection at all.

    Raises
    ------
    InputError
        A p-value outside [0, 1] or NaN.

    Examples
    --------
    >>> adjusted = false_discovery({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    >>> {name: round(p, 9) for name, p in adjusted.items()}
    {'a': 0.02, 'b': 0.04, 'c': 0.04, 'd': 0.02}
    """
    from scipy.stats import false_discovery_control

    if not _checked(p_values):
        return {}
    return dict(zip(p_values, false_discovery_control([*p_values.values()]).tolist(), strict=True))


def _checked(p_values: Mapping[Name, float]) -> Mapping[Name, float]:
    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise wrong_value("", f"the p-value of {name}", "must be a number from 0 to 1", p)
    return p_values


class Looks(NamedTuple):
    """The numbers of seeds at which results are looked at, rising.

    References
    ----------
    [1] Pocock (1977), Biometrika 64: equal levels at every look.
    [2] Armitage, McPherson and Rowe (1969), J. R. Stat. Soc. A 132: the chance, from look to look.
    [3] Jennison and Turnbull (1989), J. R. Stat. Soc. B 51: repeated intervals hold for any stopping rule.

    Examples
    --------
    >>> round(Looks((20, 40, 60, 80, 100)).p_value(0.01), 3), Looks((100,)).p_value(0.01)
    (0.021, 0.01)
    """

    counts: tuple[int, ...]

    def p_value(self, p: float) -> float:
        """Return the chance that any look shows a two-sided p-value of the sign test as small as one that was seen.

        It is never below that; ties make it smaller, not larger. NaN stays NaN.

        Raises
        ------
        InputError
            Counts that do not rise.
        """
        if not self.counts or min(np.diff(self.counts, prepend=0)) <= 0:
            raise wrong_value("", "looks", "must be numbers that rise", list(self.counts))
        if len(self.counts) == 1 or not p < 1:
            return p
        return max(p, chance_of_any(self.counts, p))

    def level(self, level: float) -> float:
        """Return the level of the interval at each look with which all of them hold together at a level.

        Raises
        ------
        InputError
            A level outside (0, 1), or counts that do not rise.

        Examples
        --------
        >>> round(Looks((20, 40, 60, 80, 100)).level(0.95), 4), Looks((100,)).level(0.95)
        (0.979, 0.95)
        """
        check_open(level, "level")
        if len(self.counts) == 1:
            return level
        low, high = (1 - level) / len(self.counts), 1 - level
        for _ in range(40):
            tried = (low + high) / 2
            low, high = (tried, high) if self.p_value(tried) <= 1 - level else (low, tried)
        return 1 - low


@functools.lru_cache(maxsize=4096)
def chance_of_any(counts: tuple[int, ...], p: float) -> float:
    """Return the chance that the sign test of pairs without ties has a p-value of at most `p` at any look.

    The number of pairs above 0 is followed from look to look over the paths that no look has ended yet.

    >>> round(chance_of_any((6,), 0.04), 9), round(chance_of_any((6, 7), 0.04), 9)  # all 7 alike are all 6 alike
    (0.03125, 0.03125)
    """
    from scipy.special import bdtr
    from scipy.stats import binom

    paths, before, ended = np.ones(1), 0, 0.0
    for count in counts:
        step = count - before
        paths = np.convolve(paths, binom.pmf(np.arange(step + 1), step, 0.5))
        above = np.arange(count + 1)
        ends = np.minimum(1.0, 2 * bdtr(np.minimum(above, count - above), count, 0.5)) <= p * (1 + 1e-12)
        ended += float(paths[ends].sum())
        paths, before = np.where(ends, 0.0, paths), count
    return ended
