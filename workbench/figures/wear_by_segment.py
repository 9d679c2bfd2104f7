"""Which segments wear most? Grants a segment over the memory (spec 1, H1.5 and H1.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.means import Means, level_of, mean_curve, rests_on
from workbench.figures.panels import drawn_panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.metrics.shared_memory import grants_by_segment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Wear(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    n: int
    """Seeds that it is the mean of."""
    means: Means
    """One value a segment: its grants over the mean of all segments, averaged over the seeds."""


class WearBySegment(NamedTuple):
    """What is drawn."""

    titles: tuple[str, ...]
    """One a panel."""
    lines: tuple[Wear, ...]
    without: tuple[str, ...]
    """Policies whose grants are not ranges of segments: nothing can be said of their wear."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and segment."""
        sizes = [len(line.means.mean) for line in self.lines]
        return {
            "setting": np.repeat([self.titles[line.panel] for line in self.lines], sizes),
            "line": np.repeat([line.name for line in self.lines], sizes),
            "runs": np.repeat([line.n for line in self.lines], sizes),
            "segment": np.concatenate([np.arange(size) for size in sizes]),
            "grants_over_mean": np.concatenate([line.means.mean for line in self.lines]),
            "low": np.concatenate([line.means.low for line in self.lines]),
            "high": np.concatenate([line.means.high for line in self.lines]),
        }


def wear_by_segment_data(runs: RunSet) -> WearBySegment:
    """Compute the grants a segment over their mean in the same run, averaged over the seeds with the 95 % interval.

    Raises
    ------
    InputError
        There are more panels or lines than can be drawn, a point has no finished run, or no policy grants ranges.
    """
    panels = drawn_panels(runs, FIGURE.name)
    lines, without = [], []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            kept = records(runs, line.point, FIGURE.name)
            if _ranged(kept[0]):
                lines.append(
                    Wear(
                        place,
                        line.name,
                        line.style,
                        len(kept),
                        mean_curve(np.stack([*map(_relative, kept)]), level_of(runs)),
                    )
                )
            else:
                without.append(line.name)
    if not lines:
        raise InputError(f"{FIGURE.name} needs grants that are ranges of segments; {without[0]} has none.")
    return WearBySegment(tuple(panel.title for panel in panels), tuple(lines), tuple(dict.fromkeys(without)))


def _ranged(record: Any) -> bool:
    return bool(record.addressed and record.layout != "scattered")


def _relative(record: Any) -> np.ndarray:
    wear = grants_by_segment(record)
    return wear / max(wear.mean(), 1e-300)


@on_paper
def draw(data: WearBySegment) -> Figure:
    """Draw lines over the segments; 1 is the mean of the memory."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.2)
    for line in data.lines:
        marks.step_line(axes[line.panel], np.arange(len(line.means.mean)), line.means, line.style, line.name)
    for place, (one, title) in enumerate(zip(axes, data.titles, strict=True)):
        frame.title(one, title)
        one.axhline(1, color=marks.QUIET, linewidth=0.6, zorder=0)
        one.set_ylim(bottom=0)
        one.set_xlim(0, max((len(line.means.mean) - 1 for line in data.lines if line.panel == place), default=1))
    left_out = f"; no ranges: {', '.join(data.without)}" if data.without else ""
    frame.name_sides(
        axes, "segment", "grants / mean", rests_on((line.n for line in data.lines), pointwise=True) + left_out
    )
    frame.legend(figure, axes)
    return figure


FIGURE = Recipe(
    "wear_by_segment",
    "shared_memory",
    "How often each segment is granted, over the mean of the memory.",
    wear_by_segment_data,
    draw,
)
