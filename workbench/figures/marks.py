"""What is drawn within a panel: lines, dots, bars, areas.

Colours are Okabe and Ito's (jfly.uni-koeln.de/color, 2008) without the yellow, which is lost on white. No line differs
from another by its colour alone: each has its own marker, and worse bars are hatched.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize, to_hex, to_rgba_array
from matplotlib.ticker import FuncFormatter, LogLocator

from workbench.figures.estimates import Means
from workbench.figures.frame import words
from workbench.statistics import Interval

COLOURS = ("#222222", "#D55E00", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
INK, GOOD, BAD, QUIET = "#222222", "#0072B2", "#E69F00", "#8A8A8A"
"""Outlines; better than the baseline; worse; what only guides the eye."""
FILLS = ("#56B4E9", "#0072B2", "#F2D16B", "#C8501E", "#23394A")
"""Of areas that touch: no two are alike in grey."""


def line_look(style: int) -> dict[str, Any]:
    """Return colour and marker of a line, by its place in the sweep: no two of the first 63 are the same."""
    colour, shape = COLOURS[style % len(COLOURS)], MARKERS[style % len(MARKERS)]
    return {"color": colour, "marker": shape, "markeredgecolor": "white", "markeredgewidth": 0.4}


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
        axes.plot([result.low, result.high], [y, y], color=INK, linewidth=1.2, marker="|", markersize=4)
    axes.plot([result.mean], [y], color=INK, marker="o", linestyle="none")


def histogram(axes: Axes, edges: np.ndarray, counts: np.ndarray, tied: int) -> None:
    """Draw bars on both sides of zero, those of the worse side hatched; ties stand on zero as a black bar."""
    width = edges[1] - edges[0]
    for side, fill, hatch in ((edges[:-1] >= 0, GOOD, ""), (edges[:-1] < 0, BAD, "////")):
        left = edges[:-1][side] + 0.04 * width
        axes.bar(left, counts[side], 0.92 * width, align="edge", color=fill, hatch=hatch, edgecolor=INK, linewidth=0.4)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.plot([0, 0], [0, tied], color=INK, linewidth=2.5, solid_capstyle="butt")


def dots(axes: Axes, names: Sequence[str], x: Means) -> None:
    """Draw one row a name, the first on top: a dot on its interval, hollow where the interval holds zero or is
    unknown."""
    rows = np.arange(len(names))[::-1]
    axes.axvline(0, color=INK, linewidth=0.8)
    sure = (x.low > 0) | (x.high < 0)
    fill = np.where(sure, np.where(x.mean > 0, GOOD, BAD), "white")
    axes.scatter(x.mean, rows, s=14, c=fill.tolist(), edgecolors=INK, linewidths=0.5, zorder=3)
    ends(axes, x, rows)
    _name_rows(axes, rows, names)


def _name_rows(axes: Axes, rows: np.ndarray, names: Sequence[str]) -> None:
    axes.set_yticks(rows, [words(name) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)


def ends(axes: Axes, x: Means, rows: np.ndarray) -> None:
    """Draw intervals along rows over their dots, with ends taller than a dot: one that is shorter than it shows too."""
    axes.hlines(rows, x.low, x.high, color=INK, linewidth=1.1, zorder=4)
    for end in (x.low, x.high):
        axes.scatter(end, rows, s=42, marker="|", c=INK, linewidths=0.8, zorder=4)


def multiples(axes: Axes, names: Sequence[str], x: Means, filled: np.ndarray) -> None:
    """Draw one row a name, the first on top: how many times the least there can be, on a logarithmic axis from 1 on."""
    rows = np.arange(len(names))[::-1]
    axes.set_xscale("log", subs=[])
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.hlines(rows, np.maximum(x.low, 1), x.high, color=INK, linewidth=1.1)
    axes.scatter(
        x.mean, rows, s=16, c=np.where(filled, GOOD, "white").tolist(), edgecolors=INK, linewidths=0.7, zorder=3
    )
    _name_rows(axes, rows, names)


def ticks(axes: Axes, x: np.ndarray) -> None:
    """Draw an upright bar in each row, the first on top: the value that the row's dot is compared with."""
    rows = np.arange(len(x))[::-1]
    axes.scatter(x, rows, s=60, marker="|", c=BAD, linewidths=1.6, zorder=2)


def points(
    axes: Axes, x: Means, y: Means, filled: np.ndarray, small: bool = False, tint: np.ndarray | None = None
) -> None:
    """Draw dots with their intervals in both directions, some of them filled; the others can be small.

    With a tint (one colour a dot, RGBA) all are filled with theirs, and those that would be are outlined.
    """
    above = 1 if small else 4
    axes.hlines(y.mean, x.low, x.high, color=QUIET if small else INK, linewidth=0.7, zorder=above)
    axes.vlines(x.mean, y.low, y.high, color=QUIET if small else INK, linewidth=0.7, zorder=above)
    size, fill, edge = (4, QUIET, 0.0) if small else (14, "white", 0.7)
    rest, chosen = (fill, GOOD) if tint is None else (tint[~filled], tint[filled])
    axes.scatter(x.mean[~filled], y.mean[~filled], s=size, c=rest, edgecolors=INK, linewidths=edge, zorder=2)
    axes.scatter(x.mean[filled], y.mean[filled], s=14, c=chosen, edgecolors=INK, linewidths=0.7, zorder=3)


def diamonds(axes: Axes, x: np.ndarray, y: np.ndarray, tint: np.ndarray | None = None) -> None:
    """Draw what others are held to: larger than a dot, and of another shape."""
    axes.scatter(x, y, s=30, marker="D", c=BAD if tint is None else tint, edgecolors=INK, linewidths=0.8, zorder=4)


def scale(values: Sequence[np.ndarray]) -> ScalarMappable:
    """Return colours from dark to light, for all of these values together."""
    known = np.concatenate(values)
    limits = Normalize(*np.nanquantile(known, [0, 1])) if np.isfinite(known).any() else Normalize(0, 1)
    return ScalarMappable(limits, colormaps["viridis"])


def heat(
    axes: Axes, values: np.ndarray, text: Callable[[int, int, float], str], about_zero: bool = False
) -> ScalarMappable:
    """Draw one coloured place a number, rows from above, each with its number; one that is not known stays white.

    Parameters
    ----------
    values : float64[rows, columns]
    text : function
        From row, column and number to what is written into the place.
    about_zero : bool
        White at zero, and one colour for each sign; else from light to dark.
    """
    tints = scale([values.ravel()])
    tints.set_cmap(colormaps["PuOr" if about_zero else "cividis_r"])
    if about_zero:
        largest = float(np.nanmax(np.abs(values))) or 1.0
        tints.set_clim(-largest, largest)
    least, most = tints.get_clim()
    axes.imshow(np.ma.masked_invalid(values), cmap=tints.get_cmap(), vmin=least, vmax=most, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            dark = float(np.dot(tints.to_rgba(value)[:3], (0.299, 0.587, 0.114))) < 0.5
            axes.text(
                column,
                row,
                text(row, column, float(value)),
                ha="center",
                va="center",
                color="white" if dark else INK,
                size=5.5,
            )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return tints


def fills(count: int) -> tuple[str, ...]:
    """Return colours of so many kinds of areas: those of FILLS, or where they are too few a scale from dark to
    light."""
    if count <= len(FILLS):
        return FILLS[:count]
    return tuple(to_hex(colour) for colour in colormaps["viridis"](np.linspace(0, 1, count)))


def swatches(axes: Axes, names: Sequence[str], colours: Sequence[str]) -> None:
    """Draw what the legend says of kinds of areas."""
    for name, colour in zip(names, colours, strict=True):
        axes.scatter([], [], s=22, marker="s", color=colour, edgecolors=INK, linewidths=0.3, label=words(name))


def rectangles(
    axes: Axes,
    x: tuple[np.ndarray, np.ndarray],
    y: tuple[np.ndarray, np.ndarray],
    fill: np.ndarray,
    colours: Sequence[str] = FILLS,
) -> None:
    """Draw areas that touch, each in its shade; the hairline closes the seam that viewers leave between areas.

    Parameters
    ----------
    x, y : pairs of arrays, shape (areas,) each
        The left and the right ends, the lower and the upper ones.
    fill : int array, shape (areas,)
        Which of the colours.
    """
    corners = np.stack([x[0], y[0], x[1], y[0], x[1], y[1], x[0], y[1]], axis=1).reshape(-1, 4, 2)
    filled = to_rgba_array(colours)[fill]
    axes.add_collection(PolyCollection(list(corners), facecolors=filled, edgecolors="face", linewidths=0.1))


def stacked_bars(
    axes: Axes, names: Sequence[str], parts: np.ndarray, colours: Sequence[str], letters: int, **look: Any
) -> None:
    """Draw a bar of several parts a row, the first on top: float64[bars, parts]; of a name so many letters a line."""
    places, left = np.arange(len(names))[::-1], np.zeros(len(names))
    for wide, colour in zip(parts.T, colours, strict=True):
        axes.barh(places, wide, left=left, color=colour, edgecolor=INK, **look)
        left = left + wide
    axes.set_yticks(places, [textwrap.fill(words(name), letters) for name in names])
    axes.tick_params(axis="y", length=0)
