"""How much does a measure depend on each lever? Sobol's indices, or Morris's elementary effects, largest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.figures.axis_words import measure_words
from workbench.figures.lever_names import lever_names
from workbench.figures.means import Means
from workbench.figures.panels import check_room
from workbench.figures.recipe import ANY, Column, Recipe, on_paper
from workbench.studies.sensitivity.analyse import Analysis, analyse
from workbench.studies.sensitivity.effects import Effects
from workbench.studies.sensitivity.outputs import Of

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
    """What is drawn."""

    label: str
    """Of the horizontal axis."""
    whole: str
    """What is drawn full, and what hollow."""
    part: str
    panels: tuple[Ranked, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a lever."""
        sides = {"": "mean", "_low": "low", "_high": "high"}

        def side(kind: str, part: str) -> np.ndarray:
            return np.concatenate([getattr(getattr(panel, kind), part) for panel in self.panels])

        return {
            "way": np.repeat([panel.way for panel in self.panels], [len(panel.names) for panel in self.panels]),
            "lever": [name for panel in self.panels for name in panel.names],
            **{f"{self.whole}{end}".replace(" ", "_"): side("whole", part) for end, part in sides.items()},
            **{f"{self.part}{end}".replace(" ", "_"): side("part", part) for end, part in sides.items()},
        }


def sensitivities_data(runs: RunSet, measure: str | None = None, of: Of = "mean") -> Sensitivities:
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
    analysis = analyse(runs, measure or runs.plan.sweep.measures[0], of)
    check_room(len(analysis), 1, FIGURE.name)
    words = f"{'the gain in ' if of == 'gain' else ''}{measure_words(analysis[0].measure)}"
    panels = tuple(_ranked(runs, one) for one in analysis)
    if isinstance(analysis[0].found, Effects):
        unit = analysis[0].measure.unit
        return Sensitivities(f"effect on {words}" + (f" ({unit})" if unit else ""), "mean size", "spread", panels)
    return Sensitivities(f"share of the variance of {words}", "total", "first order", panels)


def _ranked(runs: RunSet, one: Analysis) -> Ranked:
    if isinstance(one.found, Effects):
        unknown = np.full(len(one.paths), np.nan)
        whole, part = Means(*one.found.mean_size), Means(one.found.spread, unknown, unknown)
    else:
        whole, part = Means(*one.found.total), Means(*one.found.first)
    order = np.argsort(-whole.mean, kind="stable")
    names = lever_names(runs, one)
    whole, part = (Means(*(side[order] for side in means)) for means in (whole, part))
    return Ranked(one.way, tuple(names[k] for k in order), whole, part, one.rows, one.seeds)


@on_paper
def draw(data: Sensitivities) -> Figure:
    """Draw two dots with intervals a lever."""
    from workbench.figures import frame, ink

    heights = [0.35 + 0.2 * len(panel.names) for panel in data.panels]
    figure, axes = ink.stacked(len(data.panels), heights, share_x=True)
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.way)
        _rows(one, panel, data)
    panel = data.panels[0]
    rests = f"{panel.rows} points, {'one seed' if panel.seeds == 1 else f'mean of {panel.seeds} seeds'}; 95 % intervals"
    frame.name_sides(axes, data.label, note=rests)
    frame.legend(figure, axes)
    return figure


def _rows(axes: Axes, panel: Ranked, data: Sensitivities) -> None:
    from workbench.figures import marks

    rows = np.arange(len(panel.names))[::-1]
    looks = ((panel.whole, 0.13, marks.GOOD, "o", data.whole), (panel.part, -0.13, "white", "s", data.part))
    axes.axvline(0, color=marks.INK, linewidth=0.8)
    for means, shift, fill, shape, label in looks:
        axes.hlines(rows + shift, means.low, means.high, color=marks.INK, linewidth=1.0)
        axes.scatter(
            means.mean,
            rows + shift,
            s=15,
            marker=shape,
            c=fill,
            edgecolors=marks.INK,
            linewidths=0.7,
            zorder=3,
            label=label,
        )
    axes.set_yticks(rows, panel.names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(panel.names) - 0.4)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)


FIGURE = Recipe(
    "sensitivities",
    ANY,
    "How much a measure depends on each lever: Sobol's indices or Morris's effects, with intervals.",
    sensitivities_data,
    draw,
)
