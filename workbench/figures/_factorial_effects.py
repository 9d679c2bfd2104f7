"""The effects of a full 2^k design with their intervals, alone and in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.results import Results
from workbench.explain.factorial import Effect, factorial
from workbench.figures.estimates import chosen_measure
from workbench.figures.figure_files import Column
from workbench.figures.labels import measure_words
from workbench.figures.panels import check_room
from workbench.figures.registry import ANY, on_paper, recipe
from workbench.number_text import FIGURE, to_decimals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PALEST_GAIN = 2.0
"""Percent: the largest gain that is painted full; below, small ones that are all chance would look like something."""


class FactorialEffects(NamedTuple):
    """What each of several choices gains, and what two of them gain beyond the sum: a full 2^k design."""

    measure: str
    """In words."""
    factors: tuple[str, ...]
    settings: tuple[str, ...]
    effects: tuple[Effect, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row an effect."""
        return {
            "setting": [one.setting for one in self.effects],
            "factor": [one.factors[0] for one in self.effects],
            "with": [one.factors[1] if len(one.factors) > 1 else "" for one in self.effects],
            "gain_percent": [one.gain.mean for one in self.effects],
            "low": [one.gain.low for one in self.effects],
            "high": [one.gain.high for one in self.effects],
            "p_alone": [one.verdict.of.p_alone for one in self.effects],
            "p_size": [one.verdict.p_size for one in self.effects],
            "p_direction": [one.verdict.p_direction for one in self.effects],
            "verdict": [one.verdict.word for one in self.effects],
            "seeds": [one.n for one in self.effects],
            "seeds_infinite": [one.infinite for one in self.effects],
            "seeds_missing": [one.missing for one in self.effects],
        }


def factorial_effects_data(runs: Results, measure: str | None = None) -> FactorialEffects:
    """Compute main effects and interactions of pairs in every setting (`studies.factorial`).

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep names if None.

    Raises
    ------
    InputError
        The sweep is no full design of two factors or more, or has more settings than a page holds.
    """
    declared = chosen_measure(runs, measure, runs.plan.sweep.measures[0])
    result = factorial(runs, declared)
    check_room(len(result.settings), 1, "factorial_effects")
    return FactorialEffects(measure_words(declared), result.factors, result.settings, result.effects)


@on_paper
def draw_factorial_effects(data: FactorialEffects) -> Figure:
    """Draw a triangle a setting: effects on its diagonal, interactions below; blue = gain, hatched orange = loss."""
    from workbench.figures import frame, plot_style

    count = len(data.factors)
    figure, axes = plot_style.stacked(len(data.settings), 0.4 + 0.27 * count)
    sizes = [abs(one.gain.mean) for one in data.effects]
    most = max(_PALEST_GAIN, max((size for size in sizes if np.isfinite(size)), default=0.0))
    for one, setting in zip(axes, data.settings, strict=True):
        frame.title(one, setting)
        _triangle(one, data, setting, most)
    seeds = sorted({one.n for one in data.effects})
    note = f"gain in {data.measure}, % of all first choices; on the diagonal by itself, below it of both beyond the sum"
    rests = f"{seeds[0]}{f' to {seeds[-1]}' if seeds[1:] else ''} seeds, half width of the 95 % interval"
    counts = {"without a run": max(one.missing for one in data.effects)}
    counts["with a refusal, the worst rank there is"] = max(one.infinite for one in data.effects)
    lacking = "".join(f", {count} {what}" for what, count in counts.items() if count)
    frame.name_foot(figure, f"{note}\n{rests}{lacking}; gray: no word among all effects (false discovery)")
    return figure


def _triangle(axes: Axes, data: FactorialEffects, setting: str, most: float) -> None:
    from workbench.figures import frame

    place = {name: k for k, name in enumerate(data.factors)}
    for one in (effect for effect in data.effects if effect.setting == setting):
        left, low = sorted(place[name] for name in (one.factors * 2)[:2])
        _cell(axes, left, low, one, most)
    count = len(data.factors)
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    frame.number_sides(axes, [name.replace("_", " ") for name in data.factors])


def _cell(axes: Axes, left: int, low: int, one: Effect, most: float) -> None:
    from matplotlib.patches import Rectangle

    from workbench.figures import plot_style

    gains = one.gain.mean > 0
    fill = plot_style.palette().better if gains else plot_style.palette().worse
    paint = min(abs(one.gain.mean) / most, 1.0) ** 0.5 if one.clear else 0.0
    hatch = "////" if one.clear and not gains else ""
    corner = left - 0.48, low - 0.46
    axes.add_patch(Rectangle(corner, 0.96, 0.92, facecolor=fill, alpha=0.65 * paint, linewidth=0))
    axes.add_patch(
        Rectangle(corner, 0.96, 0.92, fill=False, hatch=hatch, edgecolor=plot_style.palette().grid, linewidth=0.4)
    )
    half = (one.gain.high - one.gain.low) / 2
    width = f" ±{to_decimals(half, 1, FIGURE)}" if np.isfinite(half) else ""
    text = f"{to_decimals(one.gain.mean, 1, FIGURE, signed=True)}{width}"
    colour = plot_style.palette().ink if one.clear else plot_style.palette().quiet
    axes.text(left, low, text, ha="center", va="center", fontsize=plot_style.SMALL - 0.7, color=colour)


FACTORIAL_EFFECTS_FIGURE = recipe(ANY, factorial_effects_data, draw_factorial_effects)
