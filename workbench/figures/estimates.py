"""Means and gains of points with the limits of their intervals.

As arrays at the places of a curve or one a point, and as gains over the baseline on the seeds that both finished.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.results import Results
from workbench.figures.labels import measure_words
from workbench.figures.panels import Line, panels, undefined, values
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import Interval, PairedComparison, mean_interval
from workbench.statistics.comparisons import comparison
from workbench.statistics.interval import t_quantile

LEVEL = 0.95
"""The confidence level of every interval that a figure shows."""


class Means(NamedTuple):
    """Estimates, each with its interval."""

    mean: np.ndarray
    """float64[places]."""
    low: np.ndarray
    """float64[places]; NaN where nothing is known about the limit, as with one seed alone."""
    high: np.ndarray
    """float64[places], likewise."""

    def columns(self, mean: str, low: str, high: str) -> dict[str, np.ndarray]:
        """Return them by the names of their columns."""
        return {mean: self.mean, low: self.low, high: self.high}


def without_limits(values: np.ndarray) -> Means:
    """Return numbers of which no interval is known, or to be drawn."""
    return Means(values, *np.full((2, len(values)), np.nan))


def means_of(intervals: Iterable[Interval]) -> Means:
    """Return intervals as arrays; of an infinite limit nothing is drawn, as of one that is not known."""
    ends = np.array([interval[:3] for interval in intervals], float).reshape(-1, 3).T
    return Means(*np.where(np.isfinite(ends), ends, np.nan))


def mean_curve(curves: np.ndarray, level: float = LEVEL) -> Means:
    """Return the mean over the rows, with Student's t interval of the mean at each place.

    Parameters
    ----------
    curves : array, shape (seeds, places)

    Examples
    --------
    >>> mean_curve(np.array([[1, 5], [3, 5]]))
    Means(mean=array([2., 5.]), low=array([-10.70620474,   5.        ]), high=array([14.70620474,  5.        ]))
    """
    mean = curves.mean(axis=0)
    if len(curves) < 2:
        return without_limits(mean)
    half = t_quantile(level, len(curves) - 1) * curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
    return Means(mean, mean - half, mean + half)


def rests_on(counts: Iterable[int], pointwise: bool = False, estimate: str = "mean") -> str:
    """Return the basis of the estimates of a figure, in small print; of bands around a curve that they are pointwise.

    >>> rests_on([200, 200]), rests_on([200, 198]), rests_on([1, 1])
    ('mean of 200 seeds with its 95 % interval', 'mean of 198 to 200 seeds with its 95 % interval', 'one seed')
    >>> rests_on([200], pointwise=True)
    'mean of 200 seeds with its pointwise 95 % interval'
    """
    least, most = min(numbers := set(counts)), max(numbers)
    if most == 1:
        return "one seed"
    seeds = str(most) if least == most else f"{least} to {most}"
    kind = "pointwise " if pointwise else ""
    return f"{estimate} of {seeds} seeds with its {kind}{100 * LEVEL:g} % interval"


KINDS = ("shipped", "own", "upper bound")
"""What is compared with the baseline: policies of the workbench, with a part of the user's own, or a limit."""


def kind_of(point: PlannedPoint, baseline: PlannedPoint) -> str:
    """Return the kind of a point, by the policies in which it differs from its baseline."""
    theirs = baseline.setup.policies
    changed = [policy for slot, policy in point.setup.policies.items() if policy != theirs.get(slot)]
    if any(policy.is_upper_bound for policy in changed):
        return "upper bound"
    return "shipped" if all(policy.is_of_the_package for policy in changed) else "own"


class Compared(NamedTuple):
    """One point against its baseline."""

    setting: str
    baseline: str
    name: str
    kind: str
    """One of `KINDS`."""
    missing: int
    """Seeds that lack a value on one side or on both."""
    paired: PairedComparison


def gain_of(one: PairedComparison, is_ratio: bool) -> Interval:
    """Return the gain of a point: of ratios in per cent above 1, else the mean difference over the pairs that end,
    whatever the measure is compared by."""
    if not is_ratio:
        return mean_interval([each for each in one.differences if np.isfinite(each)])
    size = one.size
    return size._replace(mean=100 * (size.mean - 1), low=100 * (size.low - 1), high=100 * (size.high - 1))


def compared(runs: Results, measure: Measure, figure: str) -> list[Compared]:
    """Return every point that has a baseline, setting by setting.

    A gain is baseline - other where less of the measure is better (spec 1, R33), other - baseline where more is.

    Raises
    ------
    InputError
        No point has a baseline, neither direction of the measure is better, or a point has no value of it.
    """
    if measure.better == "neither":
        raise InputError(f"{figure} compares by what is better, and of {measure.name} neither less nor more is.")
    comparisons = [
        _compared(runs, measure, figure, panel.title, line, panel.lines)
        for panel in panels(runs)
        for line in panel.lines
        if runs.baseline_of(line.point) is not None
    ]
    if not comparisons:
        raise InputError(
            f"{figure} compares points with a baseline, and no point of this sweep has one. "
            "Say which policies to compare with, such as baseline: {placement: first_fit}."
        )
    return comparisons


def _compared(runs: Results, measure: Measure, figure: str, setting: str, line: Line, lines: list[Line]) -> Compared:
    baseline = runs.baseline_of(line.point)
    assert baseline is not None
    ours, theirs = (values(runs, point, measure.name, figure) for point in (line.point, baseline))
    for point, result in ((line.point, ours), (baseline, theirs)):
        if not result:
            raise undefined(runs, point, measure.name, figure)
    if not ours.keys() & theirs.keys():
        raise InputError(f"{figure} needs a seed that both {line.name} and its baseline finished; there is none.")
    both = comparison(runs, line.point, measure.name)
    assert both is not None
    named = next((one.name for one in lines if one.point.id == baseline.id), "the baseline")
    return Compared(setting, named, line.name, kind_of(line.point, baseline), len(runs.seeds) - both.n, both)


def measure_of(runs: Results, name: str) -> Measure:
    """Return the declaration of a measure.

    Raises
    ------
    InputError
        The engine has no such measure.
    """
    known = runs.plan.sweep.mechanism.measures
    if name not in known:
        raise unknown_name("", "measure", name, known)
    return known[name]


def chosen_measure(runs: Results, name: str | None, usual: str, place: int = 0) -> Measure:
    """Return the measure that is wanted; if None the usual one of a figure, or where the engine has no such measure,
    the one at a place of the sweep's list, those first of which less or more is better.

    Raises
    ------
    InputError
        The engine has no such measure.
    """
    sweep = runs.plan.sweep
    if name is None and usual not in sweep.mechanism.measures:
        listed = [measure_of(runs, each) for each in sweep.measures]
        listed.sort(key=lambda measure: measure.better == "neither")
        return listed[min(place, len(listed) - 1)]
    return measure_of(runs, usual if name is None else name)


def gain_label(measure: Measure, baselines: set[str], is_ratio: bool = False) -> str:
    """Return the axis of a gain: what is saved or gained, against whom, in which unit; of ratios in per cent.

    >>> drain = Measure("drain_cycles", "cycles", "lower", "", compared_by="ratio")
    >>> gain_label(drain, {"first_fit"}), gain_label(drain, {"first_fit"}, True)
    ('drain time saved against first_fit (cycles)', 'speed-up over first_fit in drain time (%)')
    """
    against = baselines.copy().pop() if len(baselines) == 1 else "the baseline"
    if is_ratio:
        return f"speed-up over {against} in {measure_words(measure)} (%)"
    verb = "saved against" if measure.better == "lower" else "gained over"
    return f"{measure_words(measure)} {verb} {against}" + (f" ({measure.unit})" if measure.unit else "")
