"""How far is each policy from the optimum? Its reading of borrowed memory over the least that any could have had."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.finished import none_finished
from workbench.figures.means import Means, level_of, means_of, rests_on
from workbench.figures.panels import Line, check_room, panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.studies.pool.over_bound import OverBound, over_bound
from workbench.studies.statistics import Interval, median_interval
from workbench.studies.statistics.equivalence import ratios

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
    """What is drawn."""

    panels: tuple[Distances, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a policy and setting."""
        sizes = [len(panel.names) for panel in self.panels]
        over = [np.concatenate([panel.over[k] for panel in self.panels]) for k in range(3)]
        return {
            "setting": np.repeat([panel.setting for panel in self.panels], sizes),
            "policy": [name for panel in self.panels for name in panel.names],
            "seeds": np.concatenate([panel.n for panel in self.panels]),
            "value_over_bound": over[0],
            "low": over[1],
            "high": over[2],
            "fixed_bound_over_bound": np.concatenate([panel.fixed_over for panel in self.panels]),
            "granted_percent": np.concatenate([panel.granted_percent for panel in self.panels]),
            "value_ns": np.concatenate([panel.value_ns for panel in self.panels]),
            "bound_ns": np.concatenate([panel.bound_ns for panel in self.panels]),
        }


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
    check_room(len(all_panels), 1, FIGURE.name)
    runs_of: dict[str, list[OverBound]] = {}
    for one in over_bound(runs):
        runs_of.setdefault(one.point.id, []).append(one)
    for point in runs.points:
        if point.id not in runs_of:
            raise none_finished(runs, point, FIGURE.name)
    return ReadingOverBound(tuple(_distances(it.title, it.lines, runs_of, level_of(runs)) for it in all_panels))


def _distances(setting: str, lines: list[Line], runs_of: dict[str, list[OverBound]], level: float) -> Distances:
    ratios = {line.name: _ratio(runs_of[line.point.id], level) for line in lines}
    ordered = sorted(lines, key=lambda line: _last_if_nan(ratios[line.name].mean))
    kept = [runs_of[line.point.id] for line in ordered]
    return Distances(
        setting=setting,
        names=tuple(line.name for line in ordered),
        n=np.array([len(each) for each in kept]),
        over=means_of(ratios[line.name] for line in ordered),
        fixed_over=np.array([_fixed_over(each) for each in kept]),
        granted_percent=np.array([np.mean([one.granted_percent for one in each]) for each in kept]),
        value_ns=np.array([np.mean([one.value_ns for one in each]) for each in kept]),
        bound_ns=np.array([np.mean([one.bound_ns for one in each]) for each in kept]),
    )


def _ratio(over_bounds: list[OverBound], level: float) -> Interval:
    values, bounds = (np.array([getattr(one, name) for one in over_bounds]) for name in ("value_ns", "bound_ns"))
    if not np.mean(bounds) > 0:
        return Interval(math.nan, math.nan, math.nan, level, "none", len(over_bounds))
    return median_interval(ratios(values, bounds), level=level)


def _fixed_over(over_bounds: list[OverBound]) -> float:
    moving, fixed = (np.array([getattr(one, name) for one in over_bounds]) for name in ("bound_ns", "fixed_bound_ns"))
    return float(np.median(ratios(fixed, moving))) if np.mean(moving) > 0 else math.nan


def _last_if_nan(ratio: float) -> float:
    return math.inf if math.isnan(ratio) else ratio


@on_paper
def draw(data: ReadingOverBound) -> Figure:
    """Draw dots on intervals, hollow where something was refused; ticks = the least for regions that stay in their
    place."""
    from workbench.figures import frame, ink, marks

    heights = [0.3 + 0.13 * len(panel.names) for panel in data.panels]
    figure, axes = ink.stacked(len(data.panels), heights, share_x=True)
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.setting)
        marks.multiples(one, panel.names, panel.over, panel.granted_percent >= 100)
        marks.ticks(one, panel.fixed_over)
    counts = (n for panel in data.panels for n in panel.n.tolist())
    rests = rests_on(counts, estimate="median")
    note = f"{rests}; hollow: refused something; bars: the least for regions that are never moved"
    frame.name_sides(axes, "reading of borrowed memory over the least possible", note=note)
    return figure


FIGURE = Recipe(
    "reading_over_bound",
    "pool",
    "How far each policy's borrowed memory lies away, over the least that any policy could have had.",
    reading_over_bound_data,
    draw,
)
