"""How does a measure change with a varied number? The first that the sweep shows, or any, one line a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.figures.axis_words import axis_label, measure_label
from workbench.figures.compared import chosen_measure
from workbench.figures.finished import undefined, values
from workbench.figures.lever_columns import lever_columns
from workbench.figures.means import Means, level_of, means_of, rests_on
from workbench.figures.panels import Line, check_room, panels
from workbench.figures.recipe import ANY, Column, Recipe, on_paper
from workbench.metrics.measure import Measure
from workbench.studies.statistics import mean_interval

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
    return by_lever(runs, chosen_measure(runs, measure, ""), lever, FIGURE.name)


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
def draw(data: MeasureByLever) -> Figure:
    """Draw lines with intervals at the values that were run; the axis is logarithmic where they span a factor of
    eight."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.9 if len(data.titles) == 1 else 1.3, share_x=True)
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


FIGURE = Recipe(
    "measure_by_lever",
    ANY,
    "The first measure that the sweep shows, or any, against a varied number, with intervals.",
    measure_by_lever_data,
    draw,
)
