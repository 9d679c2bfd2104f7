"""Measures against a varied number: any measure, or fragmentation, with intervals; one line a policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures._curves import Curve, Curves, Look, draw_curves
from workbench.figures.estimates import chosen_measure, means_of
from workbench.figures.labels import axis_label, measure_label, words
from workbench.figures.panels import Line, check_room, panels, undefined, values
from workbench.figures.registry import ANY, Recipe
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import mean_interval
from workbench.statistics.quantities import listed

TREND_LOOK = Look((1.9, 1.3), True, math.inf, ticks="values", pointwise=False, left_out="not defined")


def by_lever(runs: Results, declared: Measure, lever: str | None, figure: str) -> Curves:
    """Compute the mean of a measure with its 95 % interval at each value of a varied number; a policy that has no such
    lever is the same everywhere.

    Raises
    ------
    InputError
        The sweep varies no number, or several and none is named; there are more panels or lines than can be drawn; or
        the measure is not defined for any point. What is refused names the figure.
    """
    path = chosen_lever(runs, lever, figure)
    titles, groups = trend_groups(runs, path, figure)
    trends = [
        trend_of(
            runs, place, lines[0], {x: (point, declared.name) for x, point in points_over(runs, path, lines)}, figure
        )
        for place, lines in groups
    ]
    label = lever_label(runs, path)
    curves = trend_curves(runs, declared, path, label, titles, trends, TREND_LOOK, figure)
    names = listed([words(name) for name in dict.fromkeys(line.name for line in curves.lines)])
    caption = f"{curves.y_label[:1].upper()}{curves.y_label[1:]} against {label}: {names}."
    return curves._replace(caption=caption)


def trend_groups(runs: Results, path: str, figure: str) -> tuple[list[str], list[tuple[int, list[Line]]]]:
    """Return the titles of the panels, and for each line that is drawn its panel and its points, over a lever."""
    all_panels = panels(runs, excluded=path)
    check_room(len(all_panels), max(len({line.name for line in panel.lines}) for panel in all_panels), figure)
    return [panel.title for panel in all_panels], [
        (place, lines) for place, panel in enumerate(all_panels) for lines in lines_by_name(panel.lines)
    ]


def lines_by_name(lines: list[Line]) -> list[list[Line]]:
    return [[line for line in lines if line.name == name] for name in dict.fromkeys(line.name for line in lines)]


def points_over(runs: Results, path: str, lines: list[Line]) -> list[tuple[Any, PlannedPoint]]:
    """Return the values of a lever with the point at each, increasing."""
    by_value: dict[Any, PlannedPoint] = {line.point.coordinates.get(path): line.point for line in lines}
    if None in by_value:
        by_value = dict.fromkeys(numbers_of(runs, path), by_value[None])
    return sorted(by_value.items(), key=lambda item: item[0])


def trend_of(
    runs: Results, panel: int, line: Line, places: Mapping[Any, tuple[PlannedPoint, str]], figure: str
) -> Curve:
    """Return the mean of a point's measure at each place where it is defined."""
    intervals = {
        x: mean_interval([*values(runs, point, measure, figure).values()]) for x, (point, measure) in places.items()
    }
    defined = {x: interval for x, interval in intervals.items() if interval.n}
    n = np.array([interval.n for interval in defined.values()], int)
    return Curve(panel, *line[:2], n, np.array([*defined], float), means_of(defined.values()))


def trend_curves(
    runs: Results,
    declared: Measure,
    x: str,
    label: str,
    titles: list[str],
    trends: list[Curve],
    look: Look,
    figure: str,
) -> Curves:
    lines = tuple(one for one in trends if len(one.x))
    if not lines:
        raise undefined(runs, runs.points[0], declared.name, figure)
    without = tuple(dict.fromkeys(one.name for one in trends if not len(one.x))) if look.left_out else ()
    names = (f"mean_{declared.name}", "low", "high")
    return Curves(x, label, names, measure_label(declared), tuple(titles), lines, look, without)


def lever_label(runs: Results, path: str) -> str:
    """Return the label of the axis that shows a varied lever."""
    return axis_label(path, next(point.setup for point in runs.points if point.coordinates.get(path) is not None))


def numbers_of(runs: Results, path: str) -> list[Any]:
    """Return the different values of a varied lever, increasing; none where they are not numbers."""
    numbers = {value for point in runs.points if (value := point.coordinates.get(path)) is not None}
    return sorted(numbers) if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers) else []


def chosen_lever(runs: Results, requested: str | None, figure: str) -> str:
    """Return the path of the varied number on the axis: the one that is named, or the only one that there is.

    Raises
    ------
    InputError
        The sweep varies no number, or several and none of them is named.
    """
    numbers = [path for path in runs.varied if len(numbers_of(runs, path)) > 1]
    if requested in numbers:
        return str(requested)
    if requested is None and len(numbers) == 1:
        return numbers[0]
    if not numbers:
        raise InputError(
            f"{figure} needs a varied number for its axis, and this sweep varies none. "
            "Vary one, such as size: {uniform: [1, {vary: [16, 32, 64]}]}."
        )
    got = "none was named" if requested is None else f"{requested!r} is not one of them"
    raise InputError(f"{figure} has one varied number on its axis; {got}. Choose lever= from {', '.join(numbers)}.")


def _recipe_by_lever(name: str, usual: str, description: str) -> Recipe:
    """Return the figure of a measure against a varied number: the usual measure where none is chosen."""

    def data(runs: Results, measure: str | None = None, lever: str | None = None) -> Curves:
        return by_lever(runs, chosen_measure(runs, measure, usual), lever, name)

    return Recipe(name, ANY, description, data, draw_curves)


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
