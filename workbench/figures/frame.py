"""What stands around the panels: names of axes and panels, ticks, the legend, small print."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from workbench.figures.labels import words
from workbench.figures.plot_style import SMALL, WIDTH, Sheet, palette

_LINE = 56
"""Letters of a title that fill the width of a sheet."""
_SMALL_LINE = 66
"""The same of small print."""


def title(axes: Axes, text: str, below: str = "", letters: int | None = None) -> None:
    """Name a panel, so many letters a line (as many as the sheet is wide), with lines of small print under the name."""
    axes.set_title(
        textwrap.fill(words(text), letters or _letters(axes.figure, _LINE)), pad=3 + 8.5 * len(below.splitlines())
    )
    axes.annotate(below, (0, 1), (0, 2), "axes fraction", "offset points", fontsize=SMALL, linespacing=1.15)


def name_sides(axes: Sequence[Axes], x_label: str, y_label: str = "", note: str = "") -> None:
    """Name the vertical axis of every panel and the horizontal one of the last, with a note in small print below.

    Long numbers of cycles are shown in thousands or millions, and the names say so, except on logarithmic axes.
    """
    x_label = _in_short_numbers([one.xaxis for one in axes], x_label)
    y_label = _in_short_numbers([one.yaxis for one in axes], y_label)
    for one in axes:
        one.set_ylabel(textwrap.fill(y_label, 20 if len(axes) > 1 else 28))
    ticks = max((len(label.get_text()) for one in axes for label in one.get_yticklabels()), default=0)
    line = _letters(axes[-1].figure, _LINE)
    long = len(x_label) + ticks > line  # then the name may reach below the names of the rows
    axes[-1].set_xlabel(textwrap.fill(words(x_label), line), loc="right" if long else "center")
    if note:
        name_foot(axes[-1].figure, note)


def name_foot(sheet: FigureBase, note: str) -> None:
    """Put a note in small print below a sheet, lines that are too long for it broken; or keep it for the caption."""
    if isinstance(sheet, Sheet):
        sheet.note = words(note)
        if not sheet.format.notes:
            return
    lines = [textwrap.fill(line, _letters(sheet, _SMALL_LINE)) for line in words(note).splitlines()]
    sheet.supxlabel("\n".join(lines), fontsize=SMALL, color=palette().soft)


def _letters(sheet: Any, column: int) -> int:
    """Return the letters of a line across a sheet, from those of one that is a column wide."""
    return round(column * sheet.get_figwidth() / WIDTH)


def colour_bar(axes: Sequence[Axes], tints: ScalarMappable, meaning: str) -> None:
    """Draw the meaning of the colors, next to all panels."""
    sheet: Any = axes[0].figure
    high = sum(one.get_position().height for one in axes) * sheet.get_figheight()
    label = textwrap.fill(words(meaning), max(round(14 * high), 12))
    bar = axes[0].figure.colorbar(tints, ax=list(axes), label=label, aspect=18 * len(axes), pad=0.02)
    bar.outline.set_visible(False)


def _in_short_numbers(sides: Sequence[Axis], name: str) -> str:
    longest = max(abs(limit) for side in sides for limit in side.get_view_interval())
    power, unit = (6, "million") if longest >= 20_000_000 else (3, "thousand") if longest >= 20_000 else (0, "")
    if not unit or "(cycles)" not in name or any(side.get_scale() == "log" for side in sides):
        return name  # powers of ten are short as they are
    for side in sides:
        side.set_major_locator(MaxNLocator(6))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 10**power:g}"))
    return name.replace("(cycles)", f"({unit} cycles)")


def value_axis(axes: Axes, x: np.ndarray) -> None:
    """Put ticks at the values themselves where they are few; logarithmic where they span a factor of eight."""
    logarithmic = x[0] > 0 and x[-1] >= 8 * x[0]
    if logarithmic:
        axes.set_xscale("log", base=2)
    if len(x) <= 10:
        axes.set_xticks(x, [_short(value) for value in x])
    if logarithmic:
        axes.minorticks_off()


def _short(value: float) -> str:
    """Return a value at a tick: large multiples of 2^20 and 2^30 by their prefixes.

    >>> _short(48.0), _short(268_435_456), _short(1 << 31)
    ('48', '256 Mi', '2 Gi')
    """
    for power, prefix in ((30, "Gi"), (20, "Mi")):
        if value >= 1 << power and value % (1 << power) == 0:
            return f"{value / (1 << power):g} {prefix}"
    return f"{value:g}"


def number_sides(axes: Axes, names: Sequence[str]) -> None:
    """Put names with numbers next to the rows of a triangle, and the numbers below its columns."""
    axes.set_yticks(range(len(names)), [f"{name}  {k + 1}" for k, name in enumerate(names)])
    axes.set_xticks(range(len(names)), [str(k + 1) for k in range(len(names))])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def whole_numbers(side: Axis, most: int = 4) -> None:
    """Put the ticks of an axis at whole numbers alone, and at that many distances at most."""
    side.set_major_locator(MaxNLocator(most, integer=True))


def plain_numbers(axes: Axes) -> None:
    """Label the ticks of logarithmic axes with the numbers that they are: 8 instead of a power of two."""
    for side in (axes.xaxis, axes.yaxis):
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def say_instead(axes: Axes, text: str) -> None:
    """Say in a panel why there is nothing to see in it."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=palette().soft, fontsize=SMALL)
    axes.set_yticks([])
    axes.set_ylabel("")


def legend(sheet: Sheet, axes: Sequence[Axes], names: Mapping[str, str] | None = None) -> None:
    """Draw one legend for all panels, in rows of its own above them; none for one line alone.

    `names` says what short labels in the panels stand for, below what the marks mean.
    """
    handles = {label: handle for one in axes for handle, label in zip(*one.get_legend_handles_labels())}
    if names:
        handles |= {f"{label}  {words(name)}": Line2D([], [], linestyle="none") for label, name in names.items()}
    if len(handles) < 2:
        return
    _place_key(sheet, list(handles.values()), list(handles), "outside upper center")


def key(sheet: Sheet, names: Mapping[str, str]) -> None:
    """Write what short labels stand for, in rows of their own above all panels."""
    handles = [Line2D([], [], linestyle="none") for _ in names]
    labels = [f"{label}  {words(name)}" for label, name in names.items()]
    _place_key(sheet, handles, labels, "outside upper center", handlelength=0, handletextpad=0)


_HANDLE, _BETWEEN = 2.8, 1.2
"""What stands before a label of a legend and between two columns, in sizes of letters."""


def _place_key(sheet: Sheet, handles: list[Any], labels: list[str], where: Any, **look: Any) -> None:
    """Put labels into as many columns as fit, measured; one that is wider than the sheet is broken."""
    wide = 72 * sheet.get_figwidth() - 2 * SMALL
    before, between = _HANDLE * SMALL if "handlelength" not in look else 0.0, _BETWEEN * SMALL
    labels = [_broken(sheet, label, wide - before) for label in labels]
    widths = [_width(sheet, label) + before for label in labels]
    columns = next(
        count
        for count in range(len(labels), 0, -1)
        if count == 1 or sum(max(part) for part in np.array_split(widths, count)) + between * (count - 1) <= wide
    )
    rows = max(sum(1 + label.count("\n") for label in part) for part in np.array_split(np.array(labels), columns))
    sheet.set_figheight(sheet.get_figheight() + 0.14 * rows)
    sheet.legend(handles, labels, loc=where, ncols=columns, columnspacing=_BETWEEN, **look)


def _broken(sheet: Sheet, label: str, wide: float) -> str:
    """Return a label in lines that are no wider than so many points."""
    letters = len(label)
    while letters > 10 and _width(sheet, broken := textwrap.fill(label, letters, subsequent_indent="    ")) > wide:
        letters -= 2
    return broken if letters < len(label) else label


def _width(sheet: Sheet, label: str) -> float:
    """Return the width of a label of a legend, in points."""
    text = sheet.text(0, 0, label, fontsize=SMALL)
    width = float(text.get_window_extent().width) * 72 / sheet.dpi
    text.remove()
    return width
