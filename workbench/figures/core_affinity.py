"""Which cores hold the same pages? How many pages two private TLBs hold in common, on average (spec 4, section 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.panels import check_room, panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.records.translation import affinity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LETTERS = 54
"""Of a title, over the width of a sheet."""


class Affinity(NamedTuple):
    """One panel."""

    title: str
    n: int
    """Seeds that it is the mean of."""
    pages: np.ndarray
    """float64[cores, cores], pages that two cores hold at the same time; 0 on the diagonal."""


class CoreAffinity(NamedTuple):
    """What is drawn."""

    panels: tuple[Affinity, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a pair of cores."""
        sizes = [panel.pages.size for panel in self.panels]
        return {
            "line": np.repeat([panel.title for panel in self.panels], sizes),
            "runs": np.repeat([panel.n for panel in self.panels], sizes),
            "core": np.concatenate([np.repeat(np.arange(len(p.pages)), len(p.pages)) for p in self.panels]),
            "other_core": np.concatenate([np.tile(np.arange(len(p.pages)), len(p.pages)) for p in self.panels]),
            "mean_pages": np.concatenate([panel.pages.ravel() for panel in self.panels]),
        }


def core_affinity_data(runs: RunSet) -> CoreAffinity:
    """Compute the mean number of pages that two cores hold at the same time, over the samples of a run and the seeds.

    Raises
    ------
    InputError
        There are more points than panels on a page, or a point has no finished run.
    """
    displayed = panels(runs)
    check_room(sum(len(panel.lines) for panel in displayed), 1, FIGURE.name)
    all_panels = []
    for panel in displayed:
        for line in panel.lines:
            pages = np.stack([affinity(record) for record in records(runs, line.point, FIGURE.name)])
            apart = len(panel.lines) > 1 or not panel.title
            title = ": ".join(part for part in (panel.title, line.name if apart else "") if part)
            all_panels.append(Affinity(title, len(pages), pages.mean(axis=0)))
    return CoreAffinity(tuple(all_panels))


@on_paper
def draw(data: CoreAffinity) -> Figure:
    """Draw a square of squares a point, dark where two cores share much; one scale for all."""
    from workbench.figures import frame, ink

    columns = min(len(data.panels), 2)
    figure, axes = ink.grid(len(data.panels), columns, 2.6 if columns == 1 else 1.75)
    most = max(float(panel.pages.max()) for panel in data.panels)
    for one, panel in zip(axes, data.panels, strict=True):
        pages = np.where(np.eye(len(panel.pages), dtype=bool), np.nan, panel.pages)
        image = one.imshow(pages, cmap="Greys", vmin=0, vmax=max(most, 1e-9), origin="lower")
        frame.title(one, panel.title, letters=_LETTERS // columns)
        frame.whole_numbers(one.xaxis, 6)
        frame.whole_numbers(one.yaxis, 6)
        one.set_xlabel("core")
        one.set_ylabel("core")
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.7, aspect=40, pad=0.02)
    seeds = max(panel.n for panel in data.panels)
    bar.set_label(f"pages held in common, {'one seed' if seeds == 1 else f'mean of {seeds} seeds'}")
    return figure


FIGURE = Recipe(
    "core_affinity",
    "translation",
    "How many pages every two cores hold in common, a panel a policy.",
    core_affinity_data,
    draw,
)
