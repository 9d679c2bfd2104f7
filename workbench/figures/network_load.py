"""How busy is the network between cores? Messages a cycle over the time of a run (spec 4, H4.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.means import Means, mean_curve, rests_on
from workbench.figures.panels import Line, drawn_panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.metrics.translation import counted_over_time
from workbench.records.translation import TranslationRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACES = 300
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
    panels = drawn_panels(runs, FIGURE.name)
    lines = [line for place, panel in enumerate(panels) for line in _lines(runs, place, panel.lines)]
    return NetworkLoad(tuple(panel.title for panel in panels), tuple(lines))


def _lines(runs: RunSet, panel: int, lines: list[Line]) -> list[Load]:
    kept = [records(runs, line.point, FIGURE.name) for line in lines]
    last = max(1, *(record.last_cycle for result in kept for record in result))
    edges = np.unique(np.linspace(0, last, PLACES + 1).round().astype(np.int64))
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
def draw(data: NetworkLoad) -> Figure:
    """Draw lines with their bands."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.25)
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


FIGURE = Recipe(
    "network_load",
    "translation",
    "Messages between cores a cycle over the time of the run, by policy, with intervals.",
    network_load_data,
    draw,
)
