"""The reading of borrowed memory over the least that any policy could have had."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.results import Results
from workbench.explain.remote_bound import BoundExcess, over_bound
from workbench.figures.estimates import LEVEL, Means, means_of, rests_on
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import Line, check_room, none_finished, panels
from workbench.figures.registry import on_paper, recipe
from workbench.statistics import Interval, median_interval
from workbench.statistics.equivalence import ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


def reading_over_bound_data(runs: Results) -> ReadingOverBound:
    """Compute the median over the seeds of `borrowed_reading_mean_ns` over the bound of what the policy granted, with
    its interval.

    Within a setting the smallest ratio comes first, one without a ratio last; equal ones as in the sweep.

    Each has the least for regions that stay where they are as well, where that program is small enough.

    Raises
    ------
    InputError
        A point has no finished run, or there are more settings than a page holds.
    """
    all_panels = panels(runs)
    check_room(len(all_panels), 1, "reading_over_bound")
    runs_of: dict[str, list[BoundExcess]] = {}
    for one in over_bound(runs):
        runs_of.setdefault(one.point.id, []).append(one)
    for point in runs.points:
        if point.id not in runs_of:
            raise none_finished(runs, point, "reading_over_bound")
    return ReadingOverBound(tuple(_distances(it.title, it.lines, runs_of) for it in all_panels))


def _distances(setting: str, lines: list[Line], runs_of: dict[str, list[BoundExcess]]) -> Distances:
    table = {
        line.name: [np.array(column, float) for column in zip(*map(_numbers, runs_of[line.point.id]), strict=True)]
        for line in lines
    }
    over = {name: _ratio(value, bound) for name, (value, bound, *_) in table.items()}
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


def _numbers(one: BoundExcess) -> tuple[float, float, float, float]:
    return one.value_ns, one.bound_ns, one.fixed_bound_ns, one.granted_percent


def _ratio(values: np.ndarray, bounds: np.ndarray) -> Interval:
    """Return the median of values over bounds; not a number where nothing had to be borrowed."""
    if not np.mean(bounds) > 0:
        return Interval(math.nan, math.nan, math.nan, LEVEL, "none", len(bounds))
    return median_interval(ratios(values, bounds), level=LEVEL)


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
