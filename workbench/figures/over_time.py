"""A quantity of a run over time: the mean of its exact steps over the seeds, one line a point, one panel a setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.means import Means, level_of, mean_curve, rests_on
from workbench.figures.panels import Line, drawn_panels
from workbench.figures.recipe import Column, on_paper
from workbench.metrics.statistics import Steps
from workbench.records.shared_memory import drain_cycle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACES = 600
"""Cycles on the grid: more than a column of a paper has dots of print."""


class Curve(NamedTuple):
    """One line."""

    panel: int
    """Which panel it is in."""
    name: str
    style: int
    n: int
    """Seeds that it is the mean of."""
    cycle: np.ndarray
    """int64[places], the same for all lines of a panel."""
    means: Means
    """The mean over the seeds, and its interval, at each of these cycles."""


class OverTime(NamedTuple):
    """What is drawn."""

    quantity: str
    """What the vertical axis shows, with its unit."""
    unit: str
    """The same for the names of columns."""
    titles: tuple[str, ...]
    """One a panel."""
    curves: tuple[Curve, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and cycle."""
        places = [len(curve.cycle) for curve in self.curves]
        return {
            "setting": np.repeat([self.titles[curve.panel] for curve in self.curves], places),
            "line": np.repeat([curve.name for curve in self.curves], places),
            "runs": np.repeat([curve.n for curve in self.curves], places),
            "time_cycles": np.concatenate([curve.cycle for curve in self.curves]),
            f"mean_{self.unit}": np.concatenate([curve.means.mean for curve in self.curves]),
            f"low_{self.unit}": np.concatenate([curve.means.low for curve in self.curves]),
            f"high_{self.unit}": np.concatenate([curve.means.high for curve in self.curves]),
        }


def over_time(
    runs: RunSet,
    figure: str,
    quantity: str,
    unit: str,
    steps_of: Callable[[Any], Steps],
    end_of: Callable[[Any], int] = drain_cycle,
) -> OverTime:
    """Sample the steps of every run on one grid a panel, and average over the seeds.

    A run that is over stays at its last value (an empty queue, a free memory) until the panel's slowest run ends.

    Raises
    ------
    InputError
        There are more panels than a page holds, or a point has no finished run.
    """
    panels = drawn_panels(runs, figure)
    curves: list[Curve] = []
    for place, panel in enumerate(panels):
        curves.extend(_curves(runs, figure, place, panel.lines, steps_of, end_of))
    return OverTime(quantity, unit, tuple(panel.title for panel in panels), tuple(curves))


def _curves(
    runs: RunSet,
    figure: str,
    panel: int,
    lines: list[Line],
    steps_of: Callable[[Any], Steps],
    end_of: Callable[[Any], int],
) -> list[Curve]:
    curves, last = [], 0
    for line in lines:
        kept = records(runs, line.point, figure)
        last = max(last, *map(end_of, kept))
        curves.append((line, [steps_of(record) for record in kept]))
    grid = np.unique(np.linspace(0, last, PLACES).round().astype(np.int64))
    return [
        Curve(
            panel,
            line.name,
            line.style,
            len(steps),
            grid,
            mean_curve(np.stack([s.at(grid) for s in steps]), level_of(runs)),
        )
        for line, steps in curves
    ]


@on_paper
def draw(data: OverTime) -> Figure:
    """Draw lines with their bands; the legend is above the panels, which share the axis of time."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.25)
    for curve in data.curves:
        marks.step_line(axes[curve.panel], curve.cycle, curve.means, curve.style, _named(curve, data.curves))
    for place, (one, title) in enumerate(zip(axes, data.titles, strict=True)):
        frame.title(one, title)
        one.set_ylim(bottom=0)
        one.set_xlim(0, max(1, *(int(curve.cycle[-1]) for curve in data.curves if curve.panel == place)))
    frame.name_sides(axes, "time (cycles)", data.quantity, rests_on((curve.n for curve in data.curves), pointwise=True))
    frame.legend(figure, axes)
    return figure


def _named(curve: Curve, curves: tuple[Curve, ...]) -> str:
    """Return the line's name, with its number of seeds where the lines differ in it."""
    return curve.name if len({other.n for other in curves}) == 1 else f"{curve.name} (n = {curve.n})"
