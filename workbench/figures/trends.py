"""Measures against a varied number: any measure, fragmentation, speed-up over the baseline, waits by priority.

One line a policy. A speed-up is a quotient of paired seeds, and says where both are as fast. Where no number is
varied, waits are drawn priority by priority.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.figures.curves import Curve, Curves, Look, draw_curves
from workbench.figures.estimates import chosen_measure, level_of, means_of, measure_of
from workbench.figures.panels import (
    Line,
    axis_label,
    check_room,
    drawn_panels,
    heading,
    measure_label,
    measure_words,
    panels,
    undefined,
    values,
)
from workbench.figures.registry import ANY, Recipe
from workbench.metrics.measure import Measure
from workbench.studies.statistics import mean_interval, median_interval, pair
from workbench.studies.statistics.comparison import ratios

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _recipe_by_lever(name: str, usual: str, description: str) -> Recipe:
    """Return the figure of a measure against a varied number: the usual measure where none is chosen."""

    def data(runs: RunSet, measure: str | None = None, lever: str | None = None) -> Curves:
        return by_lever(runs, chosen_measure(runs, measure, usual), lever, name)

    return Recipe(name, ANY, description, data, draw_curves)


def by_lever(runs: RunSet, declared: Measure, lever: str | None, figure: str) -> Curves:
    """Compute the mean of a measure with its 95 % interval at each value of a varied number; a policy that has no such
    lever is the same everywhere.

    Raises
    ------
    InputError
        The sweep varies no number, or several and none is named; there are more panels or lines than can be drawn; or
        the measure is not defined for any point. What is refused names the figure.
    """
    path = chosen_lever(runs, lever, figure)
    titles, groups = _groups(runs, path, figure)
    trends = [
        _trend(runs, place, lines[0], {x: (point, declared.name) for x, point in _points(runs, path, lines)}, figure)
        for place, lines in groups
    ]
    return _curves(runs, declared, path, lever_label(runs, path), titles, trends, _TRENDS, figure)


_TRENDS = Look((1.9, 1.3), True, math.inf, ticks="values", pointwise=False, left_out="not defined")


def _groups(runs: RunSet, path: str, figure: str) -> tuple[list[str], list[tuple[int, list[Line]]]]:
    """Return the titles of the panels, and for each line that is drawn its panel and its points, over a lever."""
    all_panels = panels(runs, apart=path)
    check_room(len(all_panels), max(len({line.name for line in panel.lines}) for panel in all_panels), figure)
    return [panel.title for panel in all_panels], [
        (place, lines) for place, panel in enumerate(all_panels) for lines in _by_name(panel.lines)
    ]


def _by_name(lines: list[Line]) -> list[list[Line]]:
    return [[line for line in lines if line.name == name] for name in dict.fromkeys(line.name for line in lines)]


def _points(runs: RunSet, path: str, lines: list[Line]) -> list[tuple[Any, PlannedPoint]]:
    """Return the values of a lever with the point at each, increasing."""
    by_value: dict[Any, PlannedPoint] = {line.point.coordinates.get(path): line.point for line in lines}
    if None in by_value:
        by_value = dict.fromkeys(numbers_of(runs, path), by_value[None])
    return sorted(by_value.items(), key=lambda item: item[0])


def _trend(runs: RunSet, panel: int, line: Line, places: Mapping[Any, tuple[PlannedPoint, str]], figure: str) -> Curve:
    """Return the mean of a point's measure at each place where it is defined."""
    intervals = {
        x: mean_interval([*values(runs, point, measure, figure).values()], level=level_of(runs))
        for x, (point, measure) in places.items()
    }
    defined = {x: interval for x, interval in intervals.items() if interval.n}
    n = np.array([interval.n for interval in defined.values()], int)
    return Curve(panel, *line[:2], n, np.array([*defined], float), means_of(defined.values()))


def _curves(
    runs: RunSet, declared: Measure, x: str, label: str, titles: list[str], trends: list[Curve], look: Look, figure: str
) -> Curves:
    lines = tuple(one for one in trends if len(one.x))
    if not lines:
        raise undefined(runs, runs.points[0], declared.name, figure)
    without = tuple(dict.fromkeys(one.name for one in trends if not len(one.x))) if look.left_out else ()
    names = (f"mean_{declared.name}", "low", "high")
    return Curves(x, label, names, measure_label(declared), tuple(titles), lines, look, without)


def lever_label(runs: RunSet, path: str) -> str:
    """Return the label of the axis that shows a varied lever."""
    return axis_label(path, next(point.setup for point in runs.points if point.coordinates.get(path) is not None))


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


MEASURE_BY_LEVER_FIGURE = _recipe_by_lever(
    "measure_by_lever",
    "",
    "The first measure that the sweep shows, or any, against a varied number, with intervals.",
)
FRAGMENTATION_BY_SIZE_FIGURE = _recipe_by_lever(
    "fragmentation_by_size",
    "mean_external_fragmentation",
    "External fragmentation, or any measure, against a varied number such as the largest request, with intervals.",
)


def break_even(x: np.ndarray, times: np.ndarray) -> float:
    """Return where a speed-up passes 1 for the last time, between two values that were run, on the scale of doublings;
    NaN where it does not.

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


def _of_speed_ups(axes: Axes, lines: list[Curve], data: Curves) -> None:
    """Draw a thin line at 1, and a dotted one at each break-even."""
    for line in lines:
        if math.isfinite(line.more["break_even"]):
            axes.axvline(line.more["break_even"], color="0.4", linewidth=0.6, linestyle=":")
    axes.axhline(1, color="0.4", linewidth=0.6)
    axes.set_yscale("log", base=2)


_SPEED_UPS = _TRENDS._replace(panel=_of_speed_ups, estimate="median")


def speed_up_data(runs: RunSet, measure: str = "makespan_cycles", lever: str | None = None) -> Curves:
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
    path = chosen_lever(runs, lever, "speed_up")
    titles, groups = _groups(runs, path, "speed_up")
    against = [(place, [line for line in lines if runs.baseline_of(line.point) is not None]) for place, lines in groups]
    lines = tuple(_speed_up(runs, place, path, measure, lines) for place, lines in against if lines)
    if not lines:
        raise InputError("speed_up compares points with a baseline, and no point of this sweep has one.")
    names, label = (f"speed_up_{measure}", "low", "high"), f"{measure_words(declared)}: baseline over this"
    return Curves(path, lever_label(runs, path), names, label, tuple(titles), lines, _SPEED_UPS)


def _speed_up(runs: RunSet, panel: int, path: str, measure: str, lines: list[Line]) -> Curve:
    lines = sorted(lines, key=lambda line: float(line.point.coordinates[path]))
    intervals = []
    for line in lines:
        baseline = runs.baseline_of(line.point)
        assert baseline is not None
        ours, theirs = (values(runs, point, measure, "speed_up") for point in (line.point, baseline))
        pairs = pair(theirs, ours)
        intervals.append(median_interval(ratios(pairs.baseline, pairs.other), level=level_of(runs)))
    x = np.array([float(line.point.coordinates[path]) for line in lines])
    times, n = means_of(intervals), np.array([one.n for one in intervals])
    return Curve(panel, *lines[0][:2], n, x, times, {"break_even": break_even(x, times.mean)})


SPEED_UP_FIGURE = Recipe(
    "speed_up",
    "malloc",
    "How many times faster than the baseline, against a varied number, with the break-even.",
    speed_up_data,
    draw_curves,
)

PRIORITIES = range(1, 9)
WAITS = ("wait_mean_cycles", "wait_p99_cycles", "wait_max_cycles")
FAR_APART = 30
"""Where the longest waiting is so many times the shortest, the axis is logarithmic."""


def _of_waits(axes: Axes, lines: list[Curve], data: Curves) -> None:
    """Set the axis of waiting logarithmic where the longest is far above the shortest."""
    waits = np.concatenate([line.means.mean for line in data.lines])
    if waits.min() > 0 and waits.max() >= FAR_APART * waits.min():
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


_WAITS = _TRENDS._replace(panel=_of_waits, left_out="")


def waits_by_priority_data(runs: RunSet, measure: str = "wait_p99_cycles", lever: str | None = None) -> Curves:
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
    figure, declared = "waits_by_priority", measure_of(runs, measure)
    titles, lines = list[str](), list[Curve]()
    if lever is None and not any(len(numbers_of(runs, path)) > 1 for path in runs.varied):
        for panel in drawn_panels(runs, figure):
            for line in panel.lines:
                places = {level: (line.point, f"{measure}[{level}]") for level in PRIORITIES}
                lines.append(_trend(runs, len(titles), line, places, figure))
            titles.append(panel.title)
        look = _WAITS._replace(ticks="each")
        return _curves(runs, declared, "priority", "priority (1 = most urgent)", titles, lines, look, figure)
    path = chosen_lever(runs, lever, figure)
    for panel in panels(runs, apart=path):
        for ours in _by_name(panel.lines):
            points = _points(runs, path, ours)
            for level in PRIORITIES:
                name = f"priority {level}" + (" (most urgent)" if level == PRIORITIES[0] else "")
                line = Line(name, level - 1, ours[0].point)
                places = {x: (point, f"{measure}[{level}]") for x, point in points}
                lines.append(_trend(runs, len(titles), line, places, figure))
            titles.append(heading(panel.title, ours[0].name))
    check_room(len(titles), 1, figure)
    return _curves(runs, declared, path, lever_label(runs, path), titles, lines, _WAITS, figure)


WAITS_BY_PRIORITY_FIGURE = Recipe(
    "waits_by_priority",
    "dispatch",
    "How long each priority waits, against a varied number or priority by priority, with intervals.",
    waits_by_priority_data,
    draw_curves,
)
