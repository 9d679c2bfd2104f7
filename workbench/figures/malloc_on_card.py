"""Does the lock model say what a card does? Measured launches beside the model that was fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.figures.calculation import Calculation
from workbench.figures.panels import check_room
from workbench.figures.recipe import Column, on_paper
from workbench.studies.malloc_on_card import Curve, LockFit, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Beside(NamedTuple):
    """One way to take memory on one card."""

    panel: int
    style: int
    curve: Curve
    fit: LockFit
    modelled: np.ndarray
    """float64[points], microseconds, at the threads of the curve."""


class MallocOnCard(NamedTuple):
    """What is drawn."""

    cards: tuple[str, ...]
    """One a panel, by the name that its driver gives."""
    lines: tuple[Beside, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a card, way and number of threads; the figures of a fit in each
        row of its curve."""
        sizes = [len(line.modelled) for line in self.lines]
        fits = {name: np.repeat([getattr(line.fit, name) for line in self.lines], sizes) for name in LockFit._fields}
        return {
            "card": np.repeat([line.curve.card for line in self.lines], sizes),
            "way": np.repeat([line.curve.way for line in self.lines], sizes),
            "threads": np.concatenate([line.curve.threads for line in self.lines]),
            "measured_us": np.concatenate([line.curve.microseconds for line in self.lines]),
            "modelled_us": np.concatenate([line.modelled for line in self.lines]),
            **fits,
        }


def malloc_on_card_data(curves: Sequence[Curve] = ()) -> MallocOnCard:
    """Compute each measured curve with the lock model that comes nearest to it (spec 2, H2.3).

    Parameters
    ----------
    curves : sequence of Curve
        What `workbench.studies.malloc_on_card.measured` found, of one card or of several.

    Raises
    ------
    InputError
        There is no measurement, a curve cannot be fitted, or there are more cards or ways than can be drawn.
    """
    if not curves:
        raise InputError(
            f"{FIGURE.name} needs measured curves, of which none is shipped: measure them on your card by "
            "workbench.studies.malloc_on_card.measured('warp_lock', [32, 1024, 4096]) and give them as curves."
        )
    cards, ways = ([*dict.fromkeys(names)] for names in zip(*(curve[:2] for curve in curves), strict=True))
    check_room(len(cards), len(ways), FIGURE.name)
    return MallocOnCard(tuple(cards), tuple(_beside(cards.index(one.card), ways.index(one.way), one) for one in curves))


def _beside(panel: int, style: int, curve: Curve) -> Beside:
    fit = fitted(curve)
    return Beside(panel, style, curve, fit, fit.microseconds(curve.contenders))


@on_paper
def draw(data: MallocOnCard) -> Figure:
    """Draw markers where something was measured, lines where the fitted model passes; a panel a card."""
    from workbench.figures import frame, ink

    figure, axes = ink.stacked(len(data.cards), 2.2 if len(data.cards) == 1 else 1.5, share_x=True)
    for line in data.lines:
        _line(axes[line.panel], line)
    for one, card in zip(axes, data.cards, strict=True):
        frame.title(one, card)
        one.set_yscale("log")
    threads = np.unique(np.concatenate([line.curve.threads for line in data.lines]))
    frame.value_axis(axes[-1], threads)
    frame.name_sides(axes, "threads that take memory at once", "a launch (µs)", _note(data))
    frame.legend(figure, axes)
    return figure


def _line(axes: Axes, line: Beside) -> None:
    from workbench.figures import marks
    from workbench.figures.frame import words

    look = marks.look(line.style)
    axes.plot(line.curve.threads, line.modelled, linewidth=0.9, color=look["color"])
    axes.plot(line.curve.threads, line.curve.microseconds, linestyle="none", label=words(line.curve.way), **look)


def _note(data: MallocOnCard) -> str:
    worst = max(line.fit.error for line in data.lines)
    legend = "markers: measured; lines: the lock model fitted to them"
    size = "below 0.01" if worst < 1e-4 else f"at most {100 * worst:.2g}"
    return f"{legend}\nroot mean square difference: {size} %"


EXAMPLE = """\
import numpy as np

import workbench as wb
from workbench.studies.malloc_on_card import Curve

# On a machine with a card: curve = workbench.studies.malloc_on_card.measured("warp_lock", [32, 64, 96, 128])
threads = np.array([32, 64, 96, 128])
curve = Curve("four times made up", "warp_lock", threads, threads // 32, np.array([7.0, 9.5, 12.5, 16.0]))
wb.figure("malloc_on_card", curves=[curve])"""

FIGURE = Calculation(
    "malloc_on_card",
    "Measured times of taking memory on a card, named, beside the lock model that was fitted to them.",
    malloc_on_card_data,
    draw,
    EXAMPLE,
)
