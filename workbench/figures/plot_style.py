"""The style of every figure: one column wide, small letters, thin axes.

Only here is Matplotlib's style set, for the time of drawing alone: what a notebook or another thread has set stays, and
does not show in our figures.
"""

from __future__ import annotations

import functools
import io
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from workbench.errors import missing_extra
from workbench.palette import DARK, LIGHT, Palette

try:
    import matplotlib.style
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from workbench.figures.collisions import MeasuredLayout
except ModuleNotFoundError:
    raise missing_extra("drawing a figure", "figures") from None

WIDTH = 3.4
"""Inches: fits a column of IEEE (3.5) and of ACM (3.33, scaled by 2 %)."""
DOTS = 220
"""Dots an inch of PNG files."""
SIZE, SMALL = 7.5, 6.5
"""Points: of titles and labels; of tick labels, legends and small print. DejaVu's letters are large for their size."""

_STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],  # comes with Matplotlib: the same letters on every machine
    "font.size": SIZE,
    "axes.labelsize": SIZE,
    "axes.titlesize": SIZE,
    "axes.titlelocation": "left",
    "axes.titlepad": 3,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 7),
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "legend.handlelength": 2,
    "legend.columnspacing": 1.2,
    "legend.borderpad": 0,
    "legend.borderaxespad": 0.3,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "hatch.linewidth": 0.5,
    "figure.constrained_layout.h_pad": 0.04,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.dpi": 150,
    "savefig.dpi": DOTS,
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
    "pgf.rcfonts": False,  # the letters of the paper that takes the drawing
}
_LOCK = threading.RLock()


class Format(NamedTuple):
    """What a venue asks of a figure."""

    width: float = WIDTH
    """Inches."""
    family: str = "DejaVu Sans"
    """Of letters; one that comes with Matplotlib, so that it is the same on every machine."""
    notes: bool = True
    """Whether notes stand in small print below the panels; else the caption of the figure has them."""
    is_dark: bool = False
    """Whether the paper is dark, as on a slide or a dark page."""

    @property
    def palette(self) -> Palette:
        """Return the colors of everything on the sheet."""
        return DARK if self.is_dark else LIGHT


_USUAL = Format()
_format: ContextVar[Format] = ContextVar("figure format", default=_USUAL)
_MATHEMATICS = {"STIXGeneral": "stix", "DejaVu Serif": "dejavuserif"}


def palette() -> Palette:
    """Return the colors of what is drawn at this moment."""
    return _format.get().palette


TEX_SYSTEMS = ("xelatex", "pdflatex", "lualatex")
"""What can measure the letters of a drawing for TeX, the first choice first."""


@functools.cache
def tex_system() -> str | None:
    """Return the TeX of this machine that measures letters, None where it has none."""
    return next(filter(shutil.which, TEX_SYSTEMS), None)


@contextmanager
def formatted(venue_format: Format) -> Iterator[None]:
    """Draw sheets in the format of a venue; each keeps it, however late it is saved.

    >>> with formatted(Format(width=7.0, notes=False)):
    ...     float(stacked(1, 1.0)[0].get_figwidth())
    7.0
    """
    before = _format.set(venue_format)
    try:
        yield
    finally:
        _format.reset(before)


@contextmanager
def paper(venue_format: Format | None = None) -> Iterator[None]:
    """Draw in the style of the workbench; Matplotlib's settings are global, so one thread at a time."""
    family = (venue_format or _format.get()).family
    letters = {
        "font.family": list(dict.fromkeys([family, Format().family])),
        "mathtext.fontset": _MATHEMATICS.get(family, "dejavusans"),
    }
    system = {"pgf.texsystem": tex_system() or TEX_SYSTEMS[0]}
    colors = _colors((venue_format or _format.get()).palette)
    with _LOCK, matplotlib.style.context(["default", {**_STYLE, **colors, **letters, **system}]):
        yield


def _colors(palette: Palette) -> dict[str, Any]:
    """Return the colors of paper, text and frames."""
    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
    paper = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    return {**dict.fromkeys(ink, palette.ink), **dict.fromkeys(paper, palette.paper), "grid.color": palette.grid}


class Sheet(Figure):
    """A figure that is rendered in its own style and shows itself in a notebook cell, with no pyplot behind it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.format = _format.get()
        self.note = ""
        """What small print below the panels says, or the caption where the format wants it there."""

    def draw(self, renderer: Any) -> None:
        """Draw on a renderer."""
        with paper(self.format):
            super().draw(renderer)

    def savefig(self, fname: Any, **kwargs: Any) -> None:
        """Save as Matplotlib does."""
        with paper(self.format):
            super().savefig(fname, **kwargs)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        image = io.BytesIO()
        self.savefig(image, format="png")
        wide, high = self.get_size_inches() * self.dpi
        return image.getvalue(), {"width": round(wide), "height": round(high)}


def stacked(count: int, heights: float | Sequence[float], share_x: bool = False) -> tuple[Sheet, list[Axes]]:
    """Make a sheet with so many panels below each other, and their heights in inches: one for all, or one each."""
    each = [heights] * count if isinstance(heights, float) else list(heights)
    sheet = Sheet(figsize=(_format.get().width, sum(each) + 0.3), layout=MeasuredLayout())
    axes = sheet.subplots(count, 1, squeeze=False, height_ratios=each, sharex=share_x)
    return sheet, list(axes[:, 0])


def side_by_side(widths: Sequence[float], height: float) -> tuple[Sheet, list[Axes]]:
    """Make a sheet with panels next to each other, as wide as their shares, with one scale of heights in inches."""
    sheet = Sheet(figsize=(_format.get().width, height + 0.3), layout=MeasuredLayout())
    axes = sheet.subplots(1, len(widths), squeeze=False, width_ratios=list(widths), sharey=True)
    return sheet, list(axes[0])


def grid(count: int, columns: int, height: float) -> tuple[Sheet, list[Axes]]:
    """Make a sheet with so many panels, row by row, each row so many inches high; places that are left over stay
    empty."""
    rows = -(-count // columns)
    sheet = Sheet(figsize=(_format.get().width, rows * height + 0.3), layout=MeasuredLayout())
    axes = list(sheet.subplots(rows, columns, squeeze=False).ravel())
    for empty in axes[count:]:
        empty.set_axis_off()
    return sheet, axes[:count]
