"""Memory of cards over the requests of a run: in use, cached, reserved, and lent between cards.

Bytes in use and cached of each card (spec 5, H5.1, H5.2); what is got from the drivers and how much of it is used
(H5.3, H5.8), likewise of PyTorch's allocator over a program; and who lends to whom, over which links (R15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.experiments.row import run_id
from workbench.experiments.run_set import RunSet
from workbench.figures.curves import Curve, Curves, Look, draw_curves
from workbench.figures.estimates import without_limits
from workbench.figures.panels import common_seed, drawn_panels, heading, lines_apart, one_run_each, records
from workbench.figures.registry import Column, Recipe, below, on_paper, recipe
from workbench.metrics.pool import cached, in_use, reserved
from workbench.records.pool import FREE_OF_REFUSED, NEVER_ASKED, RELEASED, PoolRecord, ever_away, remote, stays_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CARD_PLACES = 400
"""Requests that are looked at."""
_LOOK: dict[str, Any] = {"cmap": "Blues", "vmin": 0, "vmax": 100, "aspect": "auto", "interpolation": "nearest"}


class CardMemory(NamedTuple):
    """One panel."""

    title: str
    cards: tuple[str, ...]
    request: np.ndarray
    """int64[places], the requests after which memory is looked at."""
    used_percent: np.ndarray
    """float64[places, cards], of the card's memory in use."""
    cached_percent: np.ndarray
    """float64[places, cards], of the card's memory cached."""


class MemoryByCard(NamedTuple):
    """How full each card is after every request of one run, a panel a policy."""

    seed: int
    panels: tuple[CardMemory, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a panel, request and card."""
        return below(
            {
                "line": panel.title,
                "seed": self.seed,
                "request": np.repeat(panel.request, len(panel.cards)),
                "card": np.tile(panel.cards, len(panel.request)),
                "used_percent": panel.used_percent.ravel(),
                "cached_percent": panel.cached_percent.ravel(),
            }
            for panel in self.panels
        )


def memory_by_card_data(runs: RunSet, seed: int | None = None) -> MemoryByCard:
    """Compute how full each card with memory is after every request of one run of every point.

    Parameters
    ----------
    seed : int, optional
        Which run; the first seed that every point finished if None.

    Raises
    ------
    InputError
        No seed was finished by all points, or there are more points than panels on a page.
    """
    chosen, kept = one_run_each(runs, seed, "memory_by_card")
    return MemoryByCard(chosen, tuple(_memory(heading(setting, name), record) for setting, name, record in kept))


def _memory(title: str, record: PoolRecord) -> CardMemory:
    rows = np.unique(np.linspace(0, max(record.time.size - 1, 0), CARD_PLACES).round().astype(np.int64))
    cards = np.flatnonzero(record.capacity)
    used = np.stack([in_use(record, card)[rows] / record.capacity[card] for card in cards.tolist()], axis=1)
    idle = np.stack([cached(record, card)[rows] / record.capacity[card] for card in cards.tolist()], axis=1)
    return CardMemory(title, tuple(record.cards[card] for card in cards), rows, 100 * used, 100 * idle)


@on_paper
def draw_memory_by_card(data: MemoryByCard) -> Figure:
    """Draw a row a card, darker the more of it is in use; cached memory counts as free."""
    from workbench.figures import frame, plot_style

    most = max(len(panel.cards) for panel in data.panels)
    figure, axes = plot_style.stacked(len(data.panels), 0.35 + 0.12 * most)
    for one, panel in zip(axes, data.panels, strict=True):
        last = int(panel.request[-1]) if len(panel.request) else 1
        place = (0, max(last, 1), len(panel.cards) - 0.5, -0.5)
        image = one.imshow(panel.used_percent.T, extent=place, **_LOOK)
        frame.title(one, panel.title)
        one.set_yticks(range(len(panel.cards)), panel.cards)
        one.tick_params(axis="y", length=0)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.02)
    bar.set_label("memory in use (%)")
    frame.name_sides(axes, "request", note=f"seed {data.seed}")
    return figure


MEMORY_BY_CARD_FIGURE = recipe("pool", memory_by_card_data, draw_memory_by_card)

PLACES = 600
"""Requests that are looked at."""
MIB = 1 << 20
AREA = -1
"""The style of what is asked for, the first line of a panel."""


def _area_or_steps(axes: Axes, line: Curve, data: Curves) -> None:
    """Draw steps; what is asked for as a grey area below them."""
    from workbench.figures import marks

    if line.style == AREA:
        axes.fill_between(line.x, line.means.mean, step="post", color="#D0D0D0", linewidth=0, label=line.name)
    else:
        marks.step_line(axes, line.x, line.means, line.style, line.name)


def _from_nothing(axes: Axes, lines: list[Curve], data: Curves) -> None:
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)


_RESERVED = Look(mark=_area_or_steps, panel=_from_nothing)


def _recipe_of_reserved(
    name: str,
    engine: str,
    description: str,
    needed: tuple[str, Callable[[Any], np.ndarray]],
    got: Callable[[Any], np.ndarray],
) -> Recipe:
    """Return the figure of what is got from drivers after every request of one run of every point.

    `needed` is what is asked for, the same in all runs of a panel: its name, and its bytes by request.
    """

    def data(runs: RunSet, seed: int | None = None) -> Curves:
        panels = drawn_panels(runs, name)
        chosen = common_seed(runs, seed, name)
        lines = list[Curve]()
        for place, panel in enumerate(panels):
            rows = [(line, runs.record(run_id(line.point.id, chosen))) for line in panel.lines]
            lines.append(_memory_line(place, needed[0], AREA, needed[1](rows[0][1])))
            lines += [_memory_line(place, line.name, line.style, got(record)) for line, record in rows]
        titles, note = tuple(panel.title for panel in panels), f"seed {chosen}"
        return Curves(
            "request", "request", ("mib",), "memory (MiB)", titles, tuple(lines), _RESERVED, seed=chosen, note=note
        )

    return Recipe(name, engine, description, data, draw_curves)


def _memory_line(panel: int, name: str, style: int, size: np.ndarray) -> Curve:
    """Return the MiB after at most `PLACES` requests, evenly apart."""
    rows = np.unique(np.linspace(0, max(len(size) - 1, 0), PLACES).round().astype(np.int64))
    return Curve(panel, name, style, 1, rows, without_limits(size[rows] / MIB))


def _asked(record: PoolRecord) -> np.ndarray:
    """Return what applications would have if nothing was ever refused: it is the same under every policy."""
    given_back = np.isin(record.outcome, (RELEASED, FREE_OF_REFUSED, NEVER_ASKED)) & (record.allocation >= 0)
    size = record.asked[np.maximum(record.allocation, 0)]
    return np.where(record.action == 0, size, -size * given_back).cumsum()


def reserved_in_all(record: PoolRecord) -> np.ndarray:
    """Return what is got from all drivers, after each request: int64[requests], bytes."""
    return np.asarray(np.sum([reserved(record, card) for card in range(len(record.cards))], axis=0))


RESERVED_OVER_REQUESTS_FIGURE = _recipe_of_reserved(
    "reserved_over_requests",
    "pool",
    "Memory got from the drivers after every request of one run, by policy, above what is asked for.",
    ("asked for", _asked),
    reserved_in_all,
)
RESERVED_OVER_PROGRAM_FIGURE = _recipe_of_reserved(
    "reserved_over_program",
    "torch_allocator",
    "Memory got from the driver after every request of a program, by setting, above what is live.",
    ("live", lambda record: record.cards[0].live),
    lambda record: record.cards[0].reserved,
)

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


def lending_graph_data(runs: RunSet) -> LendingGraph:
    """Compute the bytes that cards lent to each other, averaged over the seeds, with the links between them.

    Raises
    ------
    InputError
        There are more points than panels on a page, or a point has no finished run.
    """
    lines = lines_apart(runs, "lending_graph")
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
    from workbench.figures import frame, marks, plot_style

    angle = np.pi / 2 - 2 * np.pi * np.arange(len(panel.cards)) / len(panel.cards)
    x, y = np.cos(angle), np.sin(angle)
    fastest = max(float(panel.gbps.max()), 1e-9)
    for i, j in zip(*np.nonzero(np.triu(panel.gbps)), strict=True):
        axes.plot(x[[i, j]], y[[i, j]], color="#D0D0D0", linewidth=0.3 + 1.5 * panel.gbps[i, j] / fastest, zorder=1)
    for i, j in zip(*np.nonzero(panel.lent_gib), strict=True):
        _arrow(axes, (x[i], y[i]), (x[j], y[j]), panel.lent_gib[i, j] / most)
    for name, at, up, gib in zip(panel.cards, x, y, panel.lent_gib.sum(axis=1), strict=True):
        says, edge = (f"{name}\n{frame.number(gib, 3)}", marks.COLOURS[1]) if gib else (name, marks.INK)
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": edge, "linewidth": 0.6}
        axes.text(
            at, up, says, ha="center", va="center", fontsize=plot_style.SMALL - 1, bbox=box, zorder=3, linespacing=1.1
        )
    axes.set_xlim(-1.35, 1.35)
    axes.set_ylim(-1.25, 1.25)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _arrow(axes: Axes, lender: tuple[float, float], borrower: tuple[float, float], share: float) -> None:
    """Draw an arrow bent outwards, so that it does not lie on the link; shares of the widest."""
    from workbench.figures import marks

    wide = max(_WIDEST * share, 0.5)
    look = {"arrowstyle": "-|>", "color": marks.COLOURS[1], "linewidth": wide, "mutation_scale": 5 + wide}
    ends = {"shrinkA": 9, "shrinkB": 9, "connectionstyle": "arc3,rad=0.3"}
    axes.annotate("", borrower, lender, arrowprops={**look, **ends}, zorder=2)


LENDING_GRAPH_FIGURE = recipe("pool", lending_graph_data, draw_lending_graph)
