"""How much a measure depends on each lever: Sobol's indices or Morris's elementary effects, largest first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.experiments.results import Results
from workbench.explain.sensitivity.analysis import Analysis, Of, analyse
from workbench.explain.sensitivity.estimates import Effects
from workbench.figures.estimates import Means, without_limits
from workbench.figures.figure_files import Column, below
from workbench.figures.labels import levers_on, measure_words
from workbench.figures.panels import check_room
from workbench.figures.registry import ANY, on_paper, recipe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Ranked(NamedTuple):
    """One panel: a way to run; levers in falling order of what is drawn full."""

    way: str
    names: tuple[str, ...]
    whole: Means
    """Total index, or mean size of the effect."""
    part: Means
    """First index, or spread of the effect, which has no interval (NaN)."""
    rows: int
    seeds: int


class Sensitivities(NamedTuple):
    """How much a measure depends on each lever: Sobol's indices or Morris's effects, with intervals."""

    label: str
    """Of the horizontal axis."""
    whole: str
    """What is drawn full, and what hollow."""
    part: str
    panels: tuple[Ranked, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a lever."""
        whole, part = (
            [f"{kind}{end}".replace(" ", "_") for end in ("", "_low", "_high")] for kind in (self.whole, self.part)
        )
        return below(
            {"way": one.way, "lever": one.names, **one.whole.columns(*whole), **one.part.columns(*part)}
            for one in self.panels
        )


def sensitivities_data(runs: Results, measure: str | None = None, of: Of = "mean") -> Sensitivities:
    """Compute what a measure depends on, of a sweep whose ranges are drawn by `saltelli` or `morris`.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep names if None.
    of : {"mean", "gain"}
        The measure itself, or its paired difference to the baseline.

    Raises
    ------
    InputError
        The sweep is no sensitivity study, or an output is not finite.
    """
    analysis, words = analysis_of(runs, measure, of, "sensitivities")
    panels = tuple(_ranked(runs, one) for one in analysis)
    if isinstance(analysis[0].estimates, Effects):
        unit = analysis[0].measure.unit
        return Sensitivities(f"effect on {words}" + (f" ({unit})" if unit else ""), "mean size", "spread", panels)
    return Sensitivities(f"share of the variance of {words}", "total", "first order", panels)


def analysis_of(runs: Results, measure: str | None, of: Of, figure: str) -> tuple[list[Analysis], str]:
    """Return the analysis of every way to run, and in words what is analyzed."""
    analysis = analyse(runs, measure or runs.plan.sweep.measures[0], of)
    check_room(len(analysis), 1, figure)
    return analysis, f"{'the gain in ' if of == 'gain' else ''}{measure_words(analysis[0].measure)}"


def _ranked(runs: Results, one: Analysis) -> Ranked:
    if isinstance(one.estimates, Effects):
        whole, part = Means(*one.estimates.mean_size), without_limits(one.estimates.spread)
    else:
        whole, part = Means(*one.estimates.total), Means(*one.estimates.first)
    order = np.argsort(-whole.mean, kind="stable")
    names = lever_names(runs, one)
    whole, part = (Means(*(side[order] for side in means)) for means in (whole, part))
    return Ranked(one.way, tuple(names[k] for k in order), whole, part, one.rows, one.seeds)


@on_paper
def draw_sensitivities(data: Sensitivities) -> Figure:
    """Draw two dots with intervals a lever."""
    from workbench.figures import frame, plot_style

    heights = [0.35 + 0.2 * len(panel.names) for panel in data.panels]
    figure, axes = plot_style.stacked(len(data.panels), heights, share_x=True)
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.way)
        _rows(one, panel, data)
    panel = data.panels[0]
    rests = f"{panel.rows} points, {'one seed' if panel.seeds == 1 else f'mean of {panel.seeds} seeds'}; 95 % intervals"
    frame.name_sides(axes, data.label, note=rests)
    frame.legend(figure, axes)
    return figure


def _rows(axes: Axes, panel: Ranked, data: Sensitivities) -> None:
    from workbench.figures import plot_style

    rows = np.arange(len(panel.names))[::-1]
    looks = (
        (panel.whole, 0.13, plot_style.palette().better, "o", data.whole),
        (panel.part, -0.13, plot_style.palette().paper, "s", data.part),
    )
    axes.axvline(0, color=plot_style.palette().ink, linewidth=0.8)
    for means, shift, fill, shape, label in looks:
        axes.hlines(rows + shift, means.low, means.high, color=plot_style.palette().ink, linewidth=1.0)
        edge: dict[str, Any] = {"edgecolors": plot_style.palette().ink, "linewidths": 0.7, "zorder": 3}
        axes.scatter(means.mean, rows + shift, s=15, marker=shape, c=fill, label=label, **edge)
    axes.set_yticks(rows, panel.names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(panel.names) - 0.4)
    axes.grid(axis="x", color=plot_style.palette().grid, linewidth=0.5)


def lever_names(runs: Results, one: Analysis) -> tuple[str, ...]:
    """Return the levers' names in the words of their declarations; by their paths where two would be called the
    same."""
    setup = next(point.setup for point in runs.points if point.id == one.point)
    words = [", ".join(lever.name.replace("_", " ") for lever in levers_on(path, setup)) for path in one.paths]
    times = Counter(words)
    return tuple(word if word and times[word] == 1 else path for word, path in zip(words, one.paths, strict=True))


SENSITIVITIES_FIGURE = recipe(ANY, sensitivities_data, draw_sensitivities)
