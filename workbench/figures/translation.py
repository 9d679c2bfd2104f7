"""Figures of address translation: who serves accesses, how long they take, which cores hold the same pages.

Shares of accesses by where they are served (spec 4, H4.1, H4.3) and of those that take at most so many cycles (H4.2);
how many pages two private TLBs hold in common, on average (section 8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures._curves import Curve, Curves, Look, draw_curves
from workbench.figures.estimates import Means, mean_curve, rests_on, without_limits
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import drawn_panels, heading, records, separate_lines
from workbench.figures.registry import Recipe, on_paper, recipe
from workbench.records.translation import SERVED_BY, TranslationRecord, accesses, affinity, served_counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LETTERS = 30
"""Of a line of a bar's name."""
_TITLE_LETTERS = 42
"""Of a title, over the width of a sheet."""


class Shares(NamedTuple):
    """One bar."""

    panel: int
    name: str
    n: int
    """Seeds that it is the mean of."""
    percent: Means
    """One value for each part, averaged over the seeds."""


class ServedBy(NamedTuple):
    """Where translations are served: own TLB, entry on its way, peer, shared TLB or walk, stacked by policy."""

    titles: tuple[str, ...]
    """One a panel."""
    bars: tuple[Shares, ...]
    parts: tuple[str, ...]
    """Those of `SERVED_BY` that there are: `middle` where some machine has a middle level."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a bar and part."""
        return below(
            {
                "setting": self.titles[bar.panel],
                "line": bar.name,
                "runs": bar.n,
                "served_by": self.parts,
                **bar.percent.columns("mean_percent", "low_percent", "high_percent"),
            }
            for bar in self.bars
        )


def served_by_data(runs: Results) -> ServedBy:
    """Compute the shares of accesses by where they are served, averaged over the seeds with the 95 % interval.

    Raises
    ------
    InputError
        There are more panels or bars than can be drawn, or a point has no finished run.
    """
    panels = drawn_panels(runs, "served_by")
    lines = [(place, line) for place, panel in enumerate(panels) for line in panel.lines]
    kept = [records(runs, line.point, "served_by") for _, line in lines]
    parts = SERVED_BY[: max((record.served.shape[1] for some in kept for record in some), default=len(SERVED_BY))]
    bars = []
    for (place, line), some in zip(lines, kept, strict=True):
        percent = np.stack([served_percent(record)[: len(parts)] for record in some])
        bars.append(Shares(place, line.name, len(percent), mean_curve(percent)))
    return ServedBy(tuple(panel.title for panel in panels), tuple(bars), parts)


def served_percent(record: TranslationRecord) -> np.ndarray:
    """Return the accesses by where they are served, in percent: float64[6], by `SERVED_BY`."""
    counts = np.array([*served_counts(record).values()])
    return np.asarray(100 * counts / max(accesses(record), 1))


@on_paper
def draw_served_by(data: ServedBy) -> Figure:
    """Draw a bar of a part for each place a policy, the first on top."""
    from workbench.figures import frame, marks, plot_style

    rows = [[bar for bar in data.bars if bar.panel == place] for place in range(len(data.titles))]
    figure, axes = plot_style.stacked(len(rows), [0.35 + 0.24 * len(bars) for bars in rows], share_x=True)
    colours = marks.fills(len(data.parts))
    for one, title, bars in zip(axes, data.titles, rows, strict=True):
        frame.title(one, title)
        percent = np.stack([bar.percent.mean for bar in bars])
        marks.stacked_bars(one, [bar.name for bar in bars], percent, colours, _LETTERS, height=0.72, linewidth=0.3)
        one.set_xlim(0, 100)
    marks.swatches(axes[0], data.parts, colours)
    frame.name_sides(axes, "accesses served (%)", note=rests_on(bar.n for bar in data.bars).split(" with")[0])
    frame.legend(figure, axes)
    return figure


SERVED_BY_FIGURE = recipe("translation", served_by_data, draw_served_by)


def latency_distribution_data(runs: Results) -> Curves:
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


class Affinity(NamedTuple):
    """One panel."""

    title: str
    n: int
    """Seeds that it is the mean of."""
    pages: np.ndarray
    """float64[cores, cores], pages that two cores hold at the same time; 0 on the diagonal."""


class CoreAffinity(NamedTuple):
    """How many pages every two cores hold in common, a panel a policy."""

    panels: tuple[Affinity, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a pair of cores."""
        cores = [np.indices(panel.pages.shape).reshape(2, -1) for panel in self.panels]
        return below(
            {"line": panel.title, "runs": panel.n, "core": one, "other_core": other, "mean_pages": panel.pages.ravel()}
            for panel, (one, other) in zip(self.panels, cores, strict=True)
        )


def core_affinity_data(runs: Results) -> CoreAffinity:
    """Compute the mean number of pages that two cores hold at the same time, over the samples of a run and the seeds.

    Raises
    ------
    InputError
        There are more points than panels on a page, or a point has no finished run.
    """
    lines = separate_lines(runs, "core_affinity")
    settings = [setting for setting, _ in lines]
    all_panels = []
    for setting, line in lines:
        pages = np.stack([affinity(record) for record in records(runs, line.point, "core_affinity")])
        title = heading(setting, line.name) if settings.count(setting) > 1 else setting or line.name
        all_panels.append(Affinity(title, len(pages), pages.mean(axis=0)))
    return CoreAffinity(tuple(all_panels))


@on_paper
def draw_core_affinity(data: CoreAffinity) -> Figure:
    """Draw a square of squares a point, dark where two cores share much; one scale for all."""
    from workbench.figures import frame, marks, plot_style

    columns = min(len(data.panels), 2)
    figure, axes = plot_style.grid(len(data.panels), columns, 2.6 if columns == 1 else 1.75)
    most = max(float(panel.pages.max()) for panel in data.panels)
    for one, panel in zip(axes, data.panels, strict=True):
        pages = np.where(np.eye(len(panel.pages), dtype=bool), np.nan, panel.pages)
        image = one.imshow(pages, cmap=marks.amounts(), vmin=0, vmax=max(most, 1e-9), origin="lower")
        frame.title(one, panel.title, letters=_TITLE_LETTERS // columns)
        frame.whole_numbers(one.xaxis, 6)
        frame.whole_numbers(one.yaxis, 6)
        one.set_xlabel("core")
        one.set_ylabel("core")
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.7, aspect=40, pad=0.02)
    seeds = max(panel.n for panel in data.panels)
    bar.set_label(f"pages held in common, {'one seed' if seeds == 1 else f'mean of {seeds} seeds'}")
    return figure


CORE_AFFINITY_FIGURE = recipe("translation", core_affinity_data, draw_core_affinity)
