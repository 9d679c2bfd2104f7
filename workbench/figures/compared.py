"""Each point beside its baseline, on the seeds that both finished: what figures of a comparison start from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.figures.axis_words import measure_words
from workbench.figures.finished import undefined, values
from workbench.figures.means import level_of
from workbench.figures.panels import Line, panels
from workbench.metrics.measure import Measure
from workbench.studies.statistics import Estimand, Interval, compare
from workbench.studies.statistics.paired import Better


class Compared(NamedTuple):
    """One point against its baseline."""

    setting: str
    baseline: str
    name: str
    style: int
    missing: int
    """Seeds that lack a value on one side or on both."""
    gained: np.ndarray
    """float64[seeds], how much better the point is than its baseline on each seed both have: positive = better."""
    estimand: Estimand
    """What of the gains is estimated: the median, or the mean where the sweep judges that."""
    interval: Interval
    saving: Interval
    """The gains over the baseline's values, seed by seed, likewise; NaN where these are not above zero."""


def compared(runs: RunSet, measure: Measure, figure: str) -> list[Compared]:
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


def _compared(runs: RunSet, measure: Measure, figure: str, setting: str, line: Line, lines: list[Line]) -> Compared:
    baseline = runs.baseline_of(line.point)
    assert baseline is not None
    ours, theirs = (values(runs, point, measure.name, figure) for point in (line.point, baseline))
    for point, result in ((line.point, ours), (baseline, theirs)):
        if not result:
            raise undefined(runs, point, measure.name, figure)
    if not ours.keys() & theirs.keys():
        raise InputError(f"{figure} needs a seed that both {line.name} and its baseline finished; there is none.")
    better: Better = "lower" if measure.better == "lower" else "higher"
    estimand = runs.plan.sweep.estimand
    both = compare(theirs, ours, better=better, level=level_of(runs), estimand=estimand)
    return Compared(
        setting,
        _name(baseline, lines),
        line.name,
        line.style,
        len(runs.seeds) - both.n,
        np.array(both.differences),
        estimand,
        both.interval,
        both.saving,
    )


def _name(baseline: PlannedPoint, lines: list[Line]) -> str:
    return next((line.name for line in lines if line.point.id == baseline.id), "the baseline")


def measure_of(runs: RunSet, name: str) -> Measure:
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


def chosen_measure(runs: RunSet, wanted: str | None, usual: str, place: int = 0) -> Measure:
    """Return the measure that is wanted; if None the usual one of a figure, or where the engine has no such measure,
    the one at a place of the sweep's list, those first of which less or more is better.

    Raises
    ------
    InputError
        The engine has no such measure.
    """
    sweep = runs.plan.sweep
    if wanted is None and usual not in sweep.mechanism.measures:
        listed = [measure_of(runs, name) for name in sweep.measures]
        listed.sort(key=lambda measure: measure.better == "neither")
        return listed[min(place, len(listed) - 1)]
    return measure_of(runs, usual if wanted is None else wanted)


def gain_label(measure: Measure, baselines: set[str], unit: str) -> str:
    """Return the axis of a gain: what is saved or gained, against whom, in which unit.

    >>> gain_label(Measure("drain_cycles", "cycles", "lower", ""), {"first_fit"}, "%")
    'drain time saved against first_fit (%)'
    """
    against = baselines.copy().pop() if len(baselines) == 1 else "the baseline"
    verb = "saved against" if measure.better == "lower" else "gained over"
    return f"{measure_words(measure)} {verb} {against}" + (f" ({unit})" if unit else "")
