"""How much is got from the drivers, and how much of it is used, after every request? (spec 5, H5.3, H5.8)"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.row import run_id
from workbench.experiments.run_set import RunSet
from workbench.figures.one_run import common_seed
from workbench.figures.panels import drawn_panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.metrics.pool import reserved
from workbench.records.pool import FREE_OF_REFUSED, NEVER_ASKED, RELEASED, PoolRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACES = 600
"""Requests that are looked at."""
MIB = 1 << 20


class Reserved(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    request: np.ndarray
    """int64[places], the requests after which memory is looked at."""
    mib: np.ndarray
    """float64[places]."""


class ReservedOverRequests(NamedTuple):
    """What is drawn."""

    seed: int
    titles: tuple[str, ...]
    """One a panel."""
    lines: tuple[Reserved, ...]
    """What is asked for is the first line of a panel, of style -1."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and request."""
        sizes = [len(line.request) for line in self.lines]
        return {
            "setting": np.repeat([self.titles[line.panel] for line in self.lines], sizes),
            "line": np.repeat([line.name for line in self.lines], sizes),
            "seed": np.full(sum(sizes), self.seed),
            "request": np.concatenate([line.request for line in self.lines]),
            "mib": np.concatenate([line.mib for line in self.lines]),
        }


def reserved_over_requests_data(runs: RunSet, seed: int | None = None) -> ReservedOverRequests:
    """Compute the bytes got from all drivers after every request of one run of every point, and those that are asked
    for.

    Parameters
    ----------
    seed : int, optional
        Which run; the first seed that every point finished if None.

    Raises
    ------
    InputError
        No seed was finished by all points, or there are more panels or lines than can be drawn.
    """
    panels = drawn_panels(runs, FIGURE.name)
    chosen = common_seed(runs, seed, FIGURE.name)
    lines = []
    for place, panel in enumerate(panels):
        rows = [(line, runs.record(run_id(line.point.id, chosen))) for line in panel.lines]
        lines.append(Reserved(place, "asked for", -1, *_asked(rows[0][1])))
        lines += [Reserved(place, line.name, line.style, *_reserved(record)) for line, record in rows]
    return ReservedOverRequests(chosen, tuple(panel.title for panel in panels), tuple(lines))


def _asked(record: PoolRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return what applications would have if nothing was ever refused: it is the same under every policy."""
    given_back = np.isin(record.outcome, (RELEASED, FREE_OF_REFUSED, NEVER_ASKED)) & (record.allocation >= 0)
    size = record.asked[np.maximum(record.allocation, 0)]
    return looked_at(np.where(record.action == 0, size, -size * given_back).cumsum())


def _reserved(record: PoolRecord) -> tuple[np.ndarray, np.ndarray]:
    return looked_at(np.sum([reserved(record, card) for card in range(len(record.cards))], axis=0))


def looked_at(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most `PLACES` requests, evenly apart, and the MiB after each."""
    rows = np.unique(np.linspace(0, max(len(size) - 1, 0), PLACES).round().astype(np.int64))
    return rows, size[rows] / MIB


@on_paper
def draw(data: ReservedOverRequests) -> Figure:
    """Draw steps; what is asked for as a grey area below them."""
    from workbench.figures import frame, ink, marks
    from workbench.figures.means import Means

    figure, axes = ink.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.25)
    for line in data.lines:
        one = axes[line.panel]
        if line.style < 0:
            one.fill_between(line.request, line.mib, step="post", color="#D0D0D0", linewidth=0, label=line.name)
            continue
        unknown = np.full(len(line.mib), np.nan)
        marks.step_line(one, line.request, Means(line.mib, unknown, unknown), line.style, line.name)
    for one, title in zip(axes, data.titles, strict=True):
        frame.title(one, title)
        one.set_ylim(bottom=0)
        one.set_xlim(left=0)
    frame.name_sides(axes, "request", "memory (MiB)", f"seed {data.seed}")
    frame.legend(figure, axes)
    return figure


FIGURE = Recipe(
    "reserved_over_requests",
    "pool",
    "Memory got from the drivers after every request of one run, by policy, above what is asked for.",
    reserved_over_requests_data,
    draw,
)
