"""How long does a translation take? The share of accesses that take at most so many cycles (spec 4, H4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.panels import drawn_panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.records.translation import TranslationRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Distribution(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    n: int
    """Runs that are taken together."""
    latency_cycles: np.ndarray
    """int64[lengths], increasing."""
    share: np.ndarray
    """float64[lengths], of all accesses of these runs that take at most as long."""


class LatencyDistribution(NamedTuple):
    """What is drawn."""

    titles: tuple[str, ...]
    """One a panel."""
    lines: tuple[Distribution, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and latency."""
        sizes = [len(line.share) for line in self.lines]
        return {
            "setting": np.repeat([self.titles[line.panel] for line in self.lines], sizes),
            "line": np.repeat([line.name for line in self.lines], sizes),
            "runs": np.repeat([line.n for line in self.lines], sizes),
            "latency_cycles": np.concatenate([line.latency_cycles for line in self.lines]),
            "share": np.concatenate([line.share for line in self.lines]),
        }


def latency_distribution_data(runs: RunSet) -> LatencyDistribution:
    """Compute the distribution of the latencies of all accesses, those of all seeds taken together.

    Raises
    ------
    InputError
        There are more panels or lines than can be drawn, or a point has no finished run or no accesses.
    """
    panels = drawn_panels(runs, FIGURE.name)
    lines = []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            kept = records(runs, line.point, FIGURE.name)
            lengths, share = _together(kept)
            if not len(lengths):
                raise InputError(f"{FIGURE.name} needs accesses; the runs of {runs.label(line.point)} have none.")
            lines.append(Distribution(place, line.name, line.style, len(kept), lengths, share))
    return LatencyDistribution(tuple(panel.title for panel in panels), tuple(lines))


def _together(kept: list[TranslationRecord]) -> tuple[np.ndarray, np.ndarray]:
    lengths, places = np.unique(np.concatenate([record.latency_cycles for record in kept]), return_inverse=True)
    counts = np.zeros(len(lengths), np.int64)
    np.add.at(counts, places, np.concatenate([record.latency_counts for record in kept]))
    return lengths, np.cumsum(counts) / max(int(counts.sum()), 1)


@on_paper
def draw(data: LatencyDistribution) -> Figure:
    """Draw steps up to all accesses; the axis of latency is logarithmic where it spans a factor of eight."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.9 if len(data.titles) == 1 else 1.3, share_x=True)
    first = max(min(int(line.latency_cycles[0]) for line in data.lines), 1)
    last = max(int(line.latency_cycles[-1]) for line in data.lines)
    for line in data.lines:
        x, y = np.r_[line.latency_cycles, last], np.r_[100 * line.share, 100.0]
        marked = np.unique(np.searchsorted(y, np.linspace(y[0], 100, 8)).clip(0, len(y) - 1))
        look = {**marks.look(line.style), "markevery": marked.tolist()}
        axes[line.panel].step(np.maximum(x, 1), y, where="post", label=frame.words(line.name), linewidth=0.9, **look)
    for one, title in zip(axes, data.titles, strict=True):
        frame.title(one, title)
        one.set_ylim(0, 103)
        if last >= 8 * first:
            one.set_xscale("log")
        one.set_xlim(0.9 * first, 1.1 * last)
    frame.name_sides(axes, "latency (cycles)", "accesses served by then (%)", _note(data))
    frame.legend(figure, axes)
    return figure


def _note(data: LatencyDistribution) -> str:
    most = max(line.n for line in data.lines)
    return "one seed" if most == 1 else f"all accesses of up to {most} seeds together"


FIGURE = Recipe(
    "latency_distribution",
    "translation",
    "The distribution of the latency of translations, by policy.",
    latency_distribution_data,
    draw,
)
