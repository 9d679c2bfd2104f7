"""Two policies on the same seeds: how large is the difference, and on which side are most seeds?

`compare` brings two tests of two questions. The size is the geometric mean of the paired ratios, or the mean of the
paired differences, by Student's t; its measure says which, never the data. The direction is the exact sign test over
the seeds that differ. `judge` makes a verdict of both, corrected over all comparisons of a table.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.metrics.measure import COMPARED_BY, LEAST, ComparedBy
from workbench.number_text import PLAIN, Style, probability, with_limits
from workbench.statistics.interval import Interval, mean_interval, mean_of, sign_p, t_quantile
from workbench.statistics.looks import any_time_sign, any_time_t, over_looks
from workbench.statistics.pairs import BITS_KEPT, pair

Better = Literal["lower", "higher"]


class PairedComparison(NamedTuple):
    """How another policy does against the baseline. A ratio above 1, a difference above 0: the other is better."""

    baseline: str
    other: str
    better: Better
    compared_by: ComparedBy
    """What the measure declares."""
    least_effect: float | None
    """The least size that counts: a share of 1 for ratios, the measure's unit for differences; None = none declared."""
    seeds: tuple[Hashable, ...]
    """The seeds of the pairs, in natural order (2 before 10)."""
    missing: tuple[Hashable, ...]
    """The seeds that lack a value on one side or on both; they are in no figure below. An infinite value is a value."""
    differences: tuple[float, ...]
    """One a pair: baseline - other where lower is better (spec 1, R33), other - baseline where higher is better."""
    sizes: tuple[float, ...]
    """One a pair: the logarithm of the ratio, or the difference; NaN where a side did not end."""
    baseline_mean: float
    other_mean: float
    size: Interval
    """The geometric mean of the ratios or the mean of the differences, over the pairs that ended, with its 95 %
    interval of one look and of one comparison."""
    spread: float
    """The standard deviation of what the size is the mean of: of logarithms, or of differences."""
    p_alone: float
    """Of Student's t, two-sided: below 1 - level exactly where the interval of `size` leaves out what is no effect."""
    p_size: float
    """The same over all looks, and never below the p of as many pairs that are all on one side. It is 1 where there is
    no verdict of size, and NaN where nothing is tested: of one pair, or where nothing is drawn."""
    p_direction: float
    """Of the sign test over all looks; NaN where nothing is tested."""
    ended: int
    """Pairs of which neither value is infinite, as that of a refused run is."""
    zeros: int
    """Pairs that have no ratio, for a value is 0 or negative; if any, `size` is the mean difference."""
    wins: int
    """Pairs in which the other is better."""
    losses: int
    """Pairs in which the other is worse."""
    exact: bool = False
    """Whether workload and policies draw nothing: one run is all that there is, and nothing is tested."""

    @property
    def n(self) -> int:
        """Return the number of pairs."""
        return len(self.seeds)

    @property
    def ties(self) -> int:
        """Return at how many pairs both are equal."""
        return self.n - self.wins - self.losses

    @property
    def is_same(self) -> bool:
        """Return whether both are equal on every seed."""
        return self.ties == self.n > 0 and not any(size and not math.isnan(size) for size in self.sizes)

    @property
    def side_of_values(self) -> str:
        """Return whether the other is `better` or `worse` by its values alone, without a test; empty if neither."""
        if self.wins > self.losses or self.size.mean > self.no_effect:
            return "better"
        return "worse" if self.losses > self.wins or self.size.mean < self.no_effect else ""

    @property
    def is_ratio(self) -> bool:
        """Return whether `size` is a ratio."""
        return self.compared_by == "ratio" and not self.zeros

    @property
    def no_effect(self) -> float:
        """Return the size that is no effect: 1 for a ratio, 0 for a difference."""
        return 1.0 if self.is_ratio else 0.0

    @property
    def is_sized(self) -> bool:
        """Return whether there is a verdict of size: every pair ended, and those of a ratio have one."""
        return self.ended == self.n and not self.zeros

    @property
    def least(self) -> float | None:
        """Return the least effect on the scale of `sizes`, None where none is declared."""
        if self.least_effect is None or not self.is_sized:
            return None
        return math.log1p(self.least_effect) if self.is_ratio else self.least_effect

    @property
    def is_equal(self) -> bool:
        """Return whether the 90 % interval of the size lies within the least effect."""
        if self.least is None or self.n < 2 or self.exact:
            return False
        if self.spread == 0:  # t knows nothing of values without spread: five that are equal are told from luck
            return abs(self.sizes[0]) < self.least and 2.0**-self.n < 0.05
        half = t_quantile(0.9, self.n - 1) * self.spread / math.sqrt(self.n)
        return abs(float(np.mean(self.sizes))) + half < self.least

    @property
    def sentence(self) -> str:
        """Return the result in one line, with what is missing."""
        if not self.n:
            return f"{self.other} against {self.baseline}: no seed has a value on both sides, so nothing is compared"
        alone = f"; {len(self.missing)} seed{'s' * (len(self.missing) > 1)} without a pair" if self.missing else ""
        opening = f"{self.other} against {self.baseline} ({self.better} is better): "
        if self.is_same:
            return f"{opening}the same at all {self.n} seeds{alone}"
        tested = "" if self.exact else f"; p of size {probability(self.p_size)}, of direction {_p(self.p_direction)}"
        return f"{opening}{size_text(self)}, better at {self.wins}, worse at {self.losses} of {self.n}{tested}{alone}"


def _p(p: float) -> str:
    return "none" if math.isnan(p) else probability(p)


def size_text(one: PairedComparison, style: Style = PLAIN) -> str:
    """Return a size with its interval: `1.058x [1.049, 1.067]`, or `12 [9, 15]`."""
    text = with_limits(one.size.mean, one.size.low, one.size.high, style)
    if not one.is_ratio or not math.isfinite(one.size.mean):
        return text
    value, gap, interval = text.partition(style.gap)
    return f"{value}{style.times}{gap}{interval}"


def compare(
    baseline: Any,
    other: Any,
    *,
    names: tuple[str, str] = ("baseline", "other"),
    better: Better = "lower",
    compared_by: ComparedBy = "difference",
    least_effect: float | None = None,
    level: float = 0.95,
    planned: Collection[Hashable] | None = None,
    exact: bool = False,
) -> PairedComparison:
    """Compare two policies seed by seed; both tests are two-sided.

    Where a value is infinite, as that of a refused run is, the size is over the pairs that ended, and has no verdict
    (p = 1). Where a value of a ratio measure is 0 or negative there is no ratio: the mean difference is given, likewise
    without a verdict. Direction then decides alone: two infinite values tie, one is worse than any other. The p of a
    size is at least 2^(1 - n), that of n pairs which are all on one side. A smaller one rests on the tails of the
    normal law alone. Sizes that are all the same have no other.

    Parameters
    ----------
    baseline, other : mapping from seed to number, or array-like of numbers, shape (n,)
        One measure of either policy. NaN and None mark failed runs; pairs that lack a value are listed in `missing`.
    names : tuple of str
        Of the baseline and of the other.
    better : {"lower", "higher"}
        Which values of the measure are good. A ratio above 1, a difference above 0 means that the other is better.
    compared_by : {"ratio", "difference"}
        What the size is; `ratio` for measures that can never be 0.
    least_effect : float, optional
        The least size that counts, above 0: a share of 1 (0.01 = 1 %, the default) for a ratio, or the measure's unit.
    level : float
        Of the interval of the size.
    planned : collection of seeds, optional
        The seeds of the first plan, if all of its runs ended; empty if not; all seeds if None. They have 90 % of the
        error rate.
    exact : bool
        Whether neither the workload nor any policy draws: nothing is tested.

    Raises
    ------
    InputError
        Values that cannot be paired (see `pair`) or an unknown option.

    References
    ----------
    spec 1, R33 (sign convention) and section 6 (common design).

    Examples
    --------
    >>> times = {1: 100, 2: 110, 3: 120, 4: 90}, {1: 95, 2: 104, 3: 113, 5: 80}
    >>> c = compare(*times, names=("first_fit", "best_fit"), compared_by="ratio")
    >>> c.differences, c.missing, c.wins
    ((5.0, 6.0, 7.0), (4, 5), 3)
    >>> print(size_text(c), round(c.p_alone, 4))
    1.057x [1.046, 1.069] 0.0021
    >>> compare([5, 6, 7], [5, 6, 7]).p_direction
    1.0
    """
    if better not in ("lower", "higher"):
        raise unknown_name("", "side that is better", better, ("lower", "higher"))
    if compared_by not in COMPARED_BY:
        raise unknown_name("", "compared_by", compared_by, COMPARED_BY)
    if least_effect is not None and not 0 < least_effect < math.inf:
        raise InputError(f"least_effect must be a number above 0. Got {least_effect!r}.")
    pairs = pair(baseline, other)
    # Subtract from 0.0: a mere change of sign would turn ties into -0.0.
    gained = pairs.differences() if better == "lower" else 0.0 - pairs.differences()
    ended = np.isfinite(pairs.baseline) & np.isfinite(pairs.other)
    zeros = int((np.minimum(pairs.baseline, pairs.other) <= 0)[ended].sum()) if compared_by == "ratio" else 0
    is_ratio = compared_by == "ratio" and not zeros
    sizes = np.where(ended, gained, np.nan)
    if is_ratio:
        sizes[ended] = _logs(pairs.baseline[ended], pairs.other[ended], gained[ended], better)
    in_plan = np.array([planned is None or seed in planned for seed in pairs.seeds], bool)
    tested = not exact and gained.size > 1
    p_size = _p_size(sizes, in_plan) if ended.all() and not zeros else 1.0
    size, p_alone = _size(sizes[ended], level, is_ratio)
    if exact:
        size, p_alone = size._replace(low=math.nan, high=math.nan), math.nan
    return PairedComparison(
        *names,
        better,
        compared_by,
        least_effect if least_effect is not None or compared_by != "ratio" else LEAST,
        pairs.seeds,
        pairs.missing,
        tuple(gained.tolist()),
        tuple(sizes.tolist()),
        mean_of(pairs.baseline),
        mean_of(pairs.other),
        size,
        _spread(sizes[ended]),
        p_alone,
        p_size if tested else math.nan,
        _p_direction(gained, in_plan) if tested else math.nan,
        int(ended.sum()),
        zeros,
        int((gained > 0).sum()),
        int((gained < 0).sum()),
        exact,
    )


def over_workloads(
    members: Sequence[PairedComparison], *, level: float = 0.95, planned: Collection[Hashable] | None = None
) -> PairedComparison | None:
    """Return the comparison over several workloads, which are fixed: the geometric mean of their geometric means.

    Its standard error is from the means of the logarithms at each seed that all workloads have, as workloads share
    their seeds. It has a size alone: `judge` counts it as one more member of the family. None where a workload has no
    verdict of size, or fewer than two share a seed.

    Examples
    --------
    >>> short, long = (compare(times, [2, 2, 2], compared_by="ratio") for times in ([4, 4.2, 4], [3, 3.1, 3.2]))
    >>> print(size_text(over_workloads([short, long])))
    1.77x [1.68, 1.87]
    """
    shared = set(members[0].seeds).intersection(*(one.seeds for one in members[1:])) if members else set()
    if len(members) < 2 or not shared or not all(one.is_ratio and one.is_sized for one in members):
        return None
    first = members[0]
    seeds = tuple(seed for seed in first.seeds if seed in shared)
    by_seed = [dict(zip(one.seeds, one.sizes, strict=True)) for one in members]
    sizes = np.array([np.mean([one[seed] for one in by_seed]) for seed in seeds])
    size, p_alone = _size(sizes, level, True)
    exact = all(one.exact for one in members)
    in_plan = np.array([planned is None or seed in planned for seed in seeds], bool)
    missing = tuple(dict.fromkeys(seed for one in members for seed in one.seeds if seed not in shared))
    sums = [sum(getattr(one, side) for one in members) for side in ("baseline_mean", "other_mean")]
    return first._replace(
        seeds=seeds,
        missing=missing,
        differences=(),
        sizes=tuple(sizes.tolist()),
        baseline_mean=sums[0],
        other_mean=sums[1],
        size=size,
        spread=_spread(sizes),
        p_alone=p_alone,
        p_size=math.nan if exact or len(seeds) < 2 else _p_size(sizes, in_plan),
        p_direction=math.nan,
        ended=len(seeds),
        wins=0,
        losses=0,
        exact=exact,
    )


def size_between(
    first: PairedComparison, other: PairedComparison, planned: Collection[Hashable] | None = None
) -> tuple[float, float]:
    """Return the mean size of another policy against a first one, and its p, from their sizes against one baseline.

    The size is a logarithm or a difference, above 0 where the other is better. Seeds that both have count. The p is 1
    of one seed.

    Examples
    --------
    >>> baseline, first, other = [9.0, 8.0, 9.5, 8.5], [7.0, 6.0, 7.5, 6.25], [7.5, 6.5, 8.25, 7.0]
    >>> size_between(compare(baseline, first), compare(baseline, other)) == (-0.625, compare(first, other).p_size)
    True
    """
    if first.seeds == other.seeds:
        seeds, sizes = first.seeds, np.array(other.sizes) - np.array(first.sizes)
    else:
        known = dict(zip(first.seeds, first.sizes, strict=True))
        pairs = {seed: size - known[seed] for seed, size in zip(other.seeds, other.sizes, strict=True) if seed in known}
        seeds, sizes = tuple(pairs), np.array([*pairs.values()])
    if not sizes.size:
        return math.nan, 1.0
    sizes = _without_rounding(sizes) if first.is_ratio else sizes
    in_plan = np.array([planned is None or seed in planned for seed in seeds], bool)
    return float(sizes.mean()), _p_size(sizes, in_plan) if sizes.size > 1 else 1.0


def _without_rounding(logs: np.ndarray) -> np.ndarray:
    """Return logarithms that are all one but for their rounding as all one."""
    return np.full(logs.size, logs[0]) if logs.size and np.ptp(logs) < 2.0 ** (2 - BITS_KEPT) else logs


def _logs(baseline: np.ndarray, other: np.ndarray, gained: np.ndarray, better: Better) -> np.ndarray:
    """Return the logarithms of ratios, above 0 where the other is better; equal values are 0, and rounding is no
    spread."""
    logs = np.log(baseline) - np.log(other) if better == "lower" else np.log(other) - np.log(baseline)
    logs = np.where(gained == 0, 0.0, logs)
    return _without_rounding(logs)


def _spread(sizes: np.ndarray) -> float:
    if sizes.size < 2 or sizes.min() == sizes.max():
        return 0.0 if sizes.size > 1 else math.nan
    return float(sizes.std(ddof=1))


def _size(sizes: np.ndarray, level: float, is_ratio: bool) -> tuple[Interval, float]:
    """Return the mean of the sizes with its interval, as a ratio or as it is, and the p of Student's t."""
    t, p = _t_and_p(sizes)
    interval = mean_interval(sizes, level=level)
    # Student's t gives no limits without spread. The interval is a point if the sign test rejects, or if there are
    # several sizes and all are 0.
    if (math.isinf(t) and p < 1 - level) or (interval.method == "constant" and t == 0):
        interval = interval._replace(low=interval.mean, high=interval.mean)
    if is_ratio:
        # The exponential of 710 overflows a float64.
        mean, low, high = (math.exp(min(end, 700.0)) for end in interval[:3])
        interval = interval._replace(mean=mean, low=low, high=high, method="geometric")
    return interval, p if sizes.size else math.nan


def _t_and_p(sizes: np.ndarray) -> tuple[float, float]:
    """Return Student's t and its two-sided p; of sizes without spread the p of the sign test."""
    from scipy.special import stdtr

    if sizes.size < 2:
        return math.nan, 1.0
    mean, spread = float(sizes.mean()), _spread(sizes)
    if spread == 0:
        return (0.0, 1.0) if sizes[0] == 0 else (math.copysign(math.inf, mean), sign_p(sizes.size, 0))
    t = mean / (spread / math.sqrt(sizes.size))
    return t, float(min(1.0, 2 * stdtr(sizes.size - 1, -abs(t))))


def _p_size(sizes: np.ndarray, in_plan: np.ndarray) -> float:
    """Return the p of the size over all looks, never below that of so many pairs which are all on one side.

    A smaller one rests on the tails of the normal law alone. The planned look counts while the estimate is on its side.
    """
    t, p = _t_and_p(sizes)
    any_time = 1.0 if math.isnan(t) else max(any_time_t(t, sizes.size), any_time_sign(sizes.size, 0))
    if in_plan.all():
        return over_looks(max(p, sign_p(sizes.size, 0)), any_time)
    planned = sizes[in_plan]
    before, p = _t_and_p(planned)
    is_same_side = np.sign(before) == np.sign(t)  # of one pair neither is known
    return over_looks(max(p, sign_p(planned.size, 0)) if is_same_side else 1.0, any_time)


def _p_direction(gained: np.ndarray, in_plan: np.ndarray) -> float:
    """Return the p of the direction over all looks; the planned look counts while most seeds are on its side."""
    wins, losses = _sides(gained)
    before = _sides(gained[in_plan])
    is_same_side = np.sign(before[0] - before[1]) == np.sign(wins - losses)
    return over_looks(sign_p(*before) if is_same_side else 1.0, any_time_sign(wins, losses))


def _sides(gained: np.ndarray) -> tuple[int, int]:
    return int((gained > 0).sum()), int((gained < 0).sum())
