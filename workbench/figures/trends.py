"""Measures against a varied number: any measure, fragmentation, speed-up over the baseline, waits by priority.

One line a policy. A speed-up is a quotient of paired seeds, and says where both are as fast. Where no number is
varied, waits are drawn priority by priority.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.figures.estimates import (
    LEVEL,
    Means,
    chosen_measure,
    level_of,
    lever_columns,
    means_of,
    measure_of,
    rests_on,
)
from workbench.figures.panels import (
    Line,
    axis_label,
    check_room,
    drawn_panels,
    measure_label,
    measure_words,
    panels,
    undefined,
    values,
)
from workbench.figures.registry import ANY, Column, Recipe, on_paper
from workbench.metrics.measure import Measure
from workbench.studies.statistics import mean_interval, median_interval, pair
from workbench.studies.statistics.comparison import ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Trend(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    x: np.ndarray
    """float64[values], the values of the lever, increasing."""
    means: Means
    """Of the measure over the seeds, one a value."""
    n: np.ndarray
    """int64[values], seeds."""


class MeasureByLever(NamedTuple):
    """What is drawn."""

    lever: str
    """The dotted path of the lever on the horizontal axis."""
    measure: str
    x_label: str
    y_label: str
    titles: tuple[str, ...]
    lines: tuple[Trend, ...]
    without: tuple[str, ...]
    """Policies for which the measure is not defined."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and value of the lever."""
        return lever_columns(self.lever, self.titles, self.lines, f"mean_{self.measure}", lambda line: line.means)


def measure_by_lever_data(runs: RunSet, measure: str | None = None, lever: str | None = None) -> MeasureByLever:
    """Compute the mean of a measure over the seeds with its 95 % interval, at each value of a varied number.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep shows if None.
    lever : str, optional
        The dotted path of the varied number on the axis; needed where a sweep varies more than one.

    Raises
    ------
    InputError
        The sweep varies no number, or several and none is named; there are more panels or lines than can be drawn; or
        the measure is not defined for any point.
    """
    return by_lever(runs, chosen_measure(runs, measure, ""), lever, MEASURE_BY_LEVER_FIGURE.name)


def by_lever(runs: RunSet, declared: Measure, lever: str | None, figure: str) -> MeasureByLever:
    """Compute the mean of a measure at each value of a varied number; what is refused names the figure."""
    path = chosen_lever(runs, lever, figure)
    all_panels = panels(runs, apart=path)
    check_room(len(all_panels), max(len({line.name for line in panel.lines}) for panel in all_panels), figure)
    trends = [
        trend(runs, place, path, declared.name, [line for line in panel.lines if line.name == name], figure)
        for place, panel in enumerate(all_panels)
        for name in dict.fromkeys(line.name for line in panel.lines)
    ]
    lines = tuple(one for one in trends if len(one.x))
    if not lines:
        raise undefined(runs, runs.points[0], declared.name, figure)
    return MeasureByLever(
        path,
        declared.name,
        lever_label(runs, path),
        measure_label(declared),
        tuple(panel.title for panel in all_panels),
        lines,
        tuple(dict.fromkeys(one.name for one in trends if not len(one.x))),
    )


def lever_label(runs: RunSet, path: str) -> str:
    """Return the label of the axis that shows a varied lever."""
    return axis_label(path, next(point.setup for point in runs.points if point.coordinates.get(path) is not None))


def trend(runs: RunSet, panel: int, path: str, measure: str, lines: list[Line], figure: str) -> Trend:
    """Return a measure over the values of a lever; a policy that has no such lever is the same everywhere."""
    by_value: dict[Any, PlannedPoint] = {line.point.coordinates.get(path): line.point for line in lines}
    if None in by_value:
        by_value = dict.fromkeys(numbers_of(runs, path), by_value[None])
    intervals = {
        value: mean_interval([*values(runs, by_value[value], measure, figure).values()], level=level_of(runs))
        for value in sorted(by_value)
    }
    defined = {value: interval for value, interval in intervals.items() if interval.n}
    n = np.array([interval.n for interval in defined.values()], int)
    return Trend(panel, *lines[0][:2], np.array([*defined], float), means_of(defined.values()), n)


def numbers_of(runs: RunSet, path: str) -> list[Any]:
    """Return the different values of a varied lever, increasing; none where they are not numbers."""
    numbers = {value for point in runs.points if (value := point.coordinates.get(path)) is not None}
    return sorted(numbers) if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers) else []


def chosen_lever(runs: RunSet, wanted: str | None, figure: str) -> str:
    """Return the path of the varied number on the axis: the one that is named, or the only one that there is.

    Raises
    ------
    InputError
        The sweep varies no number, or several and none of them is named.
    """
    numbers = [path for path in runs.varied if len(numbers_of(runs, path)) > 1]
    if wanted in numbers:
        return str(wanted)
    if wanted is None and len(numbers) == 1:
        return numbers[0]
    if not numbers:
        raise InputError(
            f"{figure} needs a varied number for its axis, and this sweep varies none. "
            "Vary one, such as size: {uniform: [1, {vary: [16, 32, 64]}]}."
        )
    got = "none was named" if wanted is None else f"{wanted!r} is not one of them"
    raise InputError(f"{figure} has one varied number on its axis; {got}. Choose lever= from {', '.join(numbers)}.")


@on_paper
def draw_measure_by_lever(data: MeasureByLever) -> Figure:
    """Draw lines with intervals at the values that were run; the axis is logarithmic where they span a factor of
    eight."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.titles), 1.9 if len(data.titles) == 1 else 1.3, share_x=True)
    for line in data.lines:
        marks.interval_line(axes[line.panel], line.x, line.means, line.style, line.name)
    for one, title in zip(axes, data.titles, strict=True):
        frame.title(one, title)
    frame.value_axis(axes[-1], np.unique(np.concatenate([line.x for line in data.lines])))
    left_out = f"; not defined: {', '.join(data.without)}" if data.without else ""
    note = rests_on(n for line in data.lines for n in line.n.tolist()) + left_out
    frame.name_sides(axes, data.x_label, data.y_label, note)
    frame.legend(figure, axes)
    return figure


MEASURE_BY_LEVER_FIGURE = Recipe(
    "measure_by_lever",
    ANY,
    "The first measure that the sweep shows, or any, against a varied number, with intervals.",
    measure_by_lever_data,
    draw_measure_by_lever,
)


def fragmentation_by_size_data(runs: RunSet, measure: str | None = None, lever: str | None = None) -> MeasureByLever:
    """Compute the mean of a measure over the seeds with its 95 % interval, at each value of a varied number.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; if None external fragmentation, or the first of the sweep where there is no such.
    lever : str, optional
        The dotted path of the varied number on the axis; needed where a sweep varies more than one.

    Raises
    ------
    InputError
        As `measure_by_lever_data`.
    """
    return by_lever(
        runs, chosen_measure(runs, measure, "mean_external_fragmentation"), lever, FRAGMENTATION_BY_SIZE_FIGURE.name
    )


FRAGMENTATION_BY_SIZE_FIGURE = Recipe(
    "fragmentation_by_size",
    ANY,
    "External fragmentation, or any measure, against a varied number such as the largest request, with intervals.",
    fragmentation_by_size_data,
    draw_measure_by_lever,
)


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
        raise InputError(f"speed_up needs a measure of which less is better. Got {measure}.")
    path = chosen_lever(runs, lever, SPEED_UP_FIGURE.name)
    all_panels = panels(runs, apart=path)
    check_room(
        len(all_panels), max(len({line.name for line in panel.lines}) for panel in all_panels), SPEED_UP_FIGURE.name
    )
    lines = [
        _speed_up(runs, place, path, measure, [line for line in against if line.name == name])
        for place, panel in enumerate(all_panels)
        if (against := [line for line in panel.lines if runs.baseline_of(line.point) is not None])
        for name in dict.fromkeys(line.name for line in against)
    ]
    if not lines:
        raise InputError("speed_up compares points with a baseline, and no point of this sweep has one.")
    y_label = f"{measure_words(declared)}: baseline over this"
    return SpeedUps(path, measure, lever_label(runs, path), y_label, tuple(p.title for p in all_panels), tuple(lines))


def _speed_up(runs: RunSet, panel: int, path: str, measure: str, lines: list[Line]) -> SpeedUp:
    lines = sorted(lines, key=lambda line: float(line.point.coordinates[path]))
    intervals = []
    for line in lines:
        baseline = runs.baseline_of(line.point)
        assert baseline is not None
        ours, theirs = (values(runs, point, measure, SPEED_UP_FIGURE.name) for point in (line.point, baseline))
        pairs = pair(theirs, ours)
        intervals.append(median_interval(ratios(pairs.baseline, pairs.other), level=LEVEL))
    x = np.array([float(line.point.coordinates[path]) for line in lines])
    times, n = means_of(intervals), np.array([one.n for one in intervals])
    return SpeedUp(panel, *lines[0][:2], x, times, n, break_even(x, times.mean))


@on_paper
def draw_speed_up(data: SpeedUps) -> Figure:
    """Draw lines with intervals on a logarithmic axis; a thin line at 1, and a dotted one at each break-even."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.titles), 1.9 if len(data.titles) == 1 else 1.3, share_x=True)
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


SPEED_UP_FIGURE = Recipe(
    "speed_up",
    "malloc",
    "How many times faster than the baseline, against a varied number, with the break-even.",
    speed_up_data,
    draw_speed_up,
)

PRIORITIES = range(1, 9)
WAITS = ("wait_mean_cycles", "wait_p99_cycles", "wait_max_cycles")
FAR_APART = 30
"""Where the longest waiting is so many times the shortest, the axis is logarithmic."""


def waits_by_priority_data(runs: RunSet, measure: str = "wait_p99_cycles", lever: str | None = None) -> MeasureByLever:
    """Compute the mean over the seeds of the waiting of each priority, with its 95 % interval.

    Against a varied number every policy has a panel with a line a priority; where no number is varied, a setting has a
    panel with a line a policy, over the priorities.

    Parameters
    ----------
    measure : {"wait_mean_cycles", "wait_p99_cycles", "wait_max_cycles"}
        Which waiting.
    lever : str, optional
        The dotted path of the varied number on the axis; needed where a sweep varies more than one.

    Raises
    ------
    InputError
        Several numbers are varied and none is named, there are more panels or lines than can be drawn, or no run has
        groups.
    """
    if measure not in WAITS:
        raise unknown_name("", "waiting of waits_by_priority", measure, WAITS)
    numbers = [path for path in runs.varied if len(numbers_of(runs, path)) > 1]
    if lever is None and not numbers:
        return _over_priorities(runs, measure)
    return _over_lever(runs, measure, chosen_lever(runs, lever, WAITS_BY_PRIORITY_FIGURE.name))


def _over_lever(runs: RunSet, measure: str, path: str) -> MeasureByLever:
    titles, lines = [], []
    for panel in panels(runs, apart=path):
        for name in dict.fromkeys(line.name for line in panel.lines):
            titles.append(": ".join(part for part in (panel.title, name) if part))
            ours = [line for line in panel.lines if line.name == name]
            lines += _waits_of_priorities(runs, len(titles) - 1, path, measure, ours)
    check_room(len(titles), 1, WAITS_BY_PRIORITY_FIGURE.name)
    return _waits_figure(runs, path, measure, lever_label(runs, path), titles, lines)


def _waits_of_priorities(runs: RunSet, panel: int, path: str, measure: str, lines: list[Line]) -> list[Trend]:
    trends = [
        trend(runs, panel, path, f"{measure}[{level}]", lines, WAITS_BY_PRIORITY_FIGURE.name) for level in PRIORITIES
    ]
    named = zip(PRIORITIES, trends, strict=True)
    return [one._replace(name=_named_priority(level), style=level - 1) for level, one in named if len(one.x)]


def _named_priority(level: int) -> str:
    """Return what the legend calls a priority."""
    return f"priority {level}" + (" (most urgent)" if level == PRIORITIES[0] else "")


def _over_priorities(runs: RunSet, measure: str) -> MeasureByLever:
    all_panels = drawn_panels(runs, WAITS_BY_PRIORITY_FIGURE.name)
    lines = [
        _waits_of_policy(runs, place, line, measure) for place, panel in enumerate(all_panels) for line in panel.lines
    ]
    return _waits_figure(
        runs, "priority", measure, "priority (1 = most urgent)", [panel.title for panel in all_panels], lines
    )


def _waits_of_policy(runs: RunSet, panel: int, line: Line, measure: str) -> Trend:
    names = {level: f"{measure}[{level}]" for level in PRIORITIES}
    intervals = {
        level: mean_interval(
            [*values(runs, line.point, n, WAITS_BY_PRIORITY_FIGURE.name).values()], level=level_of(runs)
        )
        for level, n in names.items()
    }
    defined = {level: interval for level, interval in intervals.items() if interval.n}
    n = np.array([interval.n for interval in defined.values()], int)
    return Trend(panel, line.name, line.style, np.array([*defined], float), means_of(defined.values()), n)


def _waits_figure(
    runs: RunSet, path: str, measure: str, x_label: str, titles: list[str], lines: list[Trend]
) -> MeasureByLever:
    drawn = tuple(line for line in lines if len(line.x))
    if not drawn:
        raise undefined(runs, runs.points[0], measure, WAITS_BY_PRIORITY_FIGURE.name)
    y_label = measure_label(measure_of(runs, measure))
    return MeasureByLever(path, measure, x_label, y_label, tuple(titles), drawn, ())


@on_paper
def draw_waits_by_priority(data: MeasureByLever) -> Figure:
    """Draw lines with intervals; the axis of waiting is logarithmic where the longest is far above the shortest."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.titles), 1.9 if len(data.titles) == 1 else 1.3, share_x=True)
    for line in data.lines:
        marks.interval_line(axes[line.panel], line.x, line.means, line.style, line.name)
    waits = np.concatenate([line.means.mean for line in data.lines])
    for one, title in zip(axes, data.titles, strict=True):
        frame.title(one, title)
        if waits.min() > 0 and waits.max() >= FAR_APART * waits.min():
            one.set_yscale("log")
        else:
            one.set_ylim(bottom=0)
    if data.lever == "priority":
        axes[-1].set_xticks(np.unique(np.concatenate([line.x for line in data.lines])))
    else:
        frame.value_axis(axes[-1], np.unique(np.concatenate([line.x for line in data.lines])))
    note = rests_on(n for line in data.lines for n in line.n.tolist())
    frame.name_sides(axes, data.x_label, data.y_label, note)
    frame.legend(figure, axes)
    return figure


WAITS_BY_PRIORITY_FIGURE = Recipe(
    "waits_by_priority",
    "dispatch",
    "How long each priority waits, against a varied number or priority by priority, with intervals.",
    waits_by_priority_data,
    draw_waits_by_priority,
)
