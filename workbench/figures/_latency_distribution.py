"""How long translations take: the share of accesses that take at most so many cycles (spec 4, H4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures._curves import Curve, Curves, Look, draw_curves
from workbench.figures.estimates import without_limits
from workbench.figures.panels import drawn_panels, records
from workbench.figures.registry import Recipe
from workbench.records.translation import TranslationRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def latency_distribution_data(runs: RunSet) -> Curves:
    """Compute the distribution of the latencies of all accesses, those of all seeds taken together.

    Raises
    ------
    InputError
        There are more panels or lines than can be drawn, or a point has no finished run or no accesses.
    """
    panels = drawn_panels(runs, "latency_distribution")
    lines = list[Curve]()
    for place, panel in enumerate(panels):
        for line in panel.lines:
            kept = records(runs, line.point, "latency_distribution")
            lengths, share = _together(kept)
            if not len(lengths):
                raise InputError(
                    f"latency_distribution needs accesses; the runs of {runs.label(line.point)} have none."
                )
            lines.append(Curve(place, line.name, line.style, len(kept), lengths, without_limits(share)))
    most = max(line.n for line in lines)
    return Curves(
        x="latency_cycles",
        x_label="latency (cycles)",
        y=("share",),
        y_label="accesses served by then (%)",
        titles=tuple(panel.title for panel in panels),
        lines=tuple(lines),
        look=Look((1.9, 1.3), share_x=True, mark=_up_to_all, panel=_of_latencies),
        note="one seed" if most == 1 else f"all accesses of up to {most} seeds together",
    )


def _together(kept: list[TranslationRecord]) -> tuple[np.ndarray, np.ndarray]:
    """Return the latencies that accesses of some runs take, increasing, and the share that takes at most as long."""
    lengths, places = np.unique(np.concatenate([record.latency_cycles for record in kept]), return_inverse=True)
    counts = np.zeros(len(lengths), np.int64)
    np.add.at(counts, places, np.concatenate([record.latency_counts for record in kept]))
    return lengths, np.cumsum(counts) / max(int(counts.sum()), 1)


def _longest(data: Curves) -> int:
    return max(int(line.x[-1]) for line in data.lines)


def _up_to_all(axes: Axes, line: Curve, data: Curves) -> None:
    """Draw steps up to all accesses."""
    from workbench.figures import frame, marks

    x, y = np.r_[line.x, _longest(data)], np.r_[100 * line.means.mean, 100.0]
    marked = np.unique(np.searchsorted(y, np.linspace(y[0], 100, 8)).clip(0, len(y) - 1))
    look = {**marks.line_look(line.style), "markevery": marked.tolist()}
    axes.step(np.maximum(x, 1), y, where="post", label=frame.words(line.name), linewidth=0.9, **look)


def _of_latencies(axes: Axes, lines: list[Curve], data: Curves) -> None:
    """Set the axis of latency logarithmic where it spans a factor of eight."""
    first, last = max(min(int(line.x[0]) for line in data.lines), 1), _longest(data)
    axes.set_ylim(0, 103)
    if last >= 8 * first:
        axes.set_xscale("log")
    axes.set_xlim(0.9 * first, 1.1 * last)


LATENCY_DISTRIBUTION_FIGURE = Recipe(
    "latency_distribution",
    "translation",
    "The distribution of the latency of translations, by policy.",
    latency_distribution_data,
    draw_curves,
)
