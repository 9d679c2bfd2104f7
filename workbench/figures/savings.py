"""What policies save against their baseline, and how far they are from the optimum.

Every policy in one picture, sorted by effect; the drain of the same queue seed by seed (Fig. 14 of spec 1's source,
R33c); and the reading of borrowed memory over the least that any policy could have had.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.estimates import (
    Compared,
    Means,
    chosen_measure,
    compared,
    gain_label,
    level_of,
    means_of,
    measure_of,
    rests_on,
)
from workbench.figures.panels import Line, check_room, heading, none_finished, panels
from workbench.figures.registry import ANY, Column, below, on_paper, recipe
from workbench.studies.pool.remote_bound import OverBound, over_bound
from workbench.studies.statistics import Interval, median_interval
from workbench.studies.statistics.comparison import ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_INCHES = 6.0
"""Panels that would be higher become a heat map."""
MOST_SETTINGS = 24
"""Columns of a heat map."""


class Savings(NamedTuple):
    """One panel: the policies of a setting, largest saving first."""

    setting: str
    names: tuple[str, ...]
    saving: Means
    """One a policy, in per cent of the baseline's values; positive = better."""
    n: np.ndarray
    """int64[policies], paired seeds."""


class SavingByPolicy(NamedTuple):
    """What each policy saves against the baseline in per cent, with intervals, sorted by effect."""

    label: str
    """Of the horizontal axis."""
    estimand: str
    panels: tuple[Savings, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a policy and setting."""
        return below(
            {
                "setting": panel.setting,
                "policy": panel.names,
                "seeds": panel.n,
                **panel.saving.columns("saving_percent", "low_percent", "high_percent"),
            }
            for panel in self.panels
        )


def saving_by_policy_data(runs: RunSet, measure: str | None = None) -> SavingByPolicy:
    """Compute the median over the paired seeds of the gain over the baseline's value, with its 95 % interval.

    Of a sweep that judges the mean it is the mean gain over the baseline's mean, without limits.

    The measure is any of the engine; if None drain cycles, or the first of the sweep where there is no such.
    Within a setting the largest saving comes first; equal ones stay in the order of the sweep.

    Raises
    ------
    InputError
        No point has a baseline, a baseline's values are not above zero, or there are more settings than a page holds.
    """
    declared = chosen_measure(runs, measure, "drain_cycles")
    comparisons = compared(runs, declared, "saving_by_policy")
    for one in comparisons:
        if np.isnan(one.paired.saving.mean):
            raise InputError(
                f"saving_by_policy shows shares of the baseline's {declared.name}, whose values are not above zero."
            )
    settings = list(dict.fromkeys(one.setting for one in comparisons))
    if len(settings) > MOST_SETTINGS:
        raise InputError(
            f"saving_by_policy needs {len(settings)} columns for this sweep; a page holds {MOST_SETTINGS}. "
            "Narrow the sweep with set=."
        )
    label = gain_label(declared, {one.baseline for one in comparisons}, "%")
    every = tuple(_savings([one for one in comparisons if one.setting == s]) for s in settings)
    return SavingByPolicy(label, runs.plan.sweep.estimand, every)


def _savings(comparisons: list[Compared]) -> Savings:
    ordered = sorted(comparisons, key=lambda one: -one.paired.saving.mean)
    percent = Means(*(100 * column for column in means_of(one.paired.saving for one in ordered)))
    names = tuple(one.name for one in ordered)
    return Savings(ordered[0].setting, names, percent, np.array([one.paired.n for one in ordered]))


@on_paper
def draw_saving_by_policy(data: SavingByPolicy) -> Figure:
    """Draw dots with intervals, the best on top, hollow where the interval holds zero; many panels as a heat map."""
    from workbench.figures import frame, marks, plot_style

    heights = [0.3 + 0.13 * len(panel.names) for panel in data.panels]
    if sum(heights) > MOST_INCHES:
        return _heat_map(data)
    figure, axes = plot_style.stacked(len(data.panels), heights, share_x=True)
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.setting)
        marks.dots(one, panel.names, panel.saving)
    frame.name_sides(axes, data.label, note=_note(data))
    return figure


def _note(data: SavingByPolicy) -> str:
    return rests_on((n for panel in data.panels for n in panel.n.tolist()), estimate=data.estimand)


def _heat_map(data: SavingByPolicy) -> Figure:
    """Draw a row a policy, the best on average on top, and a column a setting; in brackets where the interval holds
    zero."""
    from workbench.figures import frame, marks, plot_style

    names, saving, sure = _matrix(data)
    settings = [panel.setting for panel in data.panels]
    figure, (axes,) = plot_style.stacked(1, 0.9 + 0.16 * len(names))

    def told(row: int, column: int, value: float) -> str:
        text = f"{round(value, 1) + 0.0:.1f}"  # no -0.0
        return text if sure[row, column] else f"({text})"

    tints = marks.heat(axes, saving, told, about_zero=True)
    axes.set_yticks(range(len(names)), [frame.words(name) for name in names])
    axes.set_xticks(range(len(settings)), [frame.words(one) for one in settings], rotation=35, ha="right")
    frame.colour_bar([axes], tints, data.label)
    frame.name_foot(figure, f"{_note(data).split(' with')[0]}; in brackets: the 95 % interval holds zero")
    return figure


def _matrix(data: SavingByPolicy) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the policies, best mean first, their savings and whether each is clear of zero: [policies, settings]."""
    names = list(dict.fromkeys(name for panel in data.panels for name in panel.names))
    saving, sure = np.full((len(names), len(data.panels)), np.nan), np.zeros((len(names), len(data.panels)), bool)
    for column, panel in enumerate(data.panels):
        rows = [names.index(name) for name in panel.names]
        saving[rows, column] = panel.saving.mean
        sure[rows, column] = (panel.saving.low > 0) | (panel.saving.high < 0)
    order = np.argsort(-np.nanmean(saving, axis=1), kind="stable")
    return [names[k] for k in order], saving[order], sure[order]


SAVING_BY_POLICY_FIGURE = recipe(ANY, saving_by_policy_data, draw_saving_by_policy)

_STEPS = (1.0, 2.0, 5.0, 10.0)
_BARS = 40
"""More bars than this are thinner than the gaps between them."""


class Histogram(NamedTuple):
    """One panel: a point against its baseline."""

    of: Compared
    counts: np.ndarray
    """int64[bars], seeds with a difference within each bar, those with none at all left out."""


class DrainDifference(NamedTuple):
    """How much sooner each policy drains the same queue than the baseline: histogram of the differences over the
    seeds."""

    label: str
    """Of the horizontal axis: what is saved, against whom, in which unit."""
    unit: str
    better: str
    """`faster` where a time is compared."""
    worse: str
    edges: np.ndarray
    """float64[bars + 1], the same for all panels; 0 is one of them."""
    panels: tuple[Histogram, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a bar, with the numbers of its panel."""
        unit = self.unit or "value"
        return below(
            {
                "setting": panel.of.setting,
                "policy": panel.of.name,
                "baseline": panel.of.baseline,
                f"difference_from_{unit}": self.edges[:-1],
                f"difference_to_{unit}": self.edges[1:],
                "seeds": panel.counts,
                f"seeds_{self.better}": panel.of.paired.wins,
                f"seeds_{self.worse}": panel.of.paired.losses,
                "seeds_tied": panel.of.paired.ties,
                "seeds_missing": panel.of.missing,
                f"{self.panels[0].of.paired.estimand}_{unit}": panel.of.paired.interval.mean,
                f"low_{unit}": panel.of.paired.interval.low,
                f"high_{unit}": panel.of.paired.interval.high,
            }
            for panel in self.panels
        )


def drain_difference_data(runs: RunSet, measure: str = "drain_cycles") -> DrainDifference:
    """Compute the paired differences over the seeds as a histogram; positive = better than the baseline.

    A seed lies in the bar [a, b) left of zero and in (a, b] right of it; a tie lies in none.

    Raises
    ------
    InputError
        No point has a baseline, or more are compared than a page holds.
    """
    declared = measure_of(runs, measure)
    comparisons = compared(runs, declared, "drain_difference")
    check_room(len(comparisons), 1, "drain_difference")
    is_time = measure.endswith("_cycles")
    gained = [np.array(one.paired.differences) for one in comparisons]
    edges = bar_edges(gained)
    return DrainDifference(
        gain_label(declared, {one.baseline for one in comparisons}, declared.unit),
        declared.unit,
        "faster" if is_time else "better",
        "slower" if is_time else "worse",
        edges,
        tuple(Histogram(one, _counts(each, edges)) for one, each in zip(comparisons, gained, strict=True)),
    )


def bar_edges(samples: list[np.ndarray]) -> np.ndarray:
    """Return the edges of bars at multiples of 1, 2 or 5 times a power of ten, at most Freedman and Diaconis' width for
    the widest sample.

    >>> bar_edges([np.array([-3.0, 1.0, 4.0, 12.0])])
    array([-5.,  0.,  5., 10., 15.])
    >>> bar_edges([np.zeros(5)])
    array([-1.,  0.,  1.])
    """
    everything = np.concatenate(samples)
    least, most = min(float(everything.min()), 0.0), max(float(everything.max()), 0.0)
    spreads = [2 * np.subtract(*np.percentile(one, [75, 25])) / np.cbrt(len(one)) for one in samples]
    finest = max((most - least) / _BARS, 1.0 if (everything == np.floor(everything)).all() else 0.0)
    width = _nice(max(*spreads, finest), finest) if most > least else 1.0
    below, above = np.floor(least / width), np.ceil(most / width)
    return np.arange(below, above + 1) * width if above > below else np.array([-width, 0.0, width])


def _nice(width: float, finest: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten up to a width, or the smallest from `finest` on if that is
    larger."""
    power = 10.0 ** np.floor(np.log10(width))
    below = max(step * power for step in _STEPS if step * power <= width * (1 + 1e-9))
    return float(below if below >= finest else min(step * power for step in _STEPS if step * power >= finest))


def _counts(gained: np.ndarray, edges: np.ndarray) -> np.ndarray:
    width = edges[1] - edges[0]
    within = np.where(gained > 0, np.ceil(gained / width) - 1, np.floor(gained / width))[gained != 0]
    first = np.rint(edges[0] / width)
    return np.bincount((within - first).astype(np.int64), minlength=len(edges) - 1)


@on_paper
def draw_drain_difference(data: DrainDifference) -> Figure:
    """Draw bars on both sides of zero, the estimate with its interval above them, and the counts in words."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.panels), 1.6 if len(data.panels) == 1 else 1.15)
    for one, panel in zip(axes, data.panels, strict=True):
        top = max(int(panel.counts.max()), panel.of.paired.ties)
        marks.histogram(one, data.edges, panel.counts, panel.of.paired.ties)
        marks.interval(one, panel.of.paired.interval, 1.15 * top)
        one.set_ylim(0, 1.3 * top)
        one.set_xlim(data.edges[0], data.edges[-1])
        of = f"{panel.of.name} against {panel.of.baseline}"
        frame.title(one, heading(panel.of.setting, of), _in_words(panel, data))
        frame.whole_numbers(one.yaxis)
    frame.name_sides(axes, data.label, "seeds")
    return figure


def _in_words(panel: Histogram, data: DrainDifference) -> str:
    from workbench.figures.frame import number

    paired = panel.of.paired
    interval, saving = paired.interval, paired.saving
    counts = f"{data.better} on {paired.wins} seeds, {data.worse} on {paired.losses}, tied on {paired.ties}"
    lacking = f", {panel.of.missing} missing" if panel.of.missing else ""
    unit = f" {data.unit}" if data.unit else ""
    share = f" = {number(100 * saving.mean, 2)} %" if np.isfinite(saving.mean) else ""
    limits = f" [{number(interval.low)} to {number(interval.high)}]" if np.isfinite(interval.low) else ""
    return f"{counts}{lacking}\n{paired.estimand} {number(interval.mean)}{limits}{unit}{share}"


DRAIN_DIFFERENCE_FIGURE = recipe("shared_memory", drain_difference_data, draw_drain_difference)


class Distances(NamedTuple):
    """One panel: the policies of a setting, the nearest to its bound first."""

    setting: str
    names: tuple[str, ...]
    n: np.ndarray
    """int64[policies], seeds."""
    over: Means
    """One a policy, the median over the seeds of value over bound; NaN where nothing had to be borrowed."""
    fixed_over: np.ndarray
    """float64[policies], the least without moving regions, likewise; NaN where it is not known."""
    granted_percent: np.ndarray
    """float64[policies], of the bytes that were asked for."""
    value_ns: np.ndarray
    """float64[policies], means over the seeds."""
    bound_ns: np.ndarray
    """float64[policies], of what each policy granted."""


class ReadingOverBound(NamedTuple):
    """How far each policy's borrowed memory lies away, over the least that any policy could have had."""

    panels: tuple[Distances, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a policy and setting."""
        return below(
            {
                "setting": panel.setting,
                "policy": panel.names,
                "seeds": panel.n,
                **panel.over.columns("value_over_bound", "low", "high"),
                "fixed_bound_over_bound": panel.fixed_over,
                "granted_percent": panel.granted_percent,
                "value_ns": panel.value_ns,
                "bound_ns": panel.bound_ns,
            }
            for panel in self.panels
        )


def reading_over_bound_data(runs: RunSet) -> ReadingOverBound:
    """Compute the median over the seeds of `borrowed_reading_mean_ns` over the bound of what the policy granted, with
    its interval.

    Within a setting the smallest ratio comes first, one without a ratio last; equal ones as in the sweep.

    Beside each stands the least for regions that stay where they are, where that programme is small enough.

    Raises
    ------
    InputError
        A point has no finished run, or there are more settings than a page holds.
    """
    all_panels = panels(runs)
    check_room(len(all_panels), 1, "reading_over_bound")
    runs_of: dict[str, list[OverBound]] = {}
    for one in over_bound(runs):
        runs_of.setdefault(one.point.id, []).append(one)
    for point in runs.points:
        if point.id not in runs_of:
            raise none_finished(runs, point, "reading_over_bound")
    return ReadingOverBound(tuple(_distances(it.title, it.lines, runs_of, level_of(runs)) for it in all_panels))


def _distances(setting: str, lines: list[Line], runs_of: dict[str, list[OverBound]], level: float) -> Distances:
    table = {
        line.name: [np.array(column, float) for column in zip(*map(_numbers, runs_of[line.point.id]), strict=True)]
        for line in lines
    }
    over = {name: _ratio(value, bound, level) for name, (value, bound, *_) in table.items()}
    names = sorted(table, key=lambda name: math.inf if math.isnan(over[name].mean) else over[name].mean)
    return Distances(
        setting=setting,
        names=tuple(names),
        n=np.array([len(table[name][0]) for name in names]),
        over=means_of(over[name] for name in names),
        fixed_over=np.array([_fixed_over(table[name][2], table[name][1]) for name in names]),
        granted_percent=np.array([np.mean(table[name][3]) for name in names]),
        value_ns=np.array([np.mean(table[name][0]) for name in names]),
        bound_ns=np.array([np.mean(table[name][1]) for name in names]),
    )


def _numbers(one: OverBound) -> tuple[float, float, float, float]:
    return one.value_ns, one.bound_ns, one.fixed_bound_ns, one.granted_percent


def _ratio(values: np.ndarray, bounds: np.ndarray, level: float) -> Interval:
    """Return the median of values over bounds; not a number where nothing had to be borrowed."""
    if not np.mean(bounds) > 0:
        return Interval(math.nan, math.nan, math.nan, level, "none", len(bounds))
    return median_interval(ratios(values, bounds), level=level)


def _fixed_over(fixed: np.ndarray, moving: np.ndarray) -> float:
    """Return the same of the least without moving regions, which may be unknown."""
    return float(np.median(ratios(fixed, moving))) if np.mean(moving) > 0 else math.nan


@on_paper
def draw_reading_over_bound(data: ReadingOverBound) -> Figure:
    """Draw dots on intervals, hollow where something was refused; ticks = the least for regions that stay in their
    place."""
    from workbench.figures import frame, marks, plot_style

    heights = [0.3 + 0.13 * len(panel.names) for panel in data.panels]
    figure, axes = plot_style.stacked(len(data.panels), heights, share_x=True)
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.setting)
        marks.multiples(one, panel.names, panel.over, panel.granted_percent >= 100)
        marks.ticks(one, panel.fixed_over)
    counts = (n for panel in data.panels for n in panel.n.tolist())
    rests = rests_on(counts, estimate="median")
    note = f"{rests}; hollow: refused something; bars: the least for regions that are never moved"
    frame.name_sides(axes, "reading of borrowed memory over the least possible", note=note)
    return figure


READING_OVER_BOUND_FIGURE = recipe("pool", reading_over_bound_data, draw_reading_over_bound)
