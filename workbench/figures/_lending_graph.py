"""Who lends how much memory to whom, over which links of the board (spec 5, R15)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.results import Results
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import heading, records, separate_lines
from workbench.figures.registry import on_paper, recipe
from workbench.number_text import FIGURE, number
from workbench.records.pool import PoolRecord, ever_away, remote, stays_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


GIB = 1 << 30
_LETTERS = 54
"""Of a title, over the width of a sheet."""
_WIDEST = 2.2
"""Points, of the arrow of most bytes."""


class Lending(NamedTuple):
    """One panel."""

    title: str
    n: int
    """Seeds that it is the mean of."""
    cards: tuple[str, ...]
    gbps: np.ndarray
    """float64[cards, cards], what direct links carry; 0 = no link."""
    lent_gib: np.ndarray
    """float64[cards, cards], memory of the row's card that applications of the column's card borrowed, in all; a region
    counts on each card to which it moves."""


class LendingGraph(NamedTuple):
    """Who lends how much to whom: the board's links and the memory borrowed over them, a panel a policy."""

    panels: tuple[Lending, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a pair of different cards."""
        pairs = [np.nonzero(~np.eye(len(panel.cards), dtype=bool)) for panel in self.panels]
        return below(
            {
                "line": panel.title,
                "runs": panel.n,
                "lender": np.array(panel.cards)[pair[0]],
                "borrower": np.array(panel.cards)[pair[1]],
                "link_gbps": panel.gbps[pair],
                "lent_gib": panel.lent_gib[pair],
            }
            for panel, pair in zip(self.panels, pairs, strict=True)
        )


def lending_graph_data(runs: Results) -> LendingGraph:
    """Compute the bytes that cards lent to each other, averaged over the seeds, with the links between them.

    Raises
    ------
    InputError
        There are more points than panels on a page, or a point has no finished run.
    """
    lines = separate_lines(runs, "lending_graph")
    graphs = []
    for setting, line in lines:
        kept = records(runs, line.point, "lending_graph")
        lent = np.mean([_lent(record) for record in kept], axis=0) / GIB
        links = line.point.setup.machine.direct_gbps()
        graphs.append(Lending(heading(setting, line.name), len(kept), kept[0].cards, links, lent))
    return LendingGraph(tuple(graphs))


def _lent(record: PoolRecord) -> np.ndarray:
    lent, stays = np.zeros((len(record.cards), len(record.cards))), stays_of(record, ever_away(record))
    away = remote(record, stays)
    np.add.at(lent, (stays.card[away], record.borrower[stays.region[away]]), stays.taken[away])
    return lent


@on_paper
def draw_lending_graph(data: LendingGraph) -> Figure:
    """Draw cards on a circle, pale lines are links, arrows go from lender to borrower, wider the more is lent."""
    from workbench.figures import frame, plot_style

    columns = min(len(data.panels), 2)
    figure, axes = plot_style.grid(len(data.panels), columns, 2.9 if columns == 1 else 1.8)
    most = max(float(panel.lent_gib.max()) for panel in data.panels)
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.title, letters=_LETTERS // columns)
        _board(one, panel, most)
    seeds = max(panel.n for panel in data.panels)
    lent = "numbers: GiB that a card lends in all" if most else "nothing is lent"
    frame.name_foot(figure, f"{lent}; {'one seed' if seeds == 1 else f'mean of {seeds} seeds'}")
    return figure


def _board(axes: Axes, panel: Lending, most: float) -> None:
    from workbench.figures import plot_style

    angle = np.pi / 2 - 2 * np.pi * np.arange(len(panel.cards)) / len(panel.cards)
    x, y = np.cos(angle), np.sin(angle)
    fastest = max(float(panel.gbps.max()), 1e-9)
    for i, j in zip(*np.nonzero(np.triu(panel.gbps)), strict=True):
        axes.plot(
            x[[i, j]],
            y[[i, j]],
            color=plot_style.palette().quiet,
            linewidth=0.3 + 1.5 * panel.gbps[i, j] / fastest,
            zorder=1,
        )
    for i, j in zip(*np.nonzero(panel.lent_gib), strict=True):
        _arrow(axes, (x[i], y[i]), (x[j], y[j]), panel.lent_gib[i, j] / most)
    for name, at, up, gib in zip(panel.cards, x, y, panel.lent_gib.sum(axis=1), strict=True):
        text, edge = (
            (f"{name}\n{number(gib, 3, FIGURE)}", plot_style.palette().series[1])
            if gib
            else (name, plot_style.palette().ink)
        )
        box = {
            "boxstyle": "round,pad=0.2",
            "facecolor": plot_style.palette().paper,
            "edgecolor": edge,
            "linewidth": 0.6,
        }
        axes.text(
            at, up, text, ha="center", va="center", fontsize=plot_style.SMALL - 1, bbox=box, zorder=3, linespacing=1.1
        )
    axes.set_xlim(-1.35, 1.35)
    axes.set_ylim(-1.25, 1.25)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _arrow(axes: Axes, lender: tuple[float, float], borrower: tuple[float, float], share: float) -> None:
    """Draw an arrow bent outwards, so that it does not lie on the link; shares of the widest."""
    from workbench.figures import plot_style

    wide = max(_WIDEST * share, 0.5)
    look = {"arrowstyle": "-|>", "color": plot_style.palette().series[1], "linewidth": wide, "mutation_scale": 5 + wide}
    ends = {"shrinkA": 9, "shrinkB": 9, "connectionstyle": "arc3,rad=0.3"}
    axes.annotate("", borrower, lender, arrowprops={**look, **ends}, zorder=2)


LENDING_GRAPH_FIGURE = recipe("pool", lending_graph_data, draw_lending_graph)
