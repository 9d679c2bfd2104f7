"""The drain of the same queue seed by seed: differences to the baseline (Fig. 14 of spec 1's source, R33c)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.results import Results
from workbench.figures.estimates import Compared, compared, gain_label, gain_of, measure_of
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import check_room, heading
from workbench.figures.registry import on_paper, recipe
from workbench.metrics.measure import Measure
from workbench.number_text import FIGURE, with_limits
from workbench.statistics.comparison import size_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_STEPS = (1.0, 2.0, 5.0, 10.0)
_BARS = 40
"""More bars than this are thinner than the gaps between them."""


class Histogram(NamedTuple):
    """One panel: a point against its baseline."""

    of: Compared
    counts: np.ndarray
    """int64[bars], seeds with a difference within each bar, those with none at all left out."""


class DrainDifference(NamedTuple):
    """How much sooner each policy drains the same queue than the baseline: histogram of the differences over the
    seeds."""

    measure: Measure
    label: str
    """Of the horizontal axis: what is saved, against whom, in which unit."""
    unit: str
    better: str
    """`faster` where a time is compared."""
    worse: str
    edges: np.ndarray
    """float64[bars + 1], the same for all panels; 0 is one of them."""
    panels: tuple[Histogram, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a bar, with the numbers of its panel."""
        unit = self.unit or "value"
        return below(
            {
                "setting": panel.of.setting,
                "policy": panel.of.name,
                "baseline": panel.of.baseline,
                f"difference_from_{unit}": self.edges[:-1],
                f"difference_to_{unit}": self.edges[1:],
                "seeds": panel.counts,
                f"seeds_{self.better}": panel.of.paired.wins,
                f"seeds_{self.worse}": panel.of.paired.losses,
                "seeds_tied": panel.of.paired.ties,
                "seeds_missing": panel.of.missing,
                f"mean_{unit}": gain_of(panel.of.paired, False).mean,
                f"low_{unit}": gain_of(panel.of.paired, False).low,
                f"high_{unit}": gain_of(panel.of.paired, False).high,
            }
            for panel in self.panels
        )


def drain_difference_data(runs: Results, measure: str = "drain_cycles") -> DrainDifference:
    """Compute the paired differences over the seeds as a histogram; positive = better than the baseline.

    A seed lies in the bar [a, b) left of zero and in (a, b] right of it; a tie lies in none.

    Raises
    ------
    InputError
        No point has a baseline, or more are compared than a page holds.
    """
    declared = measure_of(runs, measure)
    comparisons = compared(runs, declared, "drain_difference")
    check_room(len(comparisons), 1, "drain_difference")
    is_time = measure.endswith("_cycles")
    gained = [np.array(one.paired.differences) for one in comparisons]
    edges = bar_edges(gained)
    return DrainDifference(
        declared,
        gain_label(declared, {one.baseline for one in comparisons}),
        declared.unit,
        "faster" if is_time else "better",
        "slower" if is_time else "worse",
        edges,
        tuple(Histogram(one, _counts(each, edges)) for one, each in zip(comparisons, gained, strict=True)),
    )


def bar_edges(samples: list[np.ndarray]) -> np.ndarray:
    """Return the edges of bars at multiples of 1, 2 or 5 times a power of ten, at most Freedman and Diaconis' width for
    the widest sample.

    >>> bar_edges([np.array([-3.0, 1.0, 4.0, 12.0])])
    array([-5.,  0.,  5., 10., 15.])
    >>> bar_edges([np.zeros(5)])
    array([-1.,  0.,  1.])
    """
    everything = np.concatenate(samples)
    least, most = min(float(everything.min()), 0.0), max(float(everything.max()), 0.0)
    spreads = [2 * np.subtract(*np.percentile(one, [75, 25])) / np.cbrt(len(one)) for one in samples]
    finest = max((most - least) / _BARS, 1.0 if (everything == np.floor(everything)).all() else 0.0)
    width = _nice(max(*spreads, finest), finest) if most > least else 1.0
    below, above = np.floor(least / width), np.ceil(most / width)
    return np.arange(below, above + 1) * width if above > below else np.array([-width, 0.0, width])


def _nice(width: float, finest: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten up to a width, or the smallest from `finest` on if that is
    larger."""
    power = 10.0 ** np.floor(np.log10(width))
    below = max(step * power for step in _STEPS if step * power <= width * (1 + 1e-9))
    return float(below if below >= finest else min(step * power for step in _STEPS if step * power >= finest))


def _counts(gained: np.ndarray, edges: np.ndarray) -> np.ndarray:
    width = edges[1] - edges[0]
    within = np.where(gained > 0, np.ceil(gained / width) - 1, np.floor(gained / width))[gained != 0]
    first = np.rint(edges[0] / width)
    return np.bincount((within - first).astype(np.int64), minlength=len(edges) - 1)


@on_paper
def draw_drain_difference(data: DrainDifference) -> Figure:
    """Draw bars on both sides of zero, the estimate with its interval above them, and the counts in words."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.panels), 1.6 if len(data.panels) == 1 else 1.15)
    for one, panel in zip(axes, data.panels, strict=True):
        top = max(int(panel.counts.max()), panel.of.paired.ties)
        marks.histogram(one, data.edges, panel.counts, panel.of.paired.ties)
        marks.interval(one, gain_of(panel.of.paired, False), 1.15 * top)
        one.set_ylim(0, 1.3 * top)
        one.set_xlim(data.edges[0], data.edges[-1])
        of = f"{panel.of.name} against {panel.of.baseline}"
        frame.title(one, heading(panel.of.setting, of), _in_words(panel, data))
        frame.whole_numbers(one.yaxis)
    frame.name_sides(axes, data.label, "seeds")
    return figure


def _in_words(panel: Histogram, data: DrainDifference) -> str:
    paired = panel.of.paired
    interval = gain_of(panel.of.paired, False)
    counts = f"{data.better} on {paired.wins} seeds, {data.worse} on {paired.losses}, tied on {paired.ties}"
    lacking = f", {panel.of.missing} missing" if panel.of.missing else ""
    unit = f" {data.unit}" if data.unit else ""
    times = f"; {size_text(paired, FIGURE)}" if paired.is_ratio else ""
    return f"{counts}{lacking}\nmean {with_limits(interval.mean, interval.low, interval.high, FIGURE)}{unit}{times}"


DRAIN_DIFFERENCE_FIGURE = recipe("shared_memory", drain_difference_data, draw_drain_difference)
