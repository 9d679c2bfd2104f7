"""How much measures depend on levers and choices, alone and together.

Sobol's indices or Morris's elementary effects, largest first; Sobol's indices of pairs as a heat map, with those of
single levers on its diagonal; the effects of a full 2^k design with their intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.estimates import Means, chosen_measure, without_limits
from workbench.figures.panels import check_room, levers_on, measure_words
from workbench.figures.registry import ANY, Column, below, on_paper, recipe
from workbench.studies.factorial import Effect, factorial
from workbench.studies.sensitivity.analysis import Analysis, Of, analyse
from workbench.studies.sensitivity.estimates import Effects, Indices

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
    analysis, words = _analysis(runs, measure, of, "sensitivities")
    panels = tuple(_ranked(runs, one) for one in analysis)
    if isinstance(analysis[0].found, Effects):
        unit = analysis[0].measure.unit
        return Sensitivities(f"effect on {words}" + (f" ({unit})" if unit else ""), "mean size", "spread", panels)
    return Sensitivities(f"share of the variance of {words}", "total", "first order", panels)


def _analysis(runs: RunSet, measure: str | None, of: Of, figure: str) -> tuple[list[Analysis], str]:
    """Return the analysis of every way to run, and in words what is analysed."""
    analysis = analyse(runs, measure or runs.plan.sweep.measures[0], of)
    check_room(len(analysis), 1, figure)
    return analysis, f"{'the gain in ' if of == 'gain' else ''}{measure_words(analysis[0].measure)}"


def _ranked(runs: RunSet, one: Analysis) -> Ranked:
    if isinstance(one.found, Effects):
        whole, part = Means(*one.found.mean_size), without_limits(one.found.spread)
    else:
        whole, part = Means(*one.found.total), Means(*one.found.first)
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
    from workbench.figures import marks

    rows = np.arange(len(panel.names))[::-1]
    looks = ((panel.whole, 0.13, marks.GOOD, "o", data.whole), (panel.part, -0.13, "white", "s", data.part))
    axes.axvline(0, color=marks.INK, linewidth=0.8)
    for means, shift, fill, shape, label in looks:
        axes.hlines(rows + shift, means.low, means.high, color=marks.INK, linewidth=1.0)
        edge: dict[str, Any] = {"edgecolors": marks.INK, "linewidths": 0.7, "zorder": 3}
        axes.scatter(means.mean, rows + shift, s=15, marker=shape, c=fill, label=label, **edge)
    axes.set_yticks(rows, panel.names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(panel.names) - 0.4)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)


def lever_names(runs: RunSet, one: Analysis) -> tuple[str, ...]:
    """Return the levers' names in the words of their declarations; by their paths where two would be called the
    same."""
    setup = next(point.setup for point in runs.points if point.id == one.point)
    words = [", ".join(lever.name.replace("_", " ") for lever in levers_on(path, setup)) for path in one.paths]
    times = Counter(words)
    return tuple(word if word and times[word] == 1 else path for word, path in zip(words, one.paths, strict=True))


SENSITIVITIES_FIGURE = recipe(ANY, sensitivities_data, draw_sensitivities)


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


def interactions_data(runs: RunSet, measure: str | None = None, of: Of = "mean") -> Interactions:
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
    analysis, words = _analysis(runs, measure, of, "interactions")
    return Interactions(f"share of the variance of {words}", tuple(_shares(runs, one) for one in analysis))


def _shares(runs: RunSet, one: Analysis) -> Shares:
    if not isinstance(one.found, Indices) or one.found.second is None:
        cure = "design: {saltelli: {base: 64, second_order: true}}"
        raise InputError(f"interactions needs interactions of pairs, which this sweep's design has not; say {cure}.")
    sides = []
    for alone, pairs in zip(one.found.first, one.found.second, strict=True):
        both = pairs.copy()
        np.fill_diagonal(both, alone)
        sides.append(both)
    value, low, high = sides
    return Shares(one.way, lever_names(runs, one), value, low, high, one.rows, one.seeds)


@on_paper
def draw_interactions(data: Interactions) -> Figure:
    """Draw the shares, fuller = larger; numbers in grey are not clear of zero."""
    from workbench.figures import frame, plot_style

    figure, axes = plot_style.stacked(len(data.panels), [0.45 + 0.24 * len(panel.names) for panel in data.panels])
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.way)
        _map(one, panel)
    panel = data.panels[0]
    note = f"{data.label}; on the diagonal alone, below it of pairs beyond both alone"
    seeds = f"{panel.rows} points, mean of {panel.seeds} seeds" if panel.seeds > 1 else f"{panel.rows} points, one seed"
    frame.name_foot(figure, f"{note}\n{seeds}; grey: 95 % interval holds zero")
    return figure


def _map(axes: Axes, panel: Shares) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    from workbench.figures import marks, plot_style

    count = len(panel.names)
    below = np.tril(np.ones((count, count), bool))
    paint = LinearSegmentedColormap.from_list("shares", ["#FFFFFF", marks.GOOD])
    masked = np.ma.masked_array(np.clip(panel.value, 0, None), ~below)
    axes.imshow(masked, cmap=paint, vmin=0, vmax=max(_PALEST_SHARE, float(masked.max())), aspect="auto", alpha=0.75)
    for i, j in np.argwhere(below).tolist():
        sure = panel.low[i, j] > 0
        text = f"{panel.value[i, j] + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "\N{MINUS SIGN}")
        axes.text(
            j, i, text, ha="center", va="center", fontsize=plot_style.SMALL, color=marks.INK if sure else marks.QUIET
        )
    _number_sides(axes, panel.names)


def _number_sides(axes: Axes, names: Sequence[str]) -> None:
    """Put names with numbers beside the rows of a triangle, and the numbers below its columns."""
    axes.set_yticks(range(len(names)), [f"{name}  {k + 1}" for k, name in enumerate(names)])
    axes.set_xticks(range(len(names)), [str(k + 1) for k in range(len(names))])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


INTERACTIONS_FIGURE = recipe(ANY, interactions_data, draw_interactions)

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
            "p": [one.p_value for one in self.effects],
            "p_false_discovery": [one.p_adjusted for one in self.effects],
            "clear": [one.clear for one in self.effects],
            "seeds": [one.gain.n for one in self.effects],
            "seeds_infinite": [one.infinite for one in self.effects],
            "seeds_missing": [one.missing for one in self.effects],
        }


def factorial_effects_data(runs: RunSet, measure: str | None = None) -> FactorialEffects:
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
    seeds = sorted({one.gain.n for one in data.effects})
    note = f"gain in {data.measure}, % of all first choices; on the diagonal by itself, below it of both beyond the sum"
    rests = f"{seeds[0]}{f' to {seeds[-1]}' if seeds[1:] else ''} seeds, half width of the 95 % interval"
    counts = {"without a run": max(one.missing for one in data.effects)}
    counts["with a refusal, the worst rank there is"] = max(one.infinite for one in data.effects)
    lacking = "".join(f", {count} {what}" for what, count in counts.items() if count)
    frame.name_foot(figure, f"{note}\n{rests}{lacking}; grey: not clear of zero among all effects (false discovery)")
    return figure


def _triangle(axes: Axes, data: FactorialEffects, setting: str, most: float) -> None:
    place = {name: k for k, name in enumerate(data.factors)}
    for one in (effect for effect in data.effects if effect.setting == setting):
        left, low = sorted(place[name] for name in (one.factors * 2)[:2])
        _cell(axes, left, low, one, most)
    count = len(data.factors)
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    _number_sides(axes, [name.replace("_", " ") for name in data.factors])


def _cell(axes: Axes, left: int, low: int, one: Effect, most: float) -> None:
    from matplotlib.patches import Rectangle

    from workbench.figures import marks, plot_style

    gains = one.gain.mean > 0
    fill = marks.GOOD if gains else marks.BAD
    paint = min(abs(one.gain.mean) / most, 1.0) ** 0.5 if one.clear else 0.0
    hatch = "////" if one.clear and not gains else ""
    corner = left - 0.48, low - 0.46
    axes.add_patch(Rectangle(corner, 0.96, 0.92, facecolor=fill, alpha=0.65 * paint, linewidth=0))
    axes.add_patch(Rectangle(corner, 0.96, 0.92, fill=False, hatch=hatch, edgecolor="#CCCCCC", linewidth=0.4))
    half = (one.gain.high - one.gain.low) / 2
    width = f" ±{half:.1f}" if np.isfinite(half) else ""
    text = f"{one.gain.mean + 0.0:+.1f}{width}".replace("-", "\N{MINUS SIGN}").replace("inf", "\N{INFINITY}")
    colour = marks.INK if one.clear else marks.QUIET
    axes.text(left, low, text, ha="center", va="center", fontsize=plot_style.SMALL - 0.7, color=colour)


FACTORIAL_EFFECTS_FIGURE = recipe(ANY, factorial_effects_data, draw_factorial_effects)
