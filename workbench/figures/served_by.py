"""Who gives the translation? Shares of all accesses by where they are served, policy by policy (spec 4, H4.1, H4.3)."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.means import Means, mean_curve, rests_on
from workbench.figures.panels import drawn_panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.records.translation import SERVED_BY, TranslationRecord, accesses

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LETTERS = 30
"""Of a line of a bar's name."""


class Shares(NamedTuple):
    """One bar."""

    panel: int
    name: str
    n: int
    """Seeds that it is the mean of."""
    percent: Means
    """One value for each of `SERVED_BY`, averaged over the seeds."""


class ServedBy(NamedTuple):
    """What is drawn."""

    titles: tuple[str, ...]
    """One a panel."""
    bars: tuple[Shares, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a bar and part."""
        parts = len(SERVED_BY)
        return {
            "setting": np.repeat([self.titles[bar.panel] for bar in self.bars], parts),
            "line": np.repeat([bar.name for bar in self.bars], parts),
            "runs": np.repeat([bar.n for bar in self.bars], parts),
            "served_by": np.tile(SERVED_BY, len(self.bars)),
            "mean_percent": np.concatenate([bar.percent.mean for bar in self.bars]),
            "low_percent": np.concatenate([bar.percent.low for bar in self.bars]),
            "high_percent": np.concatenate([bar.percent.high for bar in self.bars]),
        }


def served_by_data(runs: RunSet) -> ServedBy:
    """Compute the shares of accesses by where they are served, averaged over the seeds with the 95 % interval.

    Raises
    ------
    InputError
        There are more panels or bars than can be drawn, or a point has no finished run.
    """
    panels = drawn_panels(runs, FIGURE.name)
    bars = []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            percent = np.stack([_percent(record) for record in records(runs, line.point, FIGURE.name)])
            bars.append(Shares(place, line.name, len(percent), mean_curve(percent)))
    return ServedBy(tuple(panel.title for panel in panels), tuple(bars))


def _percent(record: TranslationRecord) -> np.ndarray:
    return np.asarray(100 * record.served.sum(axis=0) / max(accesses(record), 1))


@on_paper
def draw(data: ServedBy) -> Figure:
    """Draw a bar of five parts a policy, the first on top."""
    from workbench.figures import frame, ink, marks

    rows = [[bar for bar in data.bars if bar.panel == place] for place in range(len(data.titles))]
    figure, axes = ink.stacked(len(rows), [0.35 + 0.24 * len(bars) for bars in rows], share_x=True)
    colours = marks.fills(len(SERVED_BY))
    for one, title, bars in zip(axes, data.titles, rows, strict=True):
        frame.title(one, title)
        places = np.arange(len(bars))[::-1]
        edges = np.cumsum([np.r_[0, bar.percent.mean] for bar in bars], axis=1)
        for part, colour in enumerate(colours):
            wide = edges[:, part + 1] - edges[:, part]
            one.barh(places, wide, 0.72, edges[:, part], color=colour, edgecolor=marks.INK, linewidth=0.3)
        one.set_yticks(places, [textwrap.fill(frame.words(bar.name), _LETTERS) for bar in bars])
        one.tick_params(axis="y", length=0)
        one.set_xlim(0, 100)
    marks.swatches(axes[0], SERVED_BY, colours)
    frame.name_sides(axes, "accesses served (%)", note=rests_on(bar.n for bar in data.bars).split(" with")[0])
    frame.legend(figure, axes)
    return figure


FIGURE = Recipe(
    "served_by",
    "translation",
    "Where translations are served: own TLB, entry on its way, peer, shared TLB or walk, stacked by policy.",
    served_by_data,
    draw,
)
