"""How many pages every two cores hold in common, on average (spec 4, section 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import heading, records, separate_lines
from workbench.figures.registry import on_paper, recipe
from workbench.records.translation import affinity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_TITLE_LETTERS = 54
"""Of a title, over the width of a sheet."""


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


def core_affinity_data(runs: RunSet) -> CoreAffinity:
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
    from workbench.figures import frame, plot_style

    columns = min(len(data.panels), 2)
    figure, axes = plot_style.grid(len(data.panels), columns, 2.6 if columns == 1 else 1.75)
    most = max(float(panel.pages.max()) for panel in data.panels)
    for one, panel in zip(axes, data.panels, strict=True):
        pages = np.where(np.eye(len(panel.pages), dtype=bool), np.nan, panel.pages)
        image = one.imshow(pages, cmap="Greys", vmin=0, vmax=max(most, 1e-9), origin="lower")
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
