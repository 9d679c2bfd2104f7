"""Quantities of a run over time: workgroups left, free segments, granted bytes of a heap, messages in a network.

A curve is the mean of exact steps over the seeds, one line a point, one panel a setting. Workgroups left in the queue
and free segments are Fig. 12 and 13 of spec 1's source (R33a, R33b), granted bytes H2.10 of spec 2, messages a cycle
between cores H4.8 of spec 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.estimates import Means, level_of, mean_curve, rests_on
from workbench.figures.panels import Line, drawn_panels, records
from workbench.figures.registry import Column, Recipe, on_paper
from workbench.metrics.malloc import held_over_time
from workbench.metrics.shared_memory import free_over_time, queue_over_time
from workbench.metrics.statistics import Steps
from workbench.metrics.translation import counted_over_time
from workbench.records.malloc import MallocRecord
from workbench.records.shared_memory import drain_cycle
from workbench.records.translation import TranslationRecord

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
def draw_over_time(data: OverTime) -> Figure:
    """Draw lines with their bands; the legend is above the panels, which share the axis of time."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.25)
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


def remaining_over_time_data(runs: RunSet) -> OverTime:
    """Compute the workgroups that have joined the queue and are not granted yet: mean over the seeds with its 95 %
    interval."""
    return over_time(
        runs, REMAINING_OVER_TIME_FIGURE.name, "workgroups left in the queue", "workgroups", queue_over_time
    )


REMAINING_OVER_TIME_FIGURE = Recipe(
    "remaining_over_time",
    "shared_memory",
    "Workgroups left in the queue over time, mean over the seeds with its 95 % interval.",
    remaining_over_time_data,
    draw_over_time,
)


def free_over_time_data(runs: RunSet) -> OverTime:
    """Compute the free segments: mean over the seeds with its 95 % interval; a run that is over has all of them
    free."""
    return over_time(runs, FREE_OVER_TIME_FIGURE.name, "free segments", "segments", free_over_time)


FREE_OVER_TIME_FIGURE = Recipe(
    "free_over_time",
    "shared_memory",
    "Free segments over time, mean over the seeds with its 95 % interval.",
    free_over_time_data,
    draw_over_time,
)


def held_over_time_data(runs: RunSet) -> OverTime:
    """Compute the granted bytes: mean over the seeds with its 95 % interval, until the last change of any run of a
    panel."""
    return over_time(runs, HELD_OVER_TIME_FIGURE.name, "granted (bytes)", "bytes", held_over_time, last_change)


def last_change(record: MallocRecord) -> int:
    """Return the last cycle at which something was granted or came back."""
    return int(max(record.granted.max(initial=0), record.returned.max(initial=0)))


HELD_OVER_TIME_FIGURE = Recipe(
    "held_over_time",
    "malloc",
    "Bytes that the heap has granted, over time, mean over the seeds with its 95 % interval.",
    held_over_time_data,
    draw_over_time,
)

SLICES = 300
"""Slices of the time, at most."""


class Load(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    n: int
    """Seeds that it is the mean of."""
    cycle: np.ndarray
    """int64[places], where slices of the time begin, the same for all lines of a panel."""
    messages: Means
    """Messages a cycle in each."""


class NetworkLoad(NamedTuple):
    """What is drawn."""

    titles: tuple[str, ...]
    """One a panel."""
    lines: tuple[Load, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and cycle."""
        places = [len(line.cycle) for line in self.lines]
        return {
            "setting": np.repeat([self.titles[line.panel] for line in self.lines], places),
            "line": np.repeat([line.name for line in self.lines], places),
            "runs": np.repeat([line.n for line in self.lines], places),
            "time_cycles": np.concatenate([line.cycle for line in self.lines]),
            "mean_messages_per_cycle": np.concatenate([line.messages.mean for line in self.lines]),
            "low_messages_per_cycle": np.concatenate([line.messages.low for line in self.lines]),
            "high_messages_per_cycle": np.concatenate([line.messages.high for line in self.lines]),
        }


def network_load_data(runs: RunSet) -> NetworkLoad:
    """Compute the messages between cores a cycle, in equal slices of the time, averaged over the seeds with the 95 %
    interval.

    A run that is over sends nothing until the panel's slowest run ends.

    Raises
    ------
    InputError
        There are more panels or lines than can be drawn, or a point has no finished run.
    """
    panels = drawn_panels(runs, NETWORK_LOAD_FIGURE.name)
    lines = [line for place, panel in enumerate(panels) for line in _lines(runs, place, panel.lines)]
    return NetworkLoad(tuple(panel.title for panel in panels), tuple(lines))


def _lines(runs: RunSet, panel: int, lines: list[Line]) -> list[Load]:
    kept = [records(runs, line.point, NETWORK_LOAD_FIGURE.name) for line in lines]
    last = max(1, *(record.last_cycle for result in kept for record in result))
    edges = np.unique(np.linspace(0, last, SLICES + 1).round().astype(np.int64))
    result = []
    for line, each in zip(lines, kept, strict=True):
        curves = np.stack([load_between(record, edges) for record in each])
        result.append(Load(panel, line.name, line.style, len(each), edges[:-1], mean_curve(curves)))
    return result


def load_between(record: TranslationRecord, edges: np.ndarray) -> np.ndarray:
    """Compute the messages a cycle between neighbouring edges, those of a window spread evenly over it: float64[edges -
    1]."""
    ends = record.first_cycle + record.window_cycles * np.arange(len(record.over_time) + 1)
    upto = np.interp(edges, ends, np.r_[0, np.cumsum(counted_over_time(record, "messages"))])
    return np.asarray(np.diff(upto) / np.diff(edges))


@on_paper
def draw_network_load(data: NetworkLoad) -> Figure:
    """Draw lines with their bands."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.25)
    for line in data.lines:
        marks.step_line(axes[line.panel], line.cycle, line.messages, line.style, line.name)
    for place, (one, title) in enumerate(zip(axes, data.titles, strict=True)):
        frame.title(one, title)
        one.set_ylim(bottom=0)
        one.set_xlim(0, max(1, *(int(line.cycle[-1]) for line in data.lines if line.panel == place)))
        if not any(line.messages.mean.any() for line in data.lines if line.panel == place):
            frame.say_instead(one, "no messages between cores")
    frame.name_sides(
        axes, "time (cycles)", "messages a cycle", rests_on((line.n for line in data.lines), pointwise=True)
    )
    frame.legend(figure, axes)
    return figure


NETWORK_LOAD_FIGURE = Recipe(
    "network_load",
    "translation",
    "Messages between cores a cycle over the time of the run, by policy, with intervals.",
    network_load_data,
    draw_network_load,
)
