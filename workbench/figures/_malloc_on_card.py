"""Measured times of taking memory on a real card, and the lock model that was fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import check_room
from workbench.figures.registry import Calculation, on_paper
from workbench.validation.lock_fit import Curve, LockFit, fitted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


EXAMPLE = """\
import numpy as np

import workbench as wb
from workbench.validation.lock_fit import Curve

# On a machine with a card: curve = workbench.validation.lock_fit.measured("warp_lock", [32, 64, 96, 128])
threads = np.array([32, 64, 96, 128])
curve = Curve("four times made up", "warp_lock", threads, threads // 32, np.array([7.0, 9.5, 12.5, 16.0]))
wb.figure("malloc_on_card", curves=[curve])"""


class FittedCurve(NamedTuple):
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
    lines: tuple[FittedCurve, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a card, way and number of threads; the figures of a fit in each
        row of its curve."""
        return below(
            {
                "card": line.curve.card,
                "way": line.curve.way,
                "threads": line.curve.threads,
                "measured_us": line.curve.microseconds,
                "modelled_us": line.modelled,
                **line.fit._asdict(),
            }
            for line in self.lines
        )


def malloc_on_card_data(curves: Sequence[Curve] = ()) -> MallocOnCard:
    """Compute each measured curve with the lock model that comes nearest to it (spec 2, H2.3).

    Parameters
    ----------
    curves : sequence of Curve
        What `workbench.validation.lock_fit.measured` found, of one card or of several.

    Raises
    ------
    InputError
        There is no measurement, a curve cannot be fitted, or there are more cards or ways than can be drawn.
    """
    if not curves:
        raise InputError(
            "malloc_on_card needs measured curves, of which none is shipped: measure them on your card by "
            "workbench.validation.lock_fit.measured('warp_lock', [32, 256, 1024, 4096]) and give them as curves."
        )
    cards, ways = ([*dict.fromkeys(names)] for names in zip(*(curve[:2] for curve in curves), strict=True))
    check_room(len(cards), len(ways), "malloc_on_card")
    lines = [
        FittedCurve(cards.index(one.card), ways.index(one.way), one, fit, fit.microseconds(one.contenders))
        for one in curves
        for fit in [fitted(one)]
    ]
    return MallocOnCard(tuple(cards), tuple(lines))


@on_paper
def draw_malloc_on_card(data: MallocOnCard) -> Figure:
    """Draw markers where something was measured, lines where the fitted model passes; a panel a card."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.cards), 2.2 if len(data.cards) == 1 else 1.5, share_x=True)
    for line in data.lines:
        one, curve, look = axes[line.panel], line.curve, marks.line_look(line.style)
        one.plot(curve.threads, line.modelled, linewidth=0.9, color=look["color"])
        one.plot(curve.threads, curve.microseconds, linestyle="none", label=frame.words(curve.way), **look)
    for one, card in zip(axes, data.cards, strict=True):
        frame.title(one, card)
        one.set_yscale("log")
    frame.value_axis(axes[-1], np.unique(np.concatenate([line.curve.threads for line in data.lines])))
    worst = max(line.fit.error for line in data.lines)
    size = "below 0.01" if worst < 1e-4 else f"at most {100 * worst:.2g}"
    note = f"markers: measured; lines: the lock model fitted to them\nheld-out root mean square error: {size} %"
    frame.name_sides(axes, "threads that take memory at once", "a launch (µs)", note)
    frame.legend(figure, axes)
    return figure


MALLOC_ON_CARD_FIGURE = Calculation(
    "malloc_on_card",
    "Measured times of taking memory on a card, named, beside the lock model that was fitted to them.",
    malloc_on_card_data,
    draw_malloc_on_card,
    EXAMPLE,
)
