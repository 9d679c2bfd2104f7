"""Which workgroup holds which segments over time, one panel a policy.

Workgroups are colored by their size, in one hue; free segments have another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import chosen_span, heading, one_run_each, span_words
from workbench.figures.registry import on_paper, recipe
from workbench.figures.size_steps import size_steps
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
    held: np.ndarray
    """int64[pieces], the segments that the workgroup holds in all."""
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
                "workgroup_segments": panel.held,
            }
            for panel in self.panels
        )


def layout_over_time_data(
    runs: Results, seed: int | None = None, cycles: tuple[int, int] | None = None
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
    return Layout(setting, name, record.segments, kept, record.length[kept.workgroup], "", drain_cycle(record))


@on_paper
def draw_layout_over_time(data: LayoutOverTime) -> Figure:
    """Draw rectangles from light to dark by the size of the workgroup, on the color of free memory."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.panels), [0.28 if panel.note else 1.25 for panel in data.panels])
    steps = size_steps(panel.held for panel in data.panels)
    for one, panel in zip(axes, data.panels, strict=True):
        at = panel.pieces
        one.set_facecolor(plot_style.palette().paper if panel.note else plot_style.palette().free)
        marks.sized(one, (at.begin, at.end), (at.base, at.base + at.length), steps.of(panel.held))
        frame.title(one, heading(panel.setting, panel.name))
        one.set_ylim(0, panel.segments)
        one.set_xlim(data.first, data.last)
    part = span_words(data.first, data.last, [panel.end for panel in data.panels])
    marks.size_key(axes[0], steps, "segments")
    frame.name_sides(axes, "time (cycles)", "segment", f"seed {data.seed}, {part}")
    for one, panel in zip(axes, data.panels, strict=True):
        if panel.note:
            frame.say_instead(one, panel.note)
    frame.legend(figure, axes)
    return figure


LAYOUT_OVER_TIME_FIGURE = recipe("shared_memory", layout_over_time_data, draw_layout_over_time)
