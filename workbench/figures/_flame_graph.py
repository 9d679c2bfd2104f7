"""Who held what by stack, as a flame graph of an advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from workbench.advice.torch_memory.timeline_chart import COLOURS
from workbench.figures.figure_files import Column
from workbench.figures.registry import on_paper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.advice.torch_memory.advice import Advice
    from workbench.advice.torch_memory.holdings import Frame


GIB = 1 << 30
THINNEST, LETTERS = 0.003, 74
"""The least share of what is live of a frame that is drawn; how many letters the width of the figure has space for."""


class Flames(NamedTuple):
    """Frames of a program, each with what is live below it; a row a frame that is drawn."""

    of: str
    """Which card and moment."""
    name: tuple[str, ...]
    depth: np.ndarray
    """int64[frames], 0 = all that is live, then those that were called from outside in."""
    start_gib: np.ndarray
    """float64[frames], where the frame begins; those that one frame called lie side by side within it."""
    gib: np.ndarray

    def columns(self) -> dict[str, Column]:
        """Return a row a frame."""
        return {"frame": self.name, "depth": self.depth, "start_gib": self.start_gib, "gib": self.gib}


def flame_data(advice: Advice) -> Flames:
    """Return the data of the flame graph of an advice: the first card at the moment that the five lines are about."""
    from workbench.advice.torch_memory.holdings import by_stack

    card = advice.cards[0]
    whole = by_stack(card.moment(card.decisive), card.log)
    rows = list(_frames(whole, 0, 0, THINNEST * whole.bytes))
    names, *columns = zip(*rows, strict=True)
    depth, start, size = (np.array(column, np.int64) for column in columns)
    when = "before it failed" if card.failure is not None else "where memory was tightest"
    return Flames(f"live on {card.name} {when}", names, depth, start / GIB, size / GIB)


def _frames(frame: Frame, start: int, depth: int, least: float) -> Iterator[tuple[str, int, int, int]]:
    """Yield a frame and those below it that are not too thin: name, depth, where it begins, bytes."""
    yield frame.name, depth, start, frame.bytes
    for inner in frame.inner:
        if inner.bytes >= least:
            yield from _frames(inner, start, depth + 1, least)
        start += inner.bytes


@on_paper
def draw_flames(data: Flames) -> Figure:
    """Draw frames below those that called them, as wide as what is live below them; a color is a frame's name."""
    from matplotlib.colors import to_rgba

    from workbench.figures import plot_style

    rows, named = int(data.depth.max()) + 1, plot_style.palette().named()
    figure, (axes,) = plot_style.stacked(1, (0.5 + 0.13 * rows,))
    total = max(float(data.gib[0]), 1e-9)
    for name, depth, start, size in zip(*data[1:], strict=True):
        colour = named[COLOURS[crc32(name.encode()) % len(COLOURS)] if depth else "taken"]
        axes.barh(depth, size, 0.92, left=start, color=to_rgba(colour, 0.25), edgecolor=colour, linewidth=0.4)
        letters = int(LETTERS * size / total)
        if letters > 2:
            words = name if len(name) <= letters else f"…{name[1 - letters :]}"
            axes.text(start, depth, f" {words}", va="center", fontsize=4.5, clip_on=True)
    axes.set(xlabel=f"{data.of} (GiB)", xlim=(0, total), ylim=(rows - 0.4, -0.6))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    return figure
