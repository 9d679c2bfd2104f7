"""Is the other policy better than the baseline? One comparison of two policies on the same seeds, in full."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import unknown_name
from workbench.studies.statistics.equal_values import difference_span
from workbench.studies.statistics.estimand import METHODS, Estimate, Method, estimated
from workbench.studies.statistics.interval import Interval
from workbench.studies.statistics.pairing import Pairs, pair
from workbench.studies.statistics.permutation_test import permutation_test
from workbench.studies.statistics.proportion import proportion_interval
from workbench.studies.statistics.ratio import ratio_interval
from workbench.studies.statistics.sign_test import sign_test
from workbench.studies.statistics.significance import NO_TEST, Significance
from workbench.studies.statistics.student import small_for_its_skew
from workbench.studies.statistics.wilcoxon import Zeros, signed_ranks, wilcoxon

Better = Literal["lower", "higher"]


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
    interval: Interval
    """The estimate with its interval: the mean difference, or what `estimand` names."""
    median: float
    """The median difference."""
    saving: Interval
    """Mean difference / mean of the baseline, with Fieller's interval; NaN unless the baseline's mean is positive."""
    wins: int
    """Pairs in which the other is better (faster, where a time is compared)."""
    losses: int
    """Pairs in which the other is worse (slower)."""
    ties: int
    win_share: Interval
    """P(difference > 0): wins / n with the exact binomial interval; a tie is not a win."""
    wilcoxon: Significance
    sign: Significance
    permutation: Significance
    rank_biserial: float
    """Effect size of the signed ranks, -1 to 1: 1 = better on every seed that differs, 0 = no difference."""
    cohen_dz: float
    """Effect size of the mean: mean / standard deviation of the differences; infinite where all are equal, not zero."""
    estimand: str
    """What `interval` is of and `primary` tests."""
    primary: Significance
    """The test of the estimand: below 1 - level exactly where `interval` leaves zero out."""

    @property
    def p_value(self) -> float:
        """Return the p-value that a family of comparisons is corrected over: that of the estimand shown."""
        return self.primary.p_value

    @property
    def infinite(self) -> int:
        """Count the pairs whose difference is infinite: the worst value there is, which no mean can be taken of."""
        return int(np.isinf(self.differences).sum())

    @property
    def skew_note(self) -> str:
        """Return a sentence where the pairs are too few for the skewness of their differences; else an empty one."""
        return small_for_its_skew(np.array(self.differences)) if self.interval.method == "t" else ""

    @property
    def sentence(self) -> str:
        """Return the result in one line, with what is missing."""
        if not self.n:
            return f"{self.other} against {self.baseline}: no seed has a value on both sides, so nothing is compared"
        relative = "" if np.isnan(self.saving.mean) else f", {self.saving.mean:.2%} of the baseline"
        infinite = f"; {self.infinite} differences are infinite, the worst there is" if self.infinite else ""
        alone = f"; {len(self.missing)} seeds without a pair" if self.missing else ""
        return (
            f"{self.other} against {self.baseline} ({self.better} is better): {self.estimand} {self.interval} "
            f"({100 * self.interval.level:.4g} %, {self.interval.method}){relative}; "
            f"better in {self.wins}, worse in {self.losses}, equal in {self.ties} of {self.n} pairs; "
            f"p = {self.p_value:.2g} ({self.primary.method}){alone}{infinite}"
        )


def compare(
    baseline: Any,
    other: Any,
    *,
    names: tuple[str, str] = ("baseline", "other"),
    better: Better = "lower",
    level: float = 0.95,
    method: Method = "t",
    zeros: Zeros = "pratt",
    seed: int = 0,
) -> PairedComparison:
    """Compare two policies seed by seed; all tests are two-sided.

    Differences that are zero throughout are a result: mean 0, p-values 1, effect sizes 0. The limits of differences
    that are all equal bound what was not seen, over the range of both policies' values. With one pair the limits of
    the mean are unknown (NaN); with none (one side has no value at all) there is no test: figures and p-values are NaN.

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
    method : {"t", "bca", "log_ratio", "ranks"}
        What is estimated, with its interval and test (`estimand`): the mean difference by Student or by the bootstrap,
        the ratio of geometric means, or the pseudo-median. Infinite values are compared by ranks whatever is asked for.
    zeros : {"pratt", "wilcox"}
        How Wilcoxon's test counts ties between the policies, see `wilcoxon`.
    seed : int
        Of the bootstrap and of the random sign patterns.

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
    6 [0, 8.484] 0.25
    >>> compare([5, 6, 7], [5, 6, 7]).p_value
    1.0
    """
    if better not in ("lower", "higher"):
        raise unknown_name("", "side that is better", better, ("lower", "higher"))
    if method not in METHODS:
        raise unknown_name("", "interval method", method, METHODS)
    pairs = pair(baseline, other)
    gained = pairs.differences() if better == "lower" else 0.0 - pairs.differences()
    estimate = estimated(gained, pairs, method, higher=better == "higher", level=level, zeros=zeros, seed=seed)
    wins, losses = int((gained > 0).sum()), int((gained < 0).sum())
    return PairedComparison(
        *names,
        better,
        n=gained.size,
        seeds=pairs.seeds,
        missing=pairs.missing,
        differences=tuple(gained.tolist()),
        baseline_mean=_or_nan(np.mean, pairs.baseline),
        other_mean=_or_nan(np.mean, pairs.other),
        interval=estimate.interval,
        median=_or_nan(np.median, gained) if np.isfinite(gained).all() else estimate.interval.mean,
        saving=_saving(gained, pairs, level),
        wins=wins,
        losses=losses,
        ties=gained.size - wins - losses,
        win_share=proportion_interval(wins, gained.size, level=level),
        wilcoxon=wilcoxon(gained, zeros=zeros),
        sign=sign_test(wins, losses) if gained.size else NO_TEST,
        permutation=_permutation(estimate, gained, seed),
        rank_biserial=signed_ranks(gained, zeros=zeros).biserial if gained.size else np.nan,
        cohen_dz=_cohen_dz(gained),
        estimand=estimate.estimand,
        primary=estimate.primary,
    )


def _permutation(estimate: Estimate, gained: np.ndarray, seed: int) -> Significance:
    """Return the test of the mean difference: made already where that is what is estimated, none of infinite values."""
    if estimate.permutation is not NO_TEST:
        return estimate.permutation
    return permutation_test(gained, seed=seed) if np.isfinite(gained).all() else NO_TEST


def _or_nan(statistic: Any, values: np.ndarray) -> float:
    return float(statistic(values)) if values.size else np.nan


def _saving(gained: np.ndarray, pairs: Pairs, level: float) -> Interval:
    if not pairs.baseline.size or not np.isfinite(gained).all() or not 0 < pairs.baseline.mean() < np.inf:
        return Interval(np.nan, np.nan, np.nan, level, "none", gained.size)
    return ratio_interval(
        gained, pairs.baseline, level=level, span=difference_span(pairs.baseline, pairs.other, gained)
    )


def _cohen_dz(gained: np.ndarray) -> float:
    if gained.size < 2 or not np.isfinite(gained).all():
        return np.nan
    if gained.min() == gained.max():
        return float(np.copysign(np.inf, gained[0])) if gained[0] else 0.0
    return float(gained.mean() / gained.std(ddof=1))
