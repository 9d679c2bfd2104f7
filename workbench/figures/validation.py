"""Models beside what was measured: the lock model and a real card, a replay and the recorded allocator.

Measured launches stand beside the model that was fitted to them; of a replay is drawn whether it reserves what
PyTorch's allocator reserved, and whether everything lies where it lay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.panels import check_room, common_seed
from workbench.figures.registry import Calculation, Column, below, on_paper, recipe
from workbench.studies.malloc_validation import Curve, LockFit, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
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
        What `workbench.studies.malloc_validation.measured` found, of one card or of several.

    Raises
    ------
    InputError
        There is no measurement, a curve cannot be fitted, or there are more cards or ways than can be drawn.
    """
    if not curves:
        raise InputError(
            "malloc_on_card needs measured curves, of which none is shipped: measure them on your card by "
            "workbench.studies.malloc_validation.measured('warp_lock', [32, 1024, 4096]) and give them as curves."
        )
    cards, ways = ([*dict.fromkeys(names)] for names in zip(*(curve[:2] for curve in curves), strict=True))
    check_room(len(cards), len(ways), "malloc_on_card")
    lines = [
        Beside(cards.index(one.card), ways.index(one.way), one, fit, fit.microseconds(one.contenders))
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
    note = f"markers: measured; lines: the lock model fitted to them\nroot mean square difference: {size} %"
    frame.name_sides(axes, "threads that take memory at once", "a launch (µs)", note)
    frame.legend(figure, axes)
    return figure


EXAMPLE = """\
import numpy as np

import workbench as wb
from workbench.studies.malloc_validation import Curve

# On a machine with a card: curve = workbench.studies.malloc_validation.measured("warp_lock", [32, 64, 96, 128])
threads = np.array([32, 64, 96, 128])
curve = Curve("four times made up", "warp_lock", threads, threads // 32, np.array([7.0, 9.5, 12.5, 16.0]))
wb.figure("malloc_on_card", curves=[curve])"""

MALLOC_ON_CARD_FIGURE = Calculation(
    "malloc_on_card",
    "Measured times of taking memory on a card, named, beside the lock model that was fitted to them.",
    malloc_on_card_data,
    draw_malloc_on_card,
    EXAMPLE,
)

GIB = 1 << 30
_COUNTS = ("segment_allocs", "segment_allocs_reproduced", "allocs", "addresses_reproduced")


class RecordedAgainstReplayed(NamedTuple):
    """Memory reserved at the peak as recorded and as replayed, and the share of addresses that came out, by
    recording."""

    names: tuple[str, ...]
    recorded_gib: np.ndarray
    """float64[recordings], reserved at the peak."""
    replayed_gib: np.ndarray
    counts: np.ndarray
    """int64[recordings, 4], segment allocations and those reproduced, allocations and addresses reproduced."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a recording."""
        counts = {name: self.counts[:, k] for k, name in enumerate(_COUNTS)}
        return {"recording": self.names, "recorded_gib": self.recorded_gib, "replayed_gib": self.replayed_gib, **counts}


def recorded_against_replayed_data(runs: RunSet) -> RecordedAgainstReplayed:
    """Compute the reserved bytes at the peak as recorded and as replayed, and how much of the history came out, by
    recording.

    Raises
    ------
    InputError
        A point has no finished run, or nothing that was recorded to compare with.
    """
    seed = common_seed(runs, None, "recorded_against_replayed")
    names = ("recorded_reserved_peak_bytes", "reserved_peak_bytes", *_COUNTS)
    table = np.array([[runs.values(point, name).get(seed, np.nan) for name in names] for point in runs.points])
    if np.isnan(table).any():
        raise InputError(
            "recorded_against_replayed needs memory snapshots replayed as they were recorded: settings: recorded."
        )
    displayed = tuple(runs.label(point) for point in runs.points)
    return RecordedAgainstReplayed(displayed, table[:, 0] / GIB, table[:, 1] / GIB, table[:, 2:].astype(np.int64))


@on_paper
def draw_recorded_against_replayed(data: RecordedAgainstReplayed) -> Figure:
    """Draw a point a recording on the diagonal of what is equal; beside it what share of the addresses came out."""
    from workbench.figures import plot_style

    figure, (plane, bars) = plot_style.stacked(2, (2.2, 0.4 + 0.22 * len(data.names)))
    both = np.concatenate([data.recorded_gib, data.replayed_gib])
    ends = 0.8 * float(both.min()), 1.25 * float(both.max())
    plane.plot(ends, ends, color="#BBBBBB", linewidth=0.8)
    plane.plot(data.recorded_gib, data.replayed_gib, "o", color="#222222", markersize=3.5)
    plane.set(xscale="log", yscale="log", xlabel="recorded peak (GiB)", ylabel="replayed peak (GiB)")
    for side in (plane.xaxis, plane.yaxis):
        _plain_ticks(side, ends)
    _counts_bars(bars, data)
    return figure


def _counts_bars(bars: Axes, data: RecordedAgainstReplayed) -> None:
    """Draw a bar a recording, as long as the share of its addresses that came out, with the counts."""
    places = np.arange(len(data.names))[::-1]
    bars.barh(places, 100 * data.counts[:, 3] / np.maximum(data.counts[:, 2], 1), color="#D0D0D0")
    for place, (segments, got, allocs, same) in zip(places, data.counts, strict=True):
        bars.text(2, place, f"{same:,}/{allocs:,}, segments {got:,}/{segments:,}", va="center", fontsize="small")
    bars.set_yticks(places, [name.removeprefix("trace=") for name in data.names])
    bars.set(xlim=(0, 100), xlabel="addresses reproduced (%)")


def _plain_ticks(side: Axis, ends: tuple[float, float]) -> None:
    """Put numbers such as 1, 2, 5, 10 along a logarithmic side."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    steps = [step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5)]
    side.set_major_locator(FixedLocator([step for step in steps if ends[0] <= step <= ends[1]]))
    side.set_major_formatter(StrMethodFormatter("{x:g}"))
    side.set_minor_locator(NullLocator())


RECORDED_AGAINST_REPLAYED_FIGURE = recipe(
    "torch_allocator", recorded_against_replayed_data, draw_recorded_against_replayed
)
