"""Which addresses of a card regions take over the requests of a run (spec 5, R11-R14, E4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.results import Results
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import chosen_span, heading, one_run_each
from workbench.figures.registry import on_paper, recipe
from workbench.figures.size_steps import size_steps
from workbench.metrics.pool import Regions, regions_of
from workbench.records.pool import PoolRecord, granted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


REQUESTS = 400
"""How many requests the picture shows unless it is told otherwise."""
MOST_REGIONS = 5_000
MIB = 1 << 20


class CardLayout(NamedTuple):
    """One panel."""

    title: str
    regions: Regions
    """Those that lie at least partly in the span of the picture."""


class RegionLayout(NamedTuple):
    """Which addresses of a card regions take over the requests of one run, a panel a policy."""

    seed: int
    card: str
    first: int
    """The request with which the picture begins."""
    last: int
    """The one before which it ends."""
    panels: tuple[CardLayout, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a region."""
        return below(
            {
                "line": panel.title,
                "seed": self.seed,
                "card": self.card,
                "from_request": panel.regions.begin,
                "to_request": panel.regions.end,
                "address_bytes": panel.regions.address,
                "length_bytes": panel.regions.length,
                "borrowed": panel.regions.borrowed,
            }
            for panel in self.panels
        )


def region_layout_data(
    runs: Results, seed: int | None = None, card: str | None = None, requests: tuple[int, int] | None = None
) -> RegionLayout:
    """Compute the rectangles of addresses and requests that regions of a card take, in one run of every point.

    Parameters
    ----------
    seed : int, optional
        Which run; the first seed that every point finished if None.
    card : str, optional
        Which card; the one with most grants in the first point's run if None.
    requests : (int, int), optional
        From which to which request; the last 400 if None, when the pool has seen use.

    Raises
    ------
    InputError
        No seed was finished by all points, there is no such card, the requests are no span, or too much lies in them.
    """
    chosen, kept = one_run_each(runs, seed, "region_layout")
    name = _busiest(kept[0][-1]) if card is None else card
    first, last = _span_of_requests(kept[0][-1], requests)
    return RegionLayout(chosen, name, first, last, tuple(_region_layout(*one, name, first, last) for one in kept))


def _busiest(record: PoolRecord) -> str:
    grants = np.bincount(record.card[granted(record)], minlength=len(record.cards))
    return record.cards[int(np.argmax(grants))]


def _span_of_requests(record: PoolRecord, requests: tuple[int, int] | None) -> tuple[int, int]:
    if requests is not None:
        return chosen_span(requests, "region_layout", "requests")
    count = max(record.time.size, 1)
    return max(count - REQUESTS, 0), count


def _region_layout(setting: str, name: str, record: PoolRecord, card: str, first: int, last: int) -> CardLayout:
    if card not in record.cards:
        raise unknown_name("", "card", card, record.cards)
    regions = regions_of(record, record.cards.index(card))
    visible = (regions.end > first) & (regions.begin < last)
    kept = Regions(*(column[visible] for column in regions))
    if len(kept.begin) > MOST_REGIONS:
        raise InputError(
            f"region_layout draws {MOST_REGIONS} regions a panel; {name} has {len(kept.begin)} from request {first} to "
            f"{last}. Choose fewer, such as requests=({first}, {first + (last - first) // 10})."
        )
    return CardLayout(heading(setting, name), kept)


@on_paper
def draw_region_layout(data: RegionLayout) -> Figure:
    """Draw rectangles by size on the color of free memory; borrowed regions have a color of their own."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.panels), 1.25)
    tones = plot_style.palette()
    steps = size_steps(panel.regions.length[~panel.regions.borrowed] for panel in data.panels)
    for one, panel in zip(axes, data.panels, strict=True):
        at = panel.regions
        low, own = at.address / MIB, ~at.borrowed
        fill = np.full(len(low), len(tones.sizes))
        fill[own] = steps.of(at.length[own])
        ends = (at.begin, at.end), (low, low + at.length / MIB)
        marks.rectangles(one, *ends, fill, (*tones.sizes, tones.kinds[0]), tones.free)
        one.set_facecolor(tones.free)
        frame.title(one, panel.title)
        one.set_xlim(data.first, data.last)
        one.set_ylim(*_moving(at, data))
    marks.swatches(axes[0], steps.byte_names(), [tones.sizes[k] for k in steps.colors()])
    marks.swatches(axes[0], ("lent to another card", "free or cached"), (tones.kinds[0], tones.free))
    frame.name_sides(axes, "request", "address (MiB)", f"{data.card}, seed {data.seed}")
    frame.legend(figure, axes)
    return figure


def _moving(at: Regions, data: RegionLayout) -> tuple[float, float]:
    """Return the addresses (MiB) between which regions come or go while one looks; those of all where none does."""
    moves = ((at.begin >= data.first) & (at.begin < data.last)) | (at.end < data.last)
    mask = moves if moves.any() else np.ones(len(moves), bool)
    low, high = at.address[mask] / MIB, (at.address + at.length)[mask] / MIB
    return float(low.min(initial=high.max(initial=0))), max(float(high.max(initial=0)), 1e-9)


REGION_LAYOUT_FIGURE = recipe("pool", region_layout_data, draw_region_layout)
