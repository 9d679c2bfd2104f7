"""Which group runs where and when, how warm modules get, and where the time of a group goes.

The units of some modules over time, coloured by channel or by priority; the coolest, the mean and the hottest module
over time (spec 3, H3.15); and the parts of a group's time, which sum exactly, stacked policy by policy (spec 6, R18).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.figures.curves import WITHOUT_POWER
from workbench.figures.panels import chosen_span, drawn_panels, heading, one_run_each, share_shown, undefined, values
from workbench.figures.registry import Column, below, on_paper, recipe
from workbench.metrics.dispatch_modules import has_heat, has_power, lanes, temperatures, within
from workbench.metrics.dispatch_rows import makespan, releases

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
    """int64[pieces], cycles."""
    kind: np.ndarray
    """int64[pieces], the channel, from 0, or the priority, from 1."""
    run_end: int
    """The cycle at which the run is over."""
    of_modules: int
    """How many modules the machine has."""


class DispatchTimeline(NamedTuple):
    """Which group runs on which unit of which module, over time, coloured by channel or priority."""

    seed: int
    by: str
    """What the colours tell: channel or priority."""
    modules: tuple[int, int]
    """From which module to which, the last one left out."""
    cycles: tuple[int, int]
    panels: tuple[Strips, ...]

    def kinds(self) -> list[int]:
        """Return the channels or priorities that the colours tell apart."""
        least = 0 if self.by == "channel" else 1
        return [*range(least, 1 + max(int(panel.kind.max(initial=least)) for panel in self.panels))]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a rectangle."""
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
                "to_cycles": panel.end,
            }
            for panel in self.panels
        )


def dispatch_timeline_data(
    runs: RunSet,
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
        What the colours tell; the priority is the static one under which it was dispatched.
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
    return 0, max(1, *(_shown_until(record, modules) for record in records))


def _shown_until(record: Any, modules: tuple[int, int]) -> int:
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

    A wave takes the lowest slot of its unit that is free; waves of a dispatch in slots beside each other are one piece.
    """
    kept = within(record, span)
    kept = kept[(record.module[kept] >= modules[0]) & (record.module[kept] < modules[1])]
    placed = lanes(record, kept)
    follows = np.diff(placed.dispatch, prepend=-1) == 0
    follows &= (np.diff(placed.unit, prepend=-1) == 0) & (np.diff(placed.lane, prepend=-1) == 1)
    starts = np.flatnonzero(~follows)
    dispatch = placed.dispatch[starts]
    group = record.group[dispatch].astype(np.int64)
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
        releases(record)[dispatch],
        (record.channel[group] if by == "channel" else record.level[dispatch]).astype(np.int64),
        makespan(record),
        record.modules,
    )


def _slots(record: Any, lane: np.ndarray) -> int:
    limited = [int(blocks) for name, blocks in zip(record.resources, record.blocks, strict=True) if name == "waves"]
    return max([*limited, int(lane.max(initial=0)) + 1])


@on_paper
def draw_dispatch_timeline(data: DispatchTimeline) -> Figure:
    """Draw a band a module, a strip a unit, a row a wave slot: what is idle stays white, as is a dispatch's first
    edge."""
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
        one.vlines(panel.begin, row, row + panel.waves, color="white", linewidth=0.3)
        frame.title(one, heading(panel.setting, panel.name))
        _lines(one, panel, count, data.modules[0])
        one.set_xlim(*data.cycles)
    labelled = kinds if len(kinds) <= MOST_SWATCHES else [kinds[0], kinds[len(kinds) // 2], kinds[-1]]
    marks.swatches(
        axes[0], [_kind_named(data.by, kind) for kind in labelled], [colours[kind - kinds[0]] for kind in labelled]
    )
    frame.name_sides(axes, "time (cycles)", "module", _note(data))
    frame.legend(figure, axes)
    return figure


def _lines(axes: Axes, panel: Strips, modules: int, first: int) -> None:
    from workbench.figures import marks

    band = panel.units * panel.slots
    axes.hlines(np.arange(0, modules * band, panel.slots), *axes.get_xlim(), color=marks.QUIET, linewidth=0.25)
    for module in range(modules + 1):
        axes.axhline(module * band, color=marks.INK, linewidth=0.7)
    axes.set_yticks(band * (np.arange(modules) + 0.5), [str(first + module) for module in range(modules)])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(modules * band, 0)


def _kind_named(by: str, kind: int) -> str:
    """Return what the legend calls a channel or a priority; 1 is the most urgent."""
    return f"{by} {kind}" + (" (most urgent)" if by == "priority" and kind == 1 else "")


def _note(data: DispatchTimeline) -> str:
    units: Sequence[int] = sorted({panel.units for panel in data.panels})
    strips = f"{units[0]} units a module" if len(units) == 1 else "a strip a unit"
    part = share_shown(*data.cycles, [panel.run_end for panel in data.panels])
    first, beyond = data.modules
    most = max(panel.of_modules for panel in data.panels)
    rows = f"modules {first} to {beyond - 1} of {most}" if beyond - first < most else "all modules"
    return f"seed {data.seed}, {part}; {rows}, {strips}, a row a wave slot; white = idle"


DISPATCH_TIMELINE_FIGURE = recipe("dispatch", dispatch_timeline_data, draw_dispatch_timeline)

PLACES = 600
"""Steps that are drawn: more than a column of a paper has dots of print."""


class Warmth(NamedTuple):
    """One panel."""

    setting: str
    name: str
    cycle: np.ndarray
    """int64[places], the ends of the steps that are drawn, from cycle 0 on."""
    coolest: np.ndarray
    mean: np.ndarray
    hottest: np.ndarray
    """float64[places], degrees Celsius."""


class TemperatureOverTime(NamedTuple):
    """The coolest and the hottest module, and the mean of all, over time: one run of every policy."""

    seed: int
    panels: tuple[Warmth, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a panel and cycle."""
        return below(
            {
                "setting": panel.setting,
                "policy": panel.name,
                "seed": self.seed,
                "time_cycles": panel.cycle,
                **{f"{name}_degrees_c": getattr(panel, name) for name in ("coolest", "mean", "hottest")},
            }
            for panel in self.panels
        )


def temperature_over_time_data(runs: RunSet, seed: int | None = None) -> TemperatureOverTime:
    """Compute the coolest and the hottest module, and the mean of all, at the ends of thermal steps of one run of every
    point.

    Parameters
    ----------
    seed : int, optional
        Which run; the first seed that every point finished if None.

    Raises
    ------
    InputError
        No seed was finished by all points, there are too many points, or heat was not simulated.
    """
    chosen, kept = one_run_each(runs, seed, "temperature_over_time")
    return TemperatureOverTime(chosen, tuple(_warmth(*one) for one in kept))


def _warmth(setting: str, name: str, record: Any) -> Warmth:
    if not has_power(record):
        raise InputError(f"temperature_over_time needs {WITHOUT_POWER.format(name)}")
    if not has_heat(record):
        raise InputError(
            f"temperature_over_time needs heat, which {name} does not simulate. Say options: {{heat: rc_heat}}."
        )
    parts = [np.stack([heat.min(axis=1), heat.mean(axis=1), heat.max(axis=1)]) for heat in temperatures(record)]
    whole = np.concatenate([np.zeros((3, 1)), *parts], axis=1) + record.heat.ambient()
    kept = np.unique(np.linspace(0, whole.shape[1] - 1, PLACES).round().astype(np.int64))
    return Warmth(setting, name, kept * record.heat.cycles(), *whole[:, kept])


@on_paper
def draw_temperature_over_time(data: TemperatureOverTime) -> Figure:
    """Draw a band from the coolest to the hottest module with the mean in it; all panels have the same axes."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.panels), 1.75 if len(data.panels) == 1 else 1.1, share_x=True)
    low = min(float(panel.coolest.min()) for panel in data.panels)
    high = max(float(panel.hottest.max()) for panel in data.panels)
    for one, panel in zip(axes, data.panels, strict=True):
        one.fill_between(panel.cycle, panel.coolest, panel.hottest, color=marks.BAD, alpha=0.45, linewidth=0)
        one.plot(panel.cycle, panel.mean, color=marks.INK)
        frame.title(one, heading(panel.setting, panel.name))
        one.set_xlim(0, max(int(other.cycle[-1]) for other in data.panels) or 1)
        one.set_ylim(low, high + 0.05 * (high - low) + 1e-9)
    note = f"seed {data.seed}; mean of the modules, from the coolest to the hottest"
    frame.name_sides(axes, "time (cycles)", "temperature (°C)", note)
    return figure


TEMPERATURE_OVER_TIME_FIGURE = recipe("dispatch", temperature_over_time_data, draw_temperature_over_time)

PARTS = {
    "compute": ("compute", "#C4C4C4"),
    "channel": ("wait in channel", "#E69F00"),
    "memory": ("wait for memory", "#23394A"),
    "issue": ("issue", "#D9F0D3"),
    "walkers": ("wait for walkers", "#00694C"),
    "translation": ("other translation", "#66C2A4"),
    "link": ("link", "#56B4E9"),
    "shoot_down": ("shoot-down", "#6A3D9A"),
    "malloc_service": ("malloc service", "#F4B6C2"),
    "malloc_lock": ("malloc lock", "#D55E00"),
    "heap_chunk": ("heap chunk", "#7F0000"),
}
"""In the order of the bars: the words and the colour of each part. A mechanism has a hue."""
_LETTERS = 24
"""Of a line of a bar's name."""
_MOST_NAMES = 44
"""Letters of a bar's name; longer ones are told by their place: the baseline, the others."""


class Bar(NamedTuple):
    """One bar."""

    panel: int
    name: str
    n: int
    """Seeds that it is the mean of."""
    cycles: np.ndarray
    """float64[parts], of the mean group, averaged over the seeds."""
    percent: np.ndarray
    """The same over the sum of the panel's first bar."""


class WhereTimeGoes(NamedTuple):
    """Where the time of a group goes: waits for memory, channel, walkers, links, heaps and compute, stacked by
    policy."""

    titles: tuple[str, ...]
    """One a panel."""
    bars: tuple[Bar, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a bar and part."""
        return below(
            {
                "setting": self.titles[bar.panel],
                "line": bar.name,
                "seeds": bar.n,
                "part": [*PARTS],
                "mean_cycles": bar.cycles,
                "percent_of_first": bar.percent,
            }
            for bar in self.bars
        )


def where_time_goes_data(runs: RunSet) -> WhereTimeGoes:
    """Compute the mean parts of a group's time, averaged over the seeds that have groups, bar by bar.

    Raises
    ------
    InputError
        There are more panels or bars than can be drawn, or a point has no finished run in which a group ended.
    """
    panels, bars = drawn_panels(runs, "where_time_goes"), list[Bar]()
    for place, panel in enumerate(panels):
        whole = 0.0
        for line in panel.lines:
            cycles, n = _cycles(runs, line.point)
            whole = whole or float(cycles.sum())
            bars.append(Bar(place, line.name, n, cycles, 100 * cycles / (whole or np.nan)))
    return WhereTimeGoes(tuple(panel.title for panel in panels), _named(bars))


def _cycles(runs: RunSet, point: PlannedPoint) -> tuple[np.ndarray, int]:
    columns = [values(runs, point, f"group_mean_{name}_cycles", "where_time_goes") for name in PARTS]
    seeds = list(columns[0])
    if not seeds:
        raise undefined(runs, point, "group_mean_cycles", "where_time_goes")
    return np.array([[column[seed] for seed in seeds] for column in columns]).mean(axis=1), len(seeds)


def _named(bars: list[Bar]) -> tuple[Bar, ...]:
    """Return the bars, those of two that differ in too much for a name as baseline and the documents' policies."""
    if max((len(bar.name) for bar in bars), default=0) <= _MOST_NAMES:
        return tuple(bars)
    sizes = {panel: sum(bar.panel == panel for bar in bars) for panel in {bar.panel for bar in bars}}
    if set(sizes.values()) != {2}:
        return tuple(bars)
    return tuple(bar._replace(name="other" if k % 2 else "baseline") for k, bar in enumerate(bars))


@on_paper
def draw_where_time_goes(data: WhereTimeGoes) -> Figure:
    """Draw a bar of all parts a policy, the first on top, all of a panel in percent of the first."""
    from workbench.figures import frame, marks, plot_style

    rows = [[bar for bar in data.bars if bar.panel == place] for place in range(len(data.titles))]
    names, colours = zip(*PARTS.values(), strict=True)
    figure, axes = plot_style.stacked(len(rows), [0.33 + 0.24 * len(bars) for bars in rows], share_x=True)
    for one, title, bars in zip(axes, data.titles, rows, strict=True):
        frame.title(one, f"{title}: {bars[0].cycles.sum():,.0f} cycles a group" if title else "")
        percent = np.stack([bar.percent for bar in bars])
        marks.stacked_bars(one, [bar.name for bar in bars], percent, colours, _LETTERS, height=0.76, linewidth=0.25)
        one.axvline(100, color=marks.INK, linewidth=0.6, linestyle=":")
    axes[0].set_xlim(0, 1.02 * max(float(bar.percent.sum()) for bar in data.bars))  # all panels share it
    marks.swatches(axes[0], names, colours)
    seeds = sorted({bar.n for bar in data.bars})
    note = f"means of {seeds[0]}{f' to {seeds[-1]}' if seeds[1:] else ''} seeds"
    frame.name_sides(axes, "time of a group (% of the first bar)", note=note if seeds != [1] else "one seed")
    frame.legend(figure, axes)
    return figure


WHERE_TIME_GOES_FIGURE = recipe("node", where_time_goes_data, draw_where_time_goes)
