"""What probes that save gates refuse: by demand, against their gates, and against their area as synthesised.

The chance that every module refuses a demand, calculated and drawn at random; under-reports and lost dispatches of
every kind of probe against its two-input gates; the same probes as a synthesiser makes them, with the delay of a
report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import synthesised
from workbench.errors import unknown_name
from workbench.figures.estimates import Means, means_of, without_limits
from workbench.figures.panels import check_room
from workbench.figures.registry import Calculation, Column, below, on_paper
from workbench.policies.probes.question import Probe
from workbench.policies.probes.shift_probe import GroupedRun, SampledRun
from workbench.studies.probe_success import (
    LEVELS,
    Setting,
    failure,
    lost_dispatches,
    octave_lengths,
    simulated,
    under_report,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FLOOR = -9.0
"""The decimal logarithm at which the vertical axis ends: one refusal in a billion."""
PROBES = ("exact_run", {"grouped_run": {"groups": 32}}, "sampled_run")


class Refusal(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    demand: np.ndarray
    """int64[demands], blocks that each unit must have in a row."""
    log10_chance: np.ndarray
    """float64[demands], the decimal logarithm of the exact chance of refusal."""
    drawn: Means
    """The share refused of what was drawn at random, with its exact binomial 95 % interval; NaN where nothing was."""


class ProbeSuccess(NamedTuple):
    """What is drawn."""

    level: str
    setting: Setting
    """The machine; its `free` is that of the panels, one after another."""
    machines: int
    """Machines drawn at random, 0 for none."""
    free: tuple[float, ...]
    """One a panel, the probability that a block is free."""
    lines: tuple[Refusal, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a probe, occupancy and demand."""
        return below(
            {
                "free": self.free[line.panel],
                "probe": line.name,
                "demand_blocks": line.demand,
                f"log10_{self.level}_refusal": line.log10_chance,
                **line.drawn.columns("drawn_share", "drawn_low", "drawn_high"),
            }
            for line in self.lines
        )


def probe_success_data(
    probes: Sequence[Any] = PROBES,
    demands: Sequence[int] = range(1, 17),
    free: Sequence[float] = (0.8, 0.5, 0.4),
    level: Literal["unit", "module", "machine"] = "machine",
    setting: Setting = Setting(),  # noqa: B008
    machines: int = 300,
    seed: int = 0,
) -> ProbeSuccess:
    """Compute the chance that a demand is refused by a unit, a module or the whole machine, exactly and drawn at
    random.

    Parameters
    ----------
    probes : sequence of probes
        As a sweep file names them, or as they are: one line each.
    demands : sequence of int
        Blocks that each unit must have in a row.
    free : sequence of float
        The probability that a block is free, 1 - occupancy: one panel each.
    level : {"unit", "module", "machine"}
        Who refuses: one unit, some unit of a module, some unit of every module.
    setting : Setting
        The machine; `free` takes the place of its own.
    machines, seed : int
        How many machines are drawn at random for the dots, 0 for none, and their seed.

    Raises
    ------
    InputError
        A probe's rule is not known or it cannot be built, a demand is not from 1 to the blocks, the level is unknown,
        or there are more panels or lines than can be drawn.
    """
    if level not in LEVELS:
        raise unknown_name("", "level", level, LEVELS)
    check_room(len(free), len(probes), "probe_success")
    read = [Probe.read(probe) for probe in probes]
    lines = tuple(
        _refusal(panel, style, probe, demands, setting._replace(free=chance), LEVELS.index(level), machines, seed)
        for panel, chance in enumerate(free)
        for style, probe in enumerate(read)
    )
    return ProbeSuccess(level, setting, machines, tuple(free), lines)


def _refusal(
    panel: int, style: int, probe: Probe, demands: Sequence[int], setting: Setting, level: int, machines: int, seed: int
) -> Refusal:
    exactly = np.array([failure(probe, demand, setting)[level].log10_failure for demand in demands])
    drawn = without_limits(np.full(len(demands), np.nan))
    if machines:
        drawn = means_of(one[level] for one in simulated(probe, demands, setting, machines=machines, seed=seed))
    return Refusal(panel, probe.short(always=("groups",)), style, np.array(demands, np.int64), exactly, drawn)


@on_paper
def draw_probe_success(data: ProbeSuccess) -> Figure:
    """Draw steps down from certain refusal; dots with intervals where something was drawn at random and refused."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.free), 1.9 if len(data.free) == 1 else 1.25, share_x=True)
    for line in data.lines:
        one, look, seen = axes[line.panel], marks.line_look(line.style), line.drawn.mean > 0
        chance = 10.0 ** np.maximum(line.log10_chance, 2 * FLOOR)
        one.plot(line.demand, chance, linewidth=0.9, label=frame.words(line.name), **look)
        ends = line.drawn.low[seen], line.drawn.high[seen]
        one.vlines(line.demand[seen], *ends, color=look["color"], linewidth=2.6, alpha=0.35)
    for one, free in zip(axes, data.free, strict=True):
        frame.title(one, f"{100 * (1 - free):.3g} % of the blocks occupied")
        one.set_yscale("log")
        one.set_ylim(10**FLOOR, 3)
        one.set_yticks([1e-9, 1e-6, 1e-3, 1])
        one.minorticks_off()
        one.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    demands = sorted({int(d) for line in data.lines for d in line.demand})
    axes[-1].set_xticks(demands[:: -(-len(demands) // 16)])  # not more than there is room for
    setting, refusing = data.setting, {"unit": "a unit refuses", "module": "a module refuses"}
    who = f"chance that {refusing.get(data.level, f'all {setting.modules} modules refuse')}"
    drawn = f"\nbars: 95 % interval of {data.machines} machines drawn at random" if data.machines else ""
    note = f"{setting.blocks} blocks a unit, {setting.units} units a module{drawn}"
    frame.name_sides(axes, "demand on each unit (blocks)", who, note)
    frame.legend(figure, axes)
    return figure


PROBE_SUCCESS_FIGURE = Calculation(
    "probe_success",
    "How likely every module refuses a demand, by probe and occupancy, calculated and drawn at random.",
    probe_success_data,
    draw_probe_success,
)

EXACT = ({"exact_run": {"chain": "doubling", "decode": "scan"}}, "shift_doubling", "prefix_suffix_tree", "bit_serial")
"""The exact probe and its competitors; all that decode do so with gates, so that these are all they have."""


class Family(NamedTuple):
    """Probes of one kind, from the cheapest on; an exact probe is a kind of its own."""

    name: str
    style: int
    probes: tuple[str, ...]
    columns: dict[str, np.ndarray]
    """[probes] each, by name: `cycles` until a report, `lost_dispatches` (the share of demands that the machine could
    serve and the probe refuses) and what else the figure has."""


class Side(NamedTuple):
    """What a panel shows upright: a column times a factor."""

    label: str
    column: str
    times: float = 1
    log: bool = False


class Accuracy(NamedTuple):
    """What is drawn."""

    setting: Setting
    demands: tuple[int, ...]
    """Each as likely as the others."""
    families: tuple[Family, ...]
    x: str
    """The column of the axis that both panels share, logarithmic."""
    x_label: str
    sides: tuple[Side, Side]
    heights: tuple[float, float]
    """Inches of the panels."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a probe."""
        return below({"family": one.name, "probe": one.probes, **one.columns} for one in self.families)


_LOST = Side("lost dispatches (%)", "lost_dispatches", 100)


def probe_accuracy_against_gates_data(
    setting: Setting = Setting(free=0.7),  # noqa: B008
    demands: Sequence[int] = range(1, 17),
) -> Accuracy:
    """Compute every number of groups, sampled run lengths from sparse to dense, and the exact probes, at one occupancy.

    Grouped probes have 2 groups and every further divisor of the blocks; sampled ones have 1, 2, 4, ... run lengths
    between one power of two and the next. Under-reports (blocks that the report falls short of the longest run, on
    average) and losses are exact expectations. Gates are of two inputs, those of decoding included.

    Parameters
    ----------
    setting : Setting
        The machine, and how full it is.
    demands : sequence of int
        What is asked for, each as likely as the others.

    Raises
    ------
    InputError
        There is no such machine, or a demand is not from 1 to its blocks.
    """
    blocks = setting.checked().blocks

    def of(probe: Probe) -> dict[str, float]:
        cost = probe.cost(blocks)
        return {
            "gates": cost.gates,
            "cycles": cost.cycles,
            "gate_levels": cost.depth,
            "under_report_blocks": under_report(probe, setting),
            "lost_dispatches": lost_dispatches(probe, demands, setting),
        }

    sides = Side("under-report (blocks)", "under_report_blocks"), _LOST
    label = "two-input gates, decoding included"
    return Accuracy(setting, tuple(demands), _families(blocks, "gates", of), "gates", label, sides, (1.5, 1.9))


def probe_kinds(blocks: int) -> dict[str, Sequence[object]]:
    """Return the probes of each kind, as a sweep names them: grouped and sampled ones of every density, the exact."""
    groups = [z for z in range(2, blocks // 2 + 1) if blocks % z == 0]
    dense = [1 << k for k in range(max(blocks // 4, 1).bit_length())]
    return {
        "grouped": [{"grouped_run": {"groups": z, "chain": "doubling", "decode": "scan"}} for z in groups],
        "sampled": [{"sampled_run": {"run_lengths": octave_lengths(blocks, n), "decode": "scan"}} for n in dense],
        **{Probe.read(probe).name: [probe] for probe in EXACT},
    }


def _families(blocks: int, by: str, of: Callable[[Probe], dict[str, float]]) -> tuple[Family, ...]:
    """Return the probes of each kind with their numbers, in rising order of one of these."""
    families = []
    for style, (name, kind) in enumerate(probe_kinds(blocks).items()):
        probes = [Probe.read(probe) for probe in kind]
        rows = sorted(((probe, of(probe)) for probe in probes), key=lambda row: row[1][by])
        columns = {column: np.array([numbers[column] for _, numbers in rows]) for column in rows[0][1]}
        families.append(Family(name, style, tuple(probe_label(probe, blocks) for probe, _ in rows), columns))
    return tuple(families)


def probe_label(probe: Probe, blocks: int) -> str:
    """Name groups as Z, sampled run lengths as W, an exact probe by its name."""
    if isinstance(probe, GroupedRun):
        return f"Z={probe.groups}"
    return f"W={len(probe.lengths(blocks))}" if isinstance(probe, SampledRun) else probe.short()


@on_paper
def draw_accuracy(data: Accuracy) -> Figure:
    """Draw lines of groups Z and of sampled lengths W, named where they show what is lost; each exact probe as a
    dot."""
    from workbench.figures import frame, plot_style
    from workbench.figures.marks import Names, line_look, name_all

    figure, axes = plot_style.stacked(2, data.heights, share_x=True)
    for family in data.families:
        cycles = int(family.columns["cycles"][0])
        text = frame.words(family.name) + (f" ({cycles} cycles)" if cycles > 1 else "")
        style = {"linewidth": 0.9, "label": text, "zorder": 2, "clip_on": False, **line_look(family.style)}
        for one, side in zip(axes, data.sides, strict=True):
            one.plot(family.columns[data.x], side.times * family.columns[side.column], **style)
    for one, side in zip(axes, data.sides, strict=True):
        one.set_xscale("log")
        one.set_ylabel(side.label)
        one.margins(0.06, 0.12)
        one.grid(axis="y", color="#DDDDDD", linewidth=0.5)
        if side.log:
            one.set_yscale("log")
    low, high = min(data.demands), max(data.demands)
    demands = f"demands {low} to {high}" if data.demands[1:] else f"demand {low}"
    frame.title(axes[0], f"{100 * (1 - data.setting.free):.3g} % of {data.setting.blocks} blocks occupied, {demands}")
    axes[-1].set_xlabel(data.x_label)
    frame.legend(figure, axes)
    lost = [np.column_stack([one.columns[data.x], 100 * one.columns["lost_dispatches"]]) for one in data.families]
    labels = [(name, len(family.probes)) for family in data.families for name in family.probes]
    named = {k: name for k, (name, together) in enumerate(labels) if together > 1}
    name_all(figure, [Names(axes[data.sides.index(_LOST)], np.concatenate(lost), named, every=False)])
    return figure


PROBE_ACCURACY_AGAINST_GATES_FIGURE = Calculation(
    "probe_accuracy_against_gates",
    "What grouped, sampled and exact probes miss against the gates that they take.",
    probe_accuracy_against_gates_data,
    draw_accuracy,
)


def probe_accuracy_against_area_data(
    setting: Setting = Setting(blocks=64, free=0.7),  # noqa: B008
    demands: Sequence[int] = range(1, 17),
) -> Accuracy:
    """Compute what the probes of `probe_accuracy_against_gates` miss, and their area and delay as synthesised: NAND
    gates of two inputs, and delays of an inverter that drives four.

    A synthesis is kept in the user's cache: the first call takes some minutes, the next ones none.

    Parameters
    ----------
    setting : Setting
        The machine, and how full it is.
    demands : sequence of int
        What is asked for, each as likely as the others.

    Raises
    ------
    InputError
        There is no such machine, or a demand is not from 1 to its blocks.
    WorkbenchError
        No synthesiser is installed (the extra `circuits`), or it did not come to an end.
    """
    blocks = setting.checked().blocks

    def of(probe: Probe) -> dict[str, float]:
        circuit, cycles = circuit_of(probe, blocks), probe.cost(blocks).cycles
        counts = synthesised(circuit)
        return {
            "gates_as_written": circuit.gates,
            "levels_as_written": circuit.levels,
            "gates": counts.area_gates,
            "levels": counts.levels,
            "registers": counts.registers,
            "relative_area": counts.relative_area,
            "delay_fo4": cycles * counts.relative_delay,
            "cycles": cycles,
            "lost_dispatches": lost_dispatches(probe, demands, setting),
        }

    families = _families(blocks, "relative_area", of)
    sides = _LOST, Side("delay of a report (FO4)", "delay_fo4", log=True)
    label = "area as synthesised (NAND gates of two inputs)"
    return Accuracy(setting, tuple(demands), families, "relative_area", label, sides, (1.6, 1.9))


PROBE_ACCURACY_AGAINST_AREA_FIGURE = Calculation(
    "probe_accuracy_against_area",
    "What probes miss, and how long they take, against their area as synthesised.",
    probe_accuracy_against_area_data,
    draw_accuracy,
)
