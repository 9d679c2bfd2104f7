"""Where accesses are served: shares by own TLB, peer, shared TLB or walk (spec 4, H4.1, H4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.estimates import Means, level_of, mean_curve, rests_on
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import drawn_panels, records
from workbench.figures.registry import on_paper, recipe
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
    """Where translations are served: own TLB, entry on its way, peer, shared TLB or walk, stacked by policy."""

    titles: tuple[str, ...]
    """One a panel."""
    bars: tuple[Shares, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a bar and part."""
        return below(
            {
                "setting": self.titles[bar.panel],
                "line": bar.name,
                "runs": bar.n,
                "served_by": SERVED_BY,
                **bar.percent.columns("mean_percent", "low_percent", "high_percent"),
            }
            for bar in self.bars
        )


def served_by_data(runs: RunSet) -> ServedBy:
    """Compute the shares of accesses by where they are served, averaged over the seeds with the 95 % interval.

    Raises
    ------
    InputError
        There are more panels or bars than can be drawn, or a point has no finished run.
    """
    panels = drawn_panels(runs, "served_by")
    bars = []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            kept = records(runs, line.point, "served_by")
            percent = np.stack([*map(served_percent, kept)])
            bars.append(Shares(place, line.name, len(percent), mean_curve(percent, level_of(runs))))
    return ServedBy(tuple(panel.title for panel in panels), tuple(bars))


def served_percent(record: TranslationRecord) -> np.ndarray:
    """Return the accesses by where they are served, in percent: float64[5]."""
    return np.asarray(100 * record.served.sum(axis=0) / max(accesses(record), 1))


@on_paper
def draw_served_by(data: ServedBy) -> Figure:
    """Draw a bar of five parts a policy, the first on top."""
    from workbench.figures import frame, marks, plot_style

    rows = [[bar for bar in data.bars if bar.panel == place] for place in range(len(data.titles))]
    figure, axes = plot_style.stacked(len(rows), [0.35 + 0.24 * len(bars) for bars in rows], share_x=True)
    colours = marks.fills(len(SERVED_BY))
    for one, title, bars in zip(axes, data.titles, rows, strict=True):
        frame.title(one, title)
        percent = np.stack([bar.percent.mean for bar in bars])
        marks.stacked_bars(one, [bar.name for bar in bars], percent, colours, _LETTERS, height=0.72, linewidth=0.3)
        one.set_xlim(0, 100)
    marks.swatches(axes[0], SERVED_BY, colours)
    frame.name_sides(axes, "accesses served (%)", note=rests_on(bar.n for bar in data.bars).split(" with")[0])
    frame.legend(figure, axes)
    return figure


SERVED_BY_FIGURE = recipe("translation", served_by_data, draw_served_by)
