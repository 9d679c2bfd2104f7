"""Which workgroup holds which segments over time, one panel a policy.

Segments are colored by workgroup; neighbors differ in color and in grey.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import chosen_span, heading, one_run_each, span_words
from workbench.figures.registry import on_paper, recipe
from workbench.metrics.shared_memory import Pieces, pieces
from workbench.records.shared_memory import drain_cycle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WORKGROUPS = 150
"""How many grants of a panel the picture shows unless cycles are chosen: more are thinner than a pixel."""
MOST_PIECES = 5_000

NO_ADDRESSES = "no addresses: grants are amounts only"


class Layout(NamedTuple):
    """One panel."""

    setting: str
    name: str
    segments: int
    """Of the memory."""
    pieces: Pieces
    """The rectangles that lie at least partly in the span of the picture; none where there are no addresses."""
    shade: np.ndarray
    """int64[pieces], neighbours differ."""
    note: str
    """Why there is nothing to see, where that is so."""
    end: int
    """The cycle at which the run is over."""


class LayoutOverTime(NamedTuple):
    """Which workgroup holds which segments, over time: one run of every policy."""

    seed: int
    first: int
    """The cycle at which the picture begins."""
    last: int
    """The cycle at which it ends."""
    panels: tuple[Layout, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a rectangle."""
        return below(
            {
                "setting": panel.setting,
                "policy": panel.name,
                "seed": self.seed,
                "workgroup": panel.pieces.workgroup,
                "from_cycles": panel.pieces.begin,
                "to_cycles": panel.pieces.end,
                "first_segment": panel.pieces.base,
                "length_segments": panel.pieces.length,
                "shade": panel.shade,
            }
            for panel in self.panels
        )


def layout_over_time_data(
    runs: RunSet, seed: int | None = None, cycles: tuple[int, int] | None = None
) -> LayoutOverTime:
    """Compute the rectangles of segments and cycles that workgroups hold, in one run of every point.

    Parameters
    ----------
    seed : int, optional
        Which run; the first seed that every point finished if None.
    cycles : (int, int), optional
        From when to when; from the first grant until every panel has shown 150 workgroups if None.

    Raises
    ------
    InputError
        No seed was finished by all points, the cycles are no span, or too much lies within them.
    """
    chosen, kept = one_run_each(runs, seed, "layout_over_time")
    first, last = _span_of_cycles([record for *_, record in kept], cycles)
    return LayoutOverTime(chosen, first, last, tuple(_segment_layout(*one, first, last) for one in kept))


def _span_of_cycles(records: list[Any], cycles: tuple[int, int] | None) -> tuple[int, int]:
    if cycles is not None:
        return chosen_span(cycles, "layout_over_time")
    first = min(int(record.grant.min(initial=drain_cycle(record))) for record in records)
    return first, max(first + 1, max(_end_of_workgroups(record) for record in records))


def _end_of_workgroups(record: Any) -> int:
    if len(record.grant) <= WORKGROUPS:
        return drain_cycle(record)
    return int(np.partition(record.grant, WORKGROUPS)[WORKGROUPS])


def _segment_layout(setting: str, name: str, record: Any, first: int, last: int) -> Layout:
    if not record.addressed:
        empty = Pieces(*np.zeros((5, 0), np.int64))
        return Layout(setting, name, record.segments, empty, np.zeros(0, np.int64), NO_ADDRESSES, drain_cycle(record))
    rectangles = pieces(record, until=last)
    visible = (rectangles.end > first) & (rectangles.begin < last)
    kept = Pieces(*(column[visible] for column in rectangles))
    if len(kept.workgroup) > MOST_PIECES:
        raise InputError(
            f"layout_over_time draws {MOST_PIECES} rectangles a panel; {name} has {len(kept.workgroup)} from cycle "
            f"{first} to {last}. Choose a shorter span, such as cycles=({first}, {first + (last - first) // 10})."
        )
    return Layout(setting, name, record.segments, kept, shades(kept), "", drain_cycle(record))


@on_paper
def draw_layout_over_time(data: LayoutOverTime) -> Figure:
    """Draw rectangles on white: what is free stays white."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.panels), [0.28 if panel.note else 1.25 for panel in data.panels])
    for one, panel in zip(axes, data.panels, strict=True):
        at = panel.pieces
        marks.rectangles(one, (at.begin, at.end), (at.base, at.base + at.length), panel.shade)
        frame.title(one, heading(panel.setting, panel.name))
        one.set_ylim(0, panel.segments)
        one.set_xlim(data.first, data.last)
    part = span_words(data.first, data.last, [panel.end for panel in data.panels])
    frame.name_sides(axes, "time (cycles)", "segment", f"seed {data.seed}, {part}; white = free")
    for one, panel in zip(axes, data.panels, strict=True):
        if panel.note:
            frame.say_instead(one, panel.note)
    return figure


SHADES = 5
"""How many there are. Four would do for single rectangles (four colour theorem), but not one by one in order."""


def shades(pieces: Pieces) -> np.ndarray:
    """Return a shade a piece: int64[pieces], from 0 to SHADES - 1; all pieces of a workgroup have the same.

    Workgroups choose in their order: of the shades that the fewest neighbours have, the one used least so far; the
    lower one wins a tie. Neighbours share an edge, in space or in time.
    """
    chosen = np.full(len(pieces.workgroup), -1)
    used = np.zeros(SHADES, np.int64)
    starts = np.flatnonzero(np.diff(pieces.workgroup, prepend=-1))
    for first, beyond in zip(starts, np.append(starts[1:], len(chosen)), strict=True):
        near = np.zeros(len(chosen), bool)
        for piece in range(first, beyond):
            near |= _neighbors(pieces, piece)
        around = np.bincount(chosen[near & (chosen >= 0)], minlength=SHADES)
        shade = int(np.lexsort((used, around))[0])
        chosen[first:beyond] = shade
        used[shade] += 1
    return chosen


def _neighbors(pieces: Pieces, piece: int) -> np.ndarray:
    begin, end, base, top = pieces.begin, pieces.end, pieces.base, pieces.base + pieces.length
    together = (begin < end[piece]) & (end > begin[piece])
    level = (base < top[piece]) & (top > base[piece])
    adjacent = (base == top[piece]) | (top == base[piece])
    after = (begin == end[piece]) | (end == begin[piece])
    return np.asarray((together & adjacent) | (level & after))


LAYOUT_OVER_TIME_FIGURE = recipe("shared_memory", layout_over_time_data, draw_layout_over_time)
