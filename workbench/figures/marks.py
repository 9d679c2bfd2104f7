"""What is drawn within a panel: lines, dots, bars, areas.

Colors are those of the palette of the sheet. No line differs from another by its color alone: each has its own marker,
and worse bars are hatched.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex, to_rgba_array
from matplotlib.ticker import FuncFormatter, LogLocator

from workbench.figures.estimates import Means
from workbench.figures.frame import words
from workbench.figures.plot_style import palette
from workbench.figures.size_steps import SizeSteps
from workbench.palette import on_top_of
from workbench.statistics import Interval

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


def line_look(style: int) -> dict[str, Any]:
    """Return color and marker of a line, by its place in the sweep: no two of the first 63 are the same."""
    series = palette().series
    look = {"color": series[style % len(series)], "marker": MARKERS[style % len(MARKERS)]}
    return {**look, "markeredgecolor": palette().paper, "markeredgewidth": 0.4}


def step_line(axes: Axes, x: np.ndarray, y: Means, style: int, label: str) -> None:
    """Draw means that change in steps, their intervals as a pale area, and a marker here and there."""
    if np.isfinite(y.low).any():
        axes.fill_between(x, y.low, y.high, step="post", color=line_look(style)["color"], alpha=0.2, linewidth=0)
    gap = max(len(x) // 10, 1)
    every = (style % 5 * gap // 5, gap)  # the markers of different lines do not meet
    axes.step(x, y.mean, where="post", label=words(label), markevery=every, **line_look(style))


def interval_line(axes: Axes, x: np.ndarray, y: Means, style: int, label: str) -> None:
    """Draw means at the places where something was measured, with their intervals; the line between guides the eye."""
    axes.plot(x, y.mean, label=words(label), linewidth=0.8, **line_look(style))
    axes.vlines(x, y.low, y.high, color=line_look(style)["color"], linewidth=1.1, zorder=3)
    for end in (y.low, y.high):  # ends wider than a marker, so that a short interval shows on it
        axes.scatter(x, end, s=26, marker="_", color=line_look(style)["color"], linewidths=0.8, zorder=3)


def interval(axes: Axes, result: Interval, y: float) -> None:
    """Draw a mean with its interval as a dot on a bar, at a height of its own."""
    if np.isfinite(result.low):
        axes.plot([result.low, result.high], [y, y], color=palette().ink, linewidth=1.2, marker="|", markersize=4)
    axes.plot([result.mean], [y], color=palette().ink, marker="o", linestyle="none")


def histogram(axes: Axes, edges: np.ndarray, counts: np.ndarray, tied: int) -> None:
    """Draw bars on both sides of zero, those of the worse side hatched; ties stand on zero as a black bar."""
    width = edges[1] - edges[0]
    for side, fill, hatch in ((edges[:-1] >= 0, palette().better, ""), (edges[:-1] < 0, palette().worse, "////")):
        left = edges[:-1][side] + 0.04 * width
        axes.bar(
            left,
            counts[side],
            0.92 * width,
            align="edge",
            color=fill,
            hatch=hatch,
            edgecolor=palette().ink,
            linewidth=0.4,
        )
    axes.axvline(0, color=palette().ink, linewidth=0.8)
    axes.plot([0, 0], [0, tied], color=palette().ink, linewidth=2.5, solid_capstyle="butt")


_DOTS: dict[str, dict[str, Any]] = {
    "shipped": {"s": 14, "marker": "o", "linewidths": 0.5},
    "own": {"s": 50, "marker": "*", "linewidths": 0.7},
}


MOST_LETTERS_OF_A_NAME = 34
"""Longer names of rows have several lines."""


def lines_of_names(names: Sequence[str]) -> int:
    """Return the most lines of a name of a row."""
    return max((len(textwrap.wrap(words(name), MOST_LETTERS_OF_A_NAME)) for name in names), default=1)


def dots(axes: Axes, names: Sequence[str], x: Means, kinds: Sequence[str] = ()) -> None:
    """Draw one row a name, the first on top: a dot on its interval, hollow where the interval holds zero or is unknown.

    Of kinds, `own` is a star with a bold name, and `upper bound` a hatched bar from zero.
    """
    rows, tones, kind = np.arange(len(names))[::-1], palette(), np.array(kinds or ["shipped"] * len(names))
    axes.axvline(0, color=tones.ink, linewidth=0.8)
    fill = np.array([_verdict_fills()[verdict] for verdict in _verdicts(x)])
    for of, look in _DOTS.items():
        if (kept := kind == of).any():
            axes.scatter(x.mean[kept], rows[kept], c=fill[kept].tolist(), edgecolors=tones.ink, zorder=3, **look)
    bound = kind == "upper bound"
    axes.barh(rows[bound], x.mean[bound], 0.55, zorder=2, **_hatched())
    ends(axes, x, rows)
    _name_rows(axes, rows, names)
    for text, of in zip(axes.get_yticklabels(), kind, strict=True):
        text.set_fontweight("bold" if of == "own" else "normal")


def dot_key(axes: Axes, panels: Sequence[tuple[Means, Sequence[str]]]) -> None:
    """Draw what the legend says of such dots: the verdicts and the kinds that some panels hold."""
    verdicts = {
        verdict
        for x, kinds in panels
        for verdict, kind in zip(_verdicts(x), kinds, strict=True)
        if kind != "upper bound"
    }
    there = {kind for _, kinds in panels for kind in kinds}
    edge: dict[str, Any] = {"edgecolors": palette().ink, "zorder": 3}
    for verdict, fill in _verdict_fills().items():
        if verdict in verdicts:
            axes.scatter([], [], c=fill, label=verdict, **edge, **_DOTS["shipped"])
    if "own" in there:
        axes.scatter([], [], c=palette().paper, label="your own rule", **edge, **_DOTS["own"])
    if "upper bound" in there:
        axes.bar(0, 0, label="upper bound", **_hatched())


def _verdicts(x: Means) -> list[str]:
    sure = (x.low > 0) | (x.high < 0)
    return np.where(sure, np.where(x.mean > 0, "better", "worse"), "undecided").tolist()


def _verdict_fills() -> dict[str, str]:
    return {"better": palette().better, "worse": palette().worse, "undecided": palette().paper}


def _hatched() -> dict[str, Any]:
    return {"facecolor": "none", "edgecolor": palette().quiet, "hatch": "//////", "linewidth": 0.6}


def _name_rows(axes: Axes, rows: np.ndarray, names: Sequence[str]) -> None:
    axes.set_yticks(rows, [textwrap.fill(words(name), MOST_LETTERS_OF_A_NAME) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(axis="x", color=palette().grid, linewidth=0.5)


def ends(axes: Axes, x: Means, rows: np.ndarray) -> None:
    """Draw intervals along rows over their dots, with ends taller than a dot: one that is shorter than it shows too."""
    axes.hlines(rows, x.low, x.high, color=palette().ink, linewidth=1.1, zorder=4)
    for end in (x.low, x.high):
        axes.scatter(end, rows, s=42, marker="|", c=palette().ink, linewidths=0.8, zorder=4)


def multiples(axes: Axes, names: Sequence[str], x: Means, filled: np.ndarray) -> None:
    """Draw one row a name, the first on top: how many times the least there can be, on a logarithmic axis from 1 on."""
    rows = np.arange(len(names))[::-1]
    axes.set_xscale("log", subs=[])
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.axvline(1, color=palette().ink, linewidth=0.8)
    axes.hlines(rows, np.maximum(x.low, 1), x.high, color=palette().ink, linewidth=1.1)
    axes.scatter(
        x.mean,
        rows,
        s=16,
        c=np.where(filled, palette().better, palette().paper).tolist(),
        edgecolors=palette().ink,
        linewidths=0.7,
        zorder=3,
    )
    _name_rows(axes, rows, names)


def ticks(axes: Axes, x: np.ndarray) -> None:
    """Draw an upright bar in each row, the first on top: the value that the row's dot is compared with."""
    rows = np.arange(len(x))[::-1]
    axes.scatter(x, rows, s=60, marker="|", c=palette().worse, linewidths=1.6, zorder=2)


def points(
    axes: Axes, x: Means, y: Means, filled: np.ndarray, small: bool = False, tint: np.ndarray | None = None
) -> None:
    """Draw dots with their intervals in both directions, some of them filled; the others can be small.

    With a tint (one color a dot, RGBA) all are filled with theirs, and those that would be are outlined.
    """
    above = 1 if small else 4
    axes.hlines(y.mean, x.low, x.high, color=palette().quiet if small else palette().ink, linewidth=0.7, zorder=above)
    axes.vlines(x.mean, y.low, y.high, color=palette().quiet if small else palette().ink, linewidth=0.7, zorder=above)
    size, fill, edge = (4, palette().quiet, 0.0) if small else (14, palette().paper, 0.7)
    rest, chosen = (fill, palette().better) if tint is None else (tint[~filled], tint[filled])
    axes.scatter(x.mean[~filled], y.mean[~filled], s=size, c=rest, edgecolors=palette().ink, linewidths=edge, zorder=2)
    axes.scatter(x.mean[filled], y.mean[filled], s=14, c=chosen, edgecolors=palette().ink, linewidths=0.7, zorder=3)


def diamonds(axes: Axes, x: np.ndarray, y: np.ndarray, tint: np.ndarray | None = None) -> None:
    """Draw what others are held to: larger than a dot, and of another shape."""
    axes.scatter(
        x,
        y,
        s=30,
        marker="D",
        c=palette().ink if tint is None else tint,
        edgecolors=palette().ink,
        linewidths=0.8,
        zorder=4,
    )


def arrow(axes: Axes, end: tuple[float, float], begin: tuple[float, float]) -> None:
    """Draw an arrow between two points, clear of their dots."""
    look = {"arrowstyle": "-|>,head_length=0.25,head_width=0.12", "color": palette().quiet, "linewidth": 0.6}
    axes.annotate("", end, begin, arrowprops={**look, "shrinkA": 1.5, "shrinkB": 2}, zorder=1)


def scale(values: Sequence[np.ndarray]) -> ScalarMappable:
    """Return colors from dark to light, for all of these values together."""
    known = np.concatenate(values)
    limits = Normalize(*np.nanquantile(known, [0, 1])) if np.isfinite(known).any() else Normalize(0, 1)
    return ScalarMappable(limits, LinearSegmentedColormap.from_list("ages", palette().ages))


def amounts() -> LinearSegmentedColormap:
    """Return a scale of colors from the paper's, for nothing, along the palette's ramp of sizes."""
    return LinearSegmentedColormap.from_list("amounts", [palette().raised, *palette().sizes])


def heat(
    axes: Axes, values: np.ndarray, text: Callable[[int, int, float], str], about_zero: bool = False
) -> ScalarMappable:
    """Draw one colored place a number, rows from above, each with its number; one that is not known stays white.

    Parameters
    ----------
    values : float64[rows, columns]
    text : function
        From row, column and number to what is written into the place.
    about_zero : bool
        White at zero, and one color for each sign; else from light to dark.
    """
    tints = scale([values.ravel()])
    colors = palette()
    both = LinearSegmentedColormap.from_list("both", [colors.worse, colors.paper, colors.better])
    tints.set_cmap(both if about_zero else amounts())
    if about_zero:
        largest = float(np.nanmax(np.abs(values))) or 1.0
        tints.set_clim(-largest, largest)
    least, most = tints.get_clim()
    axes.imshow(np.ma.masked_invalid(values), cmap=tints.get_cmap(), vmin=least, vmax=most, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            axes.text(
                column,
                row,
                text(row, column, float(value)),
                ha="center",
                va="center",
                color=on_top_of(to_hex(tuple(np.asarray(tints.to_rgba(value)).tolist()))),
                size=5.5,
            )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return tints


def fills(count: int) -> tuple[str, ...]:
    """Return colors of so many kinds of areas: those of the palette, or of a scale where they are too few."""
    if count <= len(palette().kinds):
        return palette().kinds[:count]
    scale = LinearSegmentedColormap.from_list("ages", palette().ages)
    return tuple(to_hex(color) for color in scale(np.linspace(0, 1, count)))


def swatches(axes: Axes, names: Sequence[str], colours: Sequence[str]) -> None:
    """Draw what the legend says of kinds of areas."""
    for name, colour in zip(names, colours, strict=True):
        axes.scatter(
            [], [], s=22, marker="s", color=colour, edgecolors=palette().ink, linewidths=0.3, label=words(name)
        )


def rectangles(
    axes: Axes,
    x: tuple[np.ndarray, np.ndarray],
    y: tuple[np.ndarray, np.ndarray],
    fill: np.ndarray,
    colours: Sequence[str],
    edge: str = "face",
) -> None:
    """Draw areas that touch, each in its shade; a hairline closes the seam that viewers leave, or tells areas apart.

    Parameters
    ----------
    x, y : pairs of arrays, shape (areas,) each
        The left and the right ends, the lower and the upper ones.
    fill : int array, shape (areas,)
        Which of the colors.
    edge : str
        The color of the hairline; that of each area if "face".
    """
    corners = np.stack([x[0], y[0], x[1], y[0], x[1], y[1], x[0], y[1]], axis=1).reshape(-1, 4, 2)
    filled = to_rgba_array(colours)[fill]
    axes.add_collection(
        PolyCollection(list(corners), facecolors=filled, edgecolors=edge, linewidths=0.1 if edge == "face" else 0.3)
    )


def sized(axes: Axes, x: tuple[np.ndarray, np.ndarray], y: tuple[np.ndarray, np.ndarray], size: np.ndarray) -> None:
    """Draw areas as dark as they are large, told apart by lines of the color of free memory: int64[areas], steps."""
    rectangles(axes, x, y, size, palette().sizes, palette().free)


def size_key(axes: Axes, steps: SizeSteps, unit: str, free: str = "free") -> None:
    """Draw what the legend says of sizes, and of what is free."""
    swatches(axes, steps.names(unit), [palette().sizes[k] for k in steps.colors()])
    swatches(axes, [free], [palette().free])


def stacked_bars(
    axes: Axes, names: Sequence[str], parts: np.ndarray, colours: Sequence[str], letters: int, **look: Any
) -> None:
    """Draw a bar of several parts a row, the first on top: float64[bars, parts]; of a name so many letters a line."""
    places, left = np.arange(len(names))[::-1], np.zeros(len(names))
    for wide, colour in zip(parts.T, colours, strict=True):
        axes.barh(places, wide, left=left, color=colour, edgecolor=palette().ink, **look)
        left = left + wide
    axes.set_yticks(places, [textwrap.fill(words(name), letters) for name in names])
    axes.tick_params(axis="y", length=0)
