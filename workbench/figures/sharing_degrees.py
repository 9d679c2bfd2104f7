"""How many cores hold the same page? Pages by the number of their holders (spec 4, R23, E5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.means import Means, mean_curve, rests_on
from workbench.figures.panels import drawn_panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.metrics.translation import pages_by_degree
from workbench.records.translation import TranslationRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Degrees(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    n: int
    """Seeds that it is the mean of."""
    percent: Means
    """Of the pages held that 1, 2, ... cores hold: one value a number of cores."""


class SharingDegrees(NamedTuple):
    """What is drawn."""

    titles: tuple[str, ...]
    """One a panel."""
    lines: tuple[Degrees, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and number of holders."""
        sizes = [len(line.percent.mean) for line in self.lines]
        return {
            "setting": np.repeat([self.titles[line.panel] for line in self.lines], sizes),
            "line": np.repeat([line.name for line in self.lines], sizes),
            "runs": np.repeat([line.n for line in self.lines], sizes),
            "holders": np.concatenate([np.arange(1, size + 1) for size in sizes]),
            "mean_percent": np.concatenate([line.percent.mean for line in self.lines]),
            "low_percent": np.concatenate([line.percent.low for line in self.lines]),
            "high_percent": np.concatenate([line.percent.high for line in self.lines]),
        }


def sharing_degrees_data(runs: RunSet) -> SharingDegrees:
    """Compute the pages by how many private TLBs hold them, in percent, averaged over the samples of a run and over the
    seeds.

    Raises
    ------
    InputError
        There are more panels or lines than can be drawn, or a point has no finished run.
    """
    panels = drawn_panels(runs, FIGURE.name)
    lines = []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            percent = np.stack([_percent(record) for record in records(runs, line.point, FIGURE.name)])
            lines.append(Degrees(place, line.name, line.style, len(percent), mean_curve(percent)))
    return SharingDegrees(tuple(panel.title for panel in panels), tuple(lines))


def _percent(record: TranslationRecord) -> np.ndarray:
    pages = pages_by_degree(record)[1:]
    return np.asarray(100 * pages / max(int(pages.sum()), 1))


@on_paper
def draw(data: SharingDegrees) -> Figure:
    """Draw a dot with its interval a number of holders."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.25)
    for line in data.lines:
        holders = np.arange(1, len(line.percent.mean) + 1)
        marks.interval_line(axes[line.panel], holders, line.percent, line.style, line.name)
    for one, title in zip(axes, data.titles, strict=True):
        frame.title(one, title)
        one.set_ylim(bottom=0)
        frame.whole_numbers(one.xaxis, 8)
    frame.name_sides(
        axes, "cores that hold the page", "pages held (%)", rests_on((line.n for line in data.lines), pointwise=True)
    )
    frame.legend(figure, axes)
    return figure


FIGURE = Recipe(
    "sharing_degrees",
    "translation",
    "How many cores hold the same page: pages by the number of their holders, by policy, with intervals.",
    sharing_degrees_data,
    draw,
)
