"""How many times faster than the baseline? Speed-up against a varied number, and where both are as fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.axis_words import measure_words
from workbench.figures.compared import measure_of
from workbench.figures.finished import values
from workbench.figures.lever_columns import lever_columns
from workbench.figures.means import LEVEL, Means, means_of, rests_on
from workbench.figures.measure_by_lever import chosen_lever, lever_label
from workbench.figures.panels import Line, check_room, panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.studies.statistics import median_interval, pair
from workbench.studies.statistics.equivalence import ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SpeedUp(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    x: np.ndarray
    """float64[values], the values of the lever, increasing."""
    times: Means
    """The median over the seeds of the baseline over the line, one a value, with its interval."""
    n: np.ndarray
    """int64[values], paired seeds."""
    break_even: float
    """The value at which both are as fast, on the scale of doublings between two values; NaN where that is nowhere."""


class SpeedUps(NamedTuple):
    """What is drawn."""

    lever: str
    measure: str
    x_label: str
    y_label: str
    titles: tuple[str, ...]
    lines: tuple[SpeedUp, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and value of the lever."""
        column_name = f"speed_up_{self.measure}"
        table = lever_columns(self.lever, self.titles, self.lines, column_name, lambda line: line.times)
        return table | {
            "break_even": np.repeat([line.break_even for line in self.lines], [len(line.x) for line in self.lines])
        }


def speed_up_data(runs: RunSet, measure: str = "makespan_cycles", lever: str | None = None) -> SpeedUps:
    """Compute the median over paired seeds of the baseline over each other policy, at each value of a varied number.

    Parameters
    ----------
    measure : str
        A measure of which less is better.
    lever : str, optional
        The dotted path of the varied number on the axis; needed where a sweep varies more than one.

    Raises
    ------
    InputError
        No point has a baseline, the measure is not one of which less is better, or there is no one varied number.
    """
    declared = measure_of(runs, measure)
    if declared.better != "lower":
        raise InputError(f"{FIGURE.name} needs a measure of which less is better. Got {measure}.")
    path = chosen_lever(runs, lever, FIGURE.name)
    all_panels = panels(runs, apart=path)
    check_room(len(all_panels), max(len({line.name for line in panel.lines}) for panel in all_panels), FIGURE.name)
    lines = [
        _line(runs, place, path, measure, [line for line in against if line.name == name])
        for place, panel in enumerate(all_panels)
        if (against := [line for line in panel.lines if runs.baseline_of(line.point) is not None])
        for name in dict.fromkeys(line.name for line in against)
    ]
    if not lines:
        raise InputError(f"{FIGURE.name} compares points with a baseline, and no point of this sweep has one.")
    y_label = f"{measure_words(declared)}: baseline over this"
    return SpeedUps(path, measure, lever_label(runs, path), y_label, tuple(p.title for p in all_panels), tuple(lines))


def _line(runs: RunSet, panel: int, path: str, measure: str, lines: list[Line]) -> SpeedUp:
    lines = sorted(lines, key=lambda line: float(line.point.coordinates[path]))
    intervals = []
    for line in lines:
        baseline = runs.baseline_of(line.point)
        assert baseline is not None
        ours, theirs = (values(runs, point, measure, FIGURE.name) for point in (line.point, baseline))
        pairs = pair(theirs, ours)
        intervals.append(median_interval(ratios(pairs.baseline, pairs.other), level=LEVEL))
    x = np.array([float(line.point.coordinates[path]) for line in lines])
    times, n = means_of(intervals), np.array([one.n for one in intervals])
    return SpeedUp(panel, *lines[0][:2], x, times, n, break_even(x, times.mean))


def break_even(x: np.ndarray, times: np.ndarray) -> float:
    """Return where a speed-up passes 1 for the last time, between two values that were run; NaN where it does not.

    >>> break_even(np.array([1.0, 4.0]), np.array([0.5, 2.0]))
    2.0
    >>> break_even(np.array([1.0, 4.0]), np.array([1.5, 2.0]))
    nan
    """
    away = np.log2(times)
    passes = np.flatnonzero((away[:-1] * away[1:] <= 0) & (away[:-1] != away[1:]))
    if not len(passes):
        return float("nan")
    k = int(passes[-1])
    share = away[k] / (away[k] - away[k + 1])
    return float(x[k] * (x[k + 1] / x[k]) ** share)


@on_paper
def draw(data: SpeedUps) -> Figure:
    """Draw lines with intervals on a logarithmic axis; a thin line at 1, and a dotted one at each break-even."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.9 if len(data.titles) == 1 else 1.3, share_x=True)
    for line in data.lines:
        marks.interval_line(axes[line.panel], line.x, line.times, line.style, line.name)
        if np.isfinite(line.break_even):
            axes[line.panel].axvline(line.break_even, color="0.4", linewidth=0.6, linestyle=":")
    for one, title in zip(axes, data.titles, strict=True):
        frame.title(one, title)
        one.axhline(1, color="0.4", linewidth=0.6)
        one.set_yscale("log", base=2)
    frame.value_axis(axes[-1], np.unique(np.concatenate([line.x for line in data.lines])))
    frame.name_sides(
        axes,
        data.x_label,
        data.y_label,
        rests_on((n for line in data.lines for n in line.n.tolist()), estimate="median"),
    )
    frame.legend(figure, axes)
    return figure


FIGURE = Recipe(
    "speed_up",
    "malloc",
    "How many times faster than the baseline, against a varied number, with the break-even.",
    speed_up_data,
    draw,
)
