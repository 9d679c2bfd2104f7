"""Which group runs on which unit of some modules over time, colored by channel or by priority."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.results import Results
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import chosen_span, heading, one_run_each, span_words
from workbench.figures.registry import on_paper, recipe
from workbench.metrics.dispatch_modules import lanes, within
from workbench.metrics.dispatch_rows import by_start, held, makespan, releases

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DISPATCHES = 150
"""How many dispatches of a panel the picture shows unless cycles are chosen: more are thinner than a pixel."""
MODULES = 4
"""How many modules it shows unless they are chosen."""
MOST_PIECES = 8_000
MOST_SWATCHES = 9
KINDS = ("channel", "priority")


class Strips(NamedTuple):
    """One panel: rectangles of wave slots and cycles."""

    setting: str
    name: str
    units: int
    """Of a module."""
    slots: int
    """Wave slots of a unit, or as many as were ever in use where they are not limited."""
    group: np.ndarray
    """int64[pieces]."""
    module: np.ndarray
    unit: np.ndarray
    slot: np.ndarray
    """int64[pieces], the lowest wave slot."""
    waves: np.ndarray
    """int64[pieces], how many slots."""
    begin: np.ndarray
    end: np.ndarray
    """int64[pieces], cycles; of a piece that is held the right edge."""
    held: np.ndarray
    """bool[pieces], whether the group never gives back what it holds, because the run hangs."""
    kind: np.ndarray
    """int64[pieces], the channel, from 0, or the priority, from 1."""
    run_end: int
    """The cycle at which the run is over."""
    hung_at_cycle: int
    """The last cycle at which anything happens in a run that hangs, -1 of one that ends."""
    of_modules: int
    """How many modules the machine has."""

    @property
    def title(self) -> str:
        """Return the name, and when the run hangs."""
        return f"{self.name}, hangs at cycle {self.hung_at_cycle:,}" if self.hung_at_cycle >= 0 else self.name


class DispatchTimeline(NamedTuple):
    """Which group runs on which unit of which module, over time, colored by channel or priority."""

    seed: int
    by: str
    """What the colors tell: channel or priority."""
    modules: tuple[int, int]
    """From which module to which, the last one left out."""
    cycles: tuple[int, int]
    panels: tuple[Strips, ...]

    def kinds(self) -> list[int]:
        """Return the channels or priorities that the colors tell apart."""
        least = 0 if self.by == "channel" else 1
        return [*range(least, 1 + max(int(panel.kind.max(initial=least)) for panel in self.panels))]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a rectangle; what is held for ever has no end."""
        return below(
            {
                "setting": panel.setting,
                "policy": panel.name,
                "seed": self.seed,
                "group": panel.group,
                self.by: panel.kind,
                "module": panel.module,
                "unit": panel.unit,
                "first_slot": panel.slot,
                "waves": panel.waves,
                "from_cycles": panel.begin,
                "to_cycles": ["" if is_held else int(end) for end, is_held in zip(panel.end, panel.held, strict=True)],
            }
            for panel in self.panels
        )


def dispatch_timeline_data(
    runs: Results,
    by: str = "channel",
    seed: int | None = None,
    cycles: tuple[int, int] | None = None,
    modules: tuple[int, int] | None = None,
) -> DispatchTimeline:
    """Compute which dispatch holds which wave slots of which unit when, in one run of every point.

    A wave takes the lowest slot of its unit that is free.

    Parameters
    ----------
    by : {"channel", "priority"}
        What the colors tell; the priority is the static one under which it was dispatched.
    seed : int, optional
        Which run; the first seed that every point finished if None.
    cycles : (int, int), optional
        From when to when; from cycle 0 until every panel has shown 150 dispatches if None.
    modules : (int, int), optional
        From which module to which, the last one left out; the first four if None.

    Raises
    ------
    InputError
        No seed was finished by all points, cycles or modules are no span, or too much lies within them.
    """
    if by not in KINDS:
        raise unknown_name("", "colouring of dispatch_timeline", by, KINDS)
    chosen, kept = one_run_each(runs, seed, "dispatch_timeline")
    kept = [(setting, name, by_start(record)) for setting, name, record in kept]
    records = [record for *_, record in kept]
    displayed = (0, MODULES) if modules is None else chosen_span(modules, "dispatch_timeline", "modules")
    displayed = displayed[0], min(displayed[1], max(record.modules for record in records))
    if displayed[0] >= displayed[1]:
        raise InputError(f"dispatch_timeline: there is no module {displayed[0]}; the last one is {displayed[1] - 1}.")
    span = _span(records, displayed) if cycles is None else chosen_span(cycles, "dispatch_timeline")
    drawn = [strips(*one, by, displayed, span) for one in kept]
    for panel in drawn:
        _check_pieces(panel, span)
    return DispatchTimeline(chosen, by, displayed, span, tuple(drawn))


def _span(records: list[Any], modules: tuple[int, int]) -> tuple[int, int]:
    return 0, max(1, *(_end_of_dispatches(record, modules) for record in records))


def _end_of_dispatches(record: Any, modules: tuple[int, int]) -> int:
    here = record.cycle[(record.module >= modules[0]) & (record.module < modules[1])]
    return int(here[DISPATCHES]) if len(here) > DISPATCHES else makespan(record)


def _check_pieces(panel: Strips, span: tuple[int, int]) -> None:
    if len(panel.kind) > MOST_PIECES:
        shorter = f"cycles=({span[0]}, {span[0] + (span[1] - span[0]) // 10})"
        raise InputError(
            f"dispatch_timeline draws {MOST_PIECES} rectangles a panel; {panel.name} has {len(panel.kind)} from cycle "
            f"{span[0]} to {span[1]}. Choose a shorter span, such as {shorter}, or fewer modules."
        )


def strips(setting: str, name: str, record: Any, by: str, modules: tuple[int, int], span: tuple[int, int]) -> Strips:
    """Return the rectangles of one run that lie at least partly within some modules and cycles, dispatch by dispatch.

    A wave takes the lowest slot of its unit that is free; waves of a dispatch in neighboring slots are one piece.
    """
    kept = within(record, span)
    kept = kept[(record.module[kept] >= modules[0]) & (record.module[kept] < modules[1])]
    placed = lanes(record, kept)
    follows = np.diff(placed.dispatch, prepend=-1) == 0
    follows &= (np.diff(placed.unit, prepend=-1) == 0) & (np.diff(placed.lane, prepend=-1) == 1)
    starts = np.flatnonzero(~follows)
    dispatch = placed.dispatch[starts]
    group, is_held = record.group[dispatch].astype(np.int64), held(record)[dispatch]
    ends = releases(record)[dispatch]
    return Strips(
        setting,
        name,
        record.units,
        _slots(record, placed.lane),
        group,
        record.module[dispatch].astype(np.int64),
        placed.unit[starts],
        placed.lane[starts],
        np.diff(starts, append=len(follows)),
        record.cycle[dispatch],
        np.where(is_held, np.maximum(ends, span[1]), ends),
        is_held,
        (record.channel[group] if by == "channel" else record.level[dispatch]).astype(np.int64),
        makespan(record),
        record.between.hung_at_cycle if record.between is not None else -1,
        record.modules,
    )


def _slots(record: Any, lane: np.ndarray) -> int:
    limited = [int(blocks) for name, blocks in zip(record.resources, record.blocks, strict=True) if name == "waves"]
    return max([*limited, int(lane.max(initial=0)) + 1])


@on_paper
def draw_dispatch_timeline(data: DispatchTimeline) -> Figure:
    """Draw a band a module, a strip a unit, a row a wave slot: what is idle has the color of free memory, as has a
    dispatch's first edge."""
    from workbench.figures import frame, marks, plot_style

    kinds = data.kinds()
    colours = marks.fills(len(kinds))
    count = data.modules[1] - data.modules[0]
    figure, axes = plot_style.stacked(
        len(data.panels), [0.3 + 0.1 * count * min(panel.units, 4) for panel in data.panels]
    )
    for one, panel in zip(axes, data.panels, strict=True):
        row = ((panel.module - data.modules[0]) * panel.units + panel.unit) * panel.slots + panel.slot
        marks.rectangles(one, (panel.begin, panel.end), (row, row + panel.waves), panel.kind - kinds[0], colours)
        one.vlines(panel.begin, row, row + panel.waves, color=plot_style.palette().free, linewidth=0.3)
        one.set_facecolor(plot_style.palette().free)
        frame.title(one, heading(panel.setting, panel.title))
        one.set_xlim(*data.cycles)
        _lines(one, panel, count, data.modules[0])
    labelled = kinds if len(kinds) <= MOST_SWATCHES else [kinds[0], kinds[len(kinds) // 2], kinds[-1]]
    marks.swatches(
        axes[0], [_kind_named(data.by, kind) for kind in labelled], [colours[kind - kinds[0]] for kind in labelled]
    )
    marks.swatches(axes[0], ["idle"], [plot_style.palette().free])
    frame.name_sides(axes, "time (cycles)", "module", _note(data))
    frame.legend(figure, axes)
    return figure


def _lines(axes: Axes, panel: Strips, modules: int, first: int) -> None:
    from workbench.figures import plot_style

    band = panel.units * panel.slots
    axes.hlines(
        np.arange(0, modules * band, panel.slots), *axes.get_xlim(), color=plot_style.palette().quiet, linewidth=0.25
    )
    for module in range(modules + 1):
        axes.axhline(module * band, color=plot_style.palette().ink, linewidth=0.7)
    axes.set_yticks(band * (np.arange(modules) + 0.5), [str(first + module) for module in range(modules)])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(modules * band, 0)


def _kind_named(by: str, kind: int) -> str:
    """Return the name of a channel or a priority in the legend; 1 is the most urgent."""
    return f"{by} {kind}" + (" (most urgent)" if by == "priority" and kind == 1 else "")


def _note(data: DispatchTimeline) -> str:
    units: Sequence[int] = sorted({panel.units for panel in data.panels})
    strips = f"{units[0]} units a module" if len(units) == 1 else "a strip a unit"
    part = span_words(*data.cycles, [panel.run_end for panel in data.panels])
    first, beyond = data.modules
    most = max(panel.of_modules for panel in data.panels)
    rows = f"modules {first} to {beyond - 1} of {most}" if beyond - first < most else "all modules"
    return f"seed {data.seed}, {part}; {rows}, {strips}, a row a wave slot"


DISPATCH_TIMELINE_FIGURE = recipe("dispatch", dispatch_timeline_data, draw_dispatch_timeline)
