"""Sobol's indices of pairs of levers as a heat map, with those of single levers on its diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.explain.sensitivity.analysis import Analysis, Of
from workbench.explain.sensitivity.estimates import Indices
from workbench.figures._sensitivities import analysis_of, lever_names
from workbench.figures.figure_files import Column, below
from workbench.figures.registry import ANY, on_paper, recipe
from workbench.number_text import FIGURE, to_decimals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PALEST_SHARE = 0.2
"""The largest share that is painted full; below, small shares that are all chance would look like something."""


class Shares(NamedTuple):
    """One panel: a way to run."""

    way: str
    names: tuple[str, ...]
    """Of the levers, in words."""
    value: np.ndarray
    """float64[levers, levers], shares of the variance: alone on the diagonal, of pairs beyond both alone elsewhere."""
    low: np.ndarray
    high: np.ndarray
    rows: int
    seeds: int


class Interactions(NamedTuple):
    """Which share of a measure's variance is due to each lever and to each pair of levers (Sobol)."""

    label: str
    """What the shares are of."""
    panels: tuple[Shares, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a lever and a pair of levers."""
        below_diagonal = [np.tril_indices(len(panel.names)) for panel in self.panels]
        return below(
            {
                "way": panel.way,
                "lever": np.array(panel.names)[places[0]],
                "with": np.array(panel.names)[places[1]],
                "share_of_variance": panel.value[places],
                "low": panel.low[places],
                "high": panel.high[places],
            }
            for panel, places in zip(self.panels, below_diagonal, strict=True)
        )


def interactions_data(runs: Results, measure: str | None = None, of: Of = "mean") -> Interactions:
    """Compute Sobol's indices of first and second order, of a sweep whose ranges are drawn by `saltelli`.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep names if None.
    of : {"mean", "gain"}
        The measure itself, or its paired difference to the baseline.

    Raises
    ------
    InputError
        The sweep is no sensitivity study, or one without pairs; an output is not finite.
    """
    analysis, words = analysis_of(runs, measure, of, "interactions")
    return Interactions(f"share of the variance of {words}", tuple(_shares(runs, one) for one in analysis))


def _shares(runs: Results, one: Analysis) -> Shares:
    if not isinstance(one.estimates, Indices) or one.estimates.second is None:
        cure = "design: {saltelli: {base: 64, second_order: true}}"
        raise InputError(f"interactions needs interactions of pairs, which this sweep's design has not; say {cure}.")
    sides = []
    for alone, pairs in zip(one.estimates.first, one.estimates.second, strict=True):
        both = pairs.copy()
        np.fill_diagonal(both, alone)
        sides.append(both)
    value, low, high = sides
    return Shares(one.way, lever_names(runs, one), value, low, high, one.rows, one.seeds)


@on_paper
def draw_interactions(data: Interactions) -> Figure:
    """Draw the shares, fuller = larger; numbers in gray are not clear of zero."""
    from workbench.figures import frame, plot_style

    figure, axes = plot_style.stacked(len(data.panels), [0.45 + 0.24 * len(panel.names) for panel in data.panels])
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.way)
        _map(one, panel)
    panel = data.panels[0]
    note = f"{data.label}; on the diagonal alone, below it of pairs beyond both alone"
    seeds = f"{panel.rows} points, mean of {panel.seeds} seeds" if panel.seeds > 1 else f"{panel.rows} points, one seed"
    frame.name_foot(figure, f"{note}\n{seeds}; gray: 95 % interval holds zero")
    return figure


def _map(axes: Axes, panel: Shares) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    from workbench.figures import frame, plot_style

    count = len(panel.names)
    below = np.tril(np.ones((count, count), bool))
    paint = LinearSegmentedColormap.from_list("shares", [plot_style.palette().paper, plot_style.palette().better])
    masked = np.ma.masked_array(np.clip(panel.value, 0, None), ~below)
    axes.imshow(masked, cmap=paint, vmin=0, vmax=max(_PALEST_SHARE, float(masked.max())), aspect="auto", alpha=0.75)
    for i, j in np.argwhere(below).tolist():
        sure = panel.low[i, j] > 0
        text = to_decimals(panel.value[i, j], 2, FIGURE)
        axes.text(
            j,
            i,
            text,
            ha="center",
            va="center",
            fontsize=plot_style.SMALL,
            color=plot_style.palette().ink if sure else plot_style.palette().quiet,
        )
    frame.number_sides(axes, panel.names)


INTERACTIONS_FIGURE = recipe(ANY, interactions_data, draw_interactions)
