"""Two measures against each other, and the front of the points that nothing beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures.estimates import Means, chosen_measure, means_of, rests_on
from workbench.figures.figure_files import Column, below
from workbench.figures.labels import measure_label
from workbench.figures.panels import Panel, check_room, panels, values
from workbench.figures.registry import ANY, on_paper, recipe
from workbench.metrics.measure import Measure
from workbench.statistics import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from workbench.figures._point_names import Names


MOST_NAMES = 16
"""Where there are more points, only those of the front are named, and of those only where nothing is covered."""


class Cloud(NamedTuple):
    """One panel."""

    setting: str
    names: tuple[str, ...]
    n: np.ndarray
    """int64[points], seeds; 0 where the numbers are not means."""
    x: Means
    y: Means
    front: np.ndarray
    """bool[points], whether no other point is better in one measure and at least as good in the other."""
    without: tuple[str, ...] = ()
    """Points for which one of the measures is not defined."""
    shade: np.ndarray | None = None
    """float64[points], the mean of a third measure; None where there are two."""
    baseline: np.ndarray | None = None
    """bool[points], what others are held to; None where that is nothing."""


class Pareto(NamedTuple):
    """Two measures against each other with intervals, and the points that no other beats in both."""

    x: Measure
    y: Measure
    panels: tuple[Cloud, ...]
    shade: Measure | None = None
    """A third one, told by the color."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a point."""
        held = any(panel.baseline is not None for panel in self.panels)
        return below(
            {
                "setting": panel.setting,
                "point": panel.names,
                "seeds": panel.n,
                **panel.x.columns(self.x.name, f"{self.x.name}_low", f"{self.x.name}_high"),
                **panel.y.columns(self.y.name, f"{self.y.name}_low", f"{self.y.name}_high"),
                "on_front": panel.front,
                **({} if self.shade is None else {self.shade.name: _shades(panel)}),
                **({"baseline": _baselines(panel)} if held else {}),
            }
            for panel in self.panels
        )


def pareto_data(runs: Results, x: str | None = None, y: str | None = None) -> Pareto:
    """Compute the means of two measures of every point over its seeds, with their 95 % intervals.

    Parameters
    ----------
    x, y : str, optional
        Any measures of the engine; if None drain cycles and external fragmentation, or the first and the second of the
        sweep where there are no such.

    Raises
    ------
    InputError
        A measure is unknown, neither direction of one is better, no point has both, or there are too many settings.
    """
    measures = (
        chosen_measure(runs, x, "drain_cycles"),
        chosen_measure(runs, y, "mean_external_fragmentation", place=1),
    )
    for measure in measures:
        if measure.better == "neither":
            raise InputError(f"pareto needs measures of which less or more is better; {measure.name} is neither.")
    all_panels = panels(runs)
    check_room(len(all_panels), 1, "pareto")
    clouds = tuple(_cloud(runs, panel, measures) for panel in all_panels)
    if not any(cloud.names for cloud in clouds):
        both = " and ".join(measure.name for measure in measures)
        raise InputError(f"pareto needs points for which both {both} are defined; there is none.")
    return Pareto(*measures, clouds)


def _cloud(runs: Results, panel: Panel, measures: tuple[Measure, Measure]) -> Cloud:
    values_by_line = {
        line.name: [[*values(runs, line.point, measure.name, "pareto").values()] for measure in measures]
        for line in panel.lines
    }
    defined = {name: [mean_interval(side) for side in sides] for name, sides in values_by_line.items() if all(sides)}
    sides = [means_of(intervals) for intervals in zip(*defined.values(), strict=True)] or [means_of([])] * 2
    cloud = cloud_of(panel.title, [*defined], np.array([x.n for x, _ in defined.values()], int), sides, measures)
    return cloud._replace(without=tuple(name for name in values_by_line if name not in defined))


def cloud_of(
    setting: str, names: Sequence[str], n: np.ndarray, sides: Sequence[Means], measures: Sequence[Measure]
) -> Cloud:
    """Return a panel of points, with those of its front marked by what is better of each measure."""
    costs = [s.mean if measure.better == "lower" else -s.mean for s, measure in zip(sides, measures, strict=True)]
    return Cloud(setting, tuple(names), n, sides[0], sides[1], on_front(*costs))


def on_front(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute whether no other point is lower in one coordinate and at most as high in the other: bool[points].

    Points that are equal in both are on the front together.

    >>> on_front(np.array([1, 1, 2, 3, 1]), np.array([5, 6, 4, 4, 5]))
    array([ True, False,  True, False,  True])
    """
    different, which = np.unique(np.stack([x, y], axis=1), axis=0, return_inverse=True)
    lowest_before = np.concatenate([[np.inf], np.minimum.accumulate(different[:, 1])[:-1]])
    return np.asarray((different[:, 1] < lowest_before)[which.reshape(-1)])


def _shades(panel: Cloud) -> np.ndarray:
    return np.full(len(panel.names), np.nan) if panel.shade is None else panel.shade


def _baselines(panel: Cloud) -> np.ndarray:
    return np.zeros(len(panel.names), bool) if panel.baseline is None else panel.baseline


@on_paper
def draw(data: Pareto) -> Figure:
    """Draw points with intervals; those of the front are filled, joined by the steps that nothing beats, and named."""
    from workbench.figures import frame, marks, plot_style
    from workbench.figures._point_names import name_all

    figure, axes = plot_style.stacked(len(data.panels), 2.3 if len(data.panels) == 1 else 1.9)
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.setting)
        marks.points(one, panel.x, panel.y, panel.front, len(panel.names) > MOST_NAMES)
        one.margins(0.1)
        order = np.argsort(panel.x.mean[panel.front], kind="stable")
        x, y = (side.mean[panel.front][order] for side in (panel.x, panel.y))
        drawstyle = "steps-post" if data.x.better == "lower" else "steps-pre"
        one.plot(x, y, drawstyle=drawstyle, color=plot_style.palette().quiet, linewidth=0.7, zorder=1)
    counts = [int(n) for panel in data.panels for n in panel.n if n]
    without = dict.fromkeys(name for panel in data.panels for name in panel.without)
    note = (rests_on(counts) if counts else "") + (f"; not defined: {', '.join(without)}" if without else "")
    frame.name_sides(axes, measure_label(data.x), measure_label(data.y), note)
    name_all(figure, [_names(one, panel) for one, panel in zip(axes, data.panels, strict=True)])
    return figure


def _names(axes: Axes, panel: Cloud) -> Names:
    from workbench.figures._point_names import Names

    few = len(panel.names) <= MOST_NAMES
    displayed = {k: name for k, name in enumerate(panel.names) if few or panel.front[k]}
    return Names(axes, np.column_stack([panel.x.mean, panel.y.mean]), displayed, every=few)


PARETO_FIGURE = recipe(ANY, pareto_data, draw)
