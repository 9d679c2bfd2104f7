"""What is estimated of paired values, and by which test: an estimate, its interval and its p-value from one place.

    t          the mean difference: Student's interval, and the studentised permutation test
    bca        the mean difference: the bias-corrected and accelerated bootstrap, and the same test
    log_ratio  the ratio of geometric means, as a share of the baseline: the same of logarithms
    ranks      the pseudo-median of the differences: Wilcoxon's test, and the interval that it leaves

Interval, sign and p-value cannot disagree: of a test and an interval that are computed in two ways, the one that says
less is believed (`agreeing`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from workbench.studies.statistics.equal_values import difference_span
from workbench.studies.statistics.hodges_lehmann import pseudo_median
from workbench.studies.statistics.interval import Interval, mean_interval
from workbench.studies.statistics.pairing import Pairs
from workbench.studies.statistics.permutation_test import permutation_test
from workbench.studies.statistics.significance import NO_TEST, Significance
from workbench.studies.statistics.student import skewed_p, student_p
from workbench.studies.statistics.wilcoxon import Zeros, wilcoxon

Method = Literal["t", "bca", "log_ratio", "ranks"]
METHODS: dict[str, str] = {
    "t": "mean difference",
    "bca": "mean difference",
    "log_ratio": "ratio of geometric means, as a share gained",
    "ranks": "pseudo-median difference",
}
"""What each method estimates."""
INFINITE = "pseudo-median difference (infinite is worst)"
_WIDER = 1e-12


class Estimate(NamedTuple):
    """One estimate of a comparison; positive = the other is better."""

    estimand: str
    interval: Interval
    primary: Significance
    """The test of this very estimand."""
    permutation: Significance = NO_TEST
    """The permutation test of the mean difference, where the primary test was made from it."""


def estimated(
    gained: np.ndarray, pairs: Pairs, method: Method, *, higher: bool, level: float, zeros: Zeros, seed: int
) -> Estimate:
    """Return the estimate of a method; by ranks where a value is infinite, by the mean where a log has no value."""
    if not gained.size:
        return Estimate(METHODS[method], mean_interval(gained, level=level), NO_TEST)
    if not np.isfinite(gained).all() or np.isinf(pairs.baseline).any():
        return _by_ranks(gained, INFINITE, level, zeros)
    if method == "ranks":
        return _by_ranks(gained, METHODS[method], level, zeros)
    if method == "log_ratio" and min(pairs.baseline.min(), pairs.other.min()) > 0:
        return _by_logs(pairs, higher, level, seed)
    return _by_mean(gained, pairs, "t" if method == "log_ratio" else method, level, seed)


def _by_mean(gained: np.ndarray, pairs: Pairs, method: Literal["t", "bca"], level: float, seed: int) -> Estimate:
    span = difference_span(pairs.baseline, pairs.other, gained)
    interval = mean_interval(gained, level=level, method=method, seed=seed, span=span)
    test = permutation_test(gained, seed=seed)
    p = test.p_value if interval.method == "bca" else max(test.p_value, student_p(gained, span), _straightened(gained))
    return Estimate(METHODS["t"], *agreeing(interval, test._replace(p_value=p)), test)


def _straightened(gained: np.ndarray) -> float:
    """Return what skewness leaves of the evidence; equal values have none."""
    return skewed_p(gained) if gained.min() < gained.max() else 0.0


def _by_logs(pairs: Pairs, higher: bool, level: float, seed: int) -> Estimate:
    before, after = np.log(pairs.baseline), np.log(pairs.other)
    logs = np.round(after - before if higher else before - after, 12) + 0.0
    span = difference_span(before, after, logs)
    result = mean_interval(logs, level=level, span=span)
    test = permutation_test(logs, seed=seed)
    test = test._replace(p_value=max(test.p_value, student_p(logs, span)))
    gain = np.expm1(result[:3]) if higher else -np.expm1(-np.array(result[:3]))
    interval = result._replace(mean=float(gain[0]), low=float(gain[1]), high=float(gain[2]), method="log_ratio")
    return Estimate(METHODS["log_ratio"], *agreeing(interval, test))


def _by_ranks(gained: np.ndarray, estimand: str, level: float, zeros: Zeros) -> Estimate:
    test = wilcoxon(gained, zeros=zeros)
    return Estimate(estimand, *agreeing(pseudo_median(gained, level=level), test))


def agreeing(interval: Interval, test: Significance) -> tuple[Interval, Significance]:
    """Return both so that p < 1 - level exactly where the interval leaves zero out.

    Where the interval alone leaves it out, it is widened to reach zero; where the test alone rejects, its p-value is
    raised to 1 - level.

    Examples
    --------
    >>> agreeing(Interval(2.0, 0.5, 3.5, 0.95, "t", 5), Significance(2.0, 0.0625, "exact", 5))[0].low
    0.0
    >>> round(agreeing(Interval(2.0, -0.5, 4.5, 0.95, "t", 9), Significance(2.0, 0.04, "exact", 9))[1].p_value, 3)
    0.05
    """
    alpha = 1 - interval.level
    clear = interval.above(0) or interval.below(0)
    if clear and not test.p_value < alpha:
        return interval._replace(low=min(interval.low, 0.0), high=max(interval.high, 0.0)), test
    if not clear and test.p_value < alpha:
        return interval, test._replace(p_value=alpha * (1 + _WIDER))
    return interval, test
