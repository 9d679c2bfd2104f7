"""Who lies where, and when? The memory's segments over time, coloured by workgroup, one panel a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.row import run_id
from workbench.experiments.run_set import RunSet
from workbench.figures.one_run import chosen_span, common_seed, share_shown
from workbench.figures.panels import lines_apart
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.figures.shades import shades
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
    """What is drawn."""

    seed: int
    first: int
    """The cycle at which the picture begins."""
    last: int
    """The cycle at which it ends."""
    panels: tuple[Layout, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a rectangle."""
        sizes = [len(panel.shade) for panel in self.panels]

        def joined(column: str) -> np.ndarray:
            return np.concatenate([getattr(panel.pieces, column) for panel in self.panels])

        return {
            "setting": np.repeat([panel.setting for panel in self.panels], sizes),
            "policy": np.repeat([panel.name for panel in self.panels], sizes),
            "seed": np.full(sum(sizes), self.seed),
            "workgroup": joined("workgroup"),
            "from_cycles": joined("begin"),
            "to_cycles": joined("end"),
            "first_segment": joined("base"),
            "length_segments": joined("length"),
            "shade": np.concatenate([panel.shade for panel in self.panels]),
        }


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
    lines = lines_apart(runs, FIGURE.name)
    chosen = common_seed(runs, seed, FIGURE.name)
    records = [runs.record(run_id(line.point.id, chosen)) for _, line in lines]
    first, last = _span(records, cycles)
    layouts = [_layout(setting, line.name, r, first, last) for (setting, line), r in zip(lines, records, strict=True)]
    return LayoutOverTime(chosen, first, last, tuple(layouts))


def _span(records: list[Any], cycles: tuple[int, int] | None) -> tuple[int, int]:
    if cycles is not None:
        return chosen_span(cycles, FIGURE.name)
    first = min(int(record.grant.min(initial=drain_cycle(record))) for record in records)
    return first, max(first + 1, max(_shown_until(record) for record in records))


def _shown_until(record: Any) -> int:
    if len(record.grant) <= WORKGROUPS:
        return drain_cycle(record)
    return int(np.partition(record.grant, WORKGROUPS)[WORKGROUPS])


def _layout(setting: str, name: str, record: Any, first: int, last: int) -> Layout:
    if not record.addressed:
        nothing = Pieces(*np.zeros((5, 0), np.int64))
        return Layout(setting, name, record.segments, nothing, np.zeros(0, np.int64), NO_ADDRESSES, drain_cycle(record))
    rectangles = pieces(record, until=last)
    seen = (rectangles.end > first) & (rectangles.begin < last)
    kept = Pieces(*(column[seen] for column in rectangles))
    if len(kept.workgroup) > MOST_PIECES:
        raise InputError(
            f"{FIGURE.name} draws {MOST_PIECES} rectangles a panel; {name} has {len(kept.workgroup)} from cycle "
            f"{first} to {last}. Choose a shorter span, such as cycles=({first}, {first + (last - first) // 10})."
        )
    return Layout(setting, name, record.segments, kept, shades(kept), "", drain_cycle(record))


@on_paper
def draw(data: LayoutOverTime) -> Figure:
    """Draw rectangles on white: what is free stays white."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.panels), [0.28 if panel.note else 1.25 for panel in data.panels])
    for one, panel in zip(axes, data.panels, strict=True):
        at = panel.pieces
        marks.rectangles(one, (at.begin, at.end), (at.base, at.base + at.length), panel.shade)
        frame.title(one, ": ".join(part for part in (panel.setting, panel.name) if part))
        one.set_ylim(0, panel.segments)
        one.set_xlim(data.first, data.last)
    part = share_shown(data.first, data.last, [panel.end for panel in data.panels])
    frame.name_sides(axes, "time (cycles)", "segment", f"seed {data.seed}, {part}; white = free")
    for one, panel in zip(axes, data.panels, strict=True):
        if panel.note:
            frame.say_instead(one, panel.note)
    return figure


FIGURE = Recipe(
    "layout_over_time",
    "shared_memory",
    "Which workgroup holds which segments, over time: one run of every policy.",
    layout_over_time_data,
    draw,
)
