"""How full each card is over the requests of a run, a panel a policy (spec 5, H5.1, H5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.experiments.results import Results
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import heading, one_run_each
from workbench.figures.registry import on_paper, recipe
from workbench.metrics.pool import cached, in_use
from workbench.records.pool import PoolRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CARD_PLACES = 400
"""Requests that are looked at."""
_LOOK: dict[str, Any] = {"vmin": 0, "vmax": 100, "aspect": "auto", "interpolation": "nearest"}


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


def memory_by_card_data(runs: Results, seed: int | None = None) -> MemoryByCard:
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
    used, idle = (one(record)[np.ix_(cards, rows)].T / record.capacity[cards] for one in (in_use, cached))
    return CardMemory(title, tuple(record.cards[card] for card in cards), rows, 100 * used, 100 * idle)


@on_paper
def draw_memory_by_card(data: MemoryByCard) -> Figure:
    """Draw a row a card, darker the more of it is in use; cached memory counts as free."""
    from workbench.figures import frame, marks, plot_style

    most = max(len(panel.cards) for panel in data.panels)
    figure, axes = plot_style.stacked(len(data.panels), 0.35 + 0.12 * most)
    for one, panel in zip(axes, data.panels, strict=True):
        last = int(panel.request[-1]) if len(panel.request) else 1
        place = (0, max(last, 1), len(panel.cards) - 0.5, -0.5)
        image = one.imshow(panel.used_percent.T, extent=place, cmap=marks.amounts(), **_LOOK)
        frame.title(one, panel.title)
        one.set_yticks(range(len(panel.cards)), panel.cards)
        one.tick_params(axis="y", length=0)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.02)
    bar.set_label("memory in use (%)")
    frame.name_sides(axes, "request", note=f"seed {data.seed}")
    return figure


MEMORY_BY_CARD_FIGURE = recipe("pool", memory_by_card_data, draw_memory_by_card)
