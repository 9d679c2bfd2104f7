"""What probes that save gates refuse: by demand, against their gates, and against their area as synthesised.

The chance that every module refuses a demand, calculated and drawn at random; under-reports and lost dispatches of
every kind of probe against its two-input gates; the same probes as a synthesiser makes them, with the delay of a
report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import Counts, synthesised
from workbench.errors import unknown_name
from workbench.figures.estimates import Means, means_of
from workbench.figures.panels import check_room
from workbench.figures.registry import Calculation, Column, on_paper
from workbench.policies.probes import GroupedRun, Probe, SampledRun
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
    from matplotlib.axes import Axes
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
        sizes = [len(line.demand) for line in self.lines]
        return {
            "free": np.repeat([self.free[line.panel] for line in self.lines], sizes),
            "probe": np.repeat([line.name for line in self.lines], sizes),
            "demand_blocks": np.concatenate([line.demand for line in self.lines]),
            f"log10_{self.level}_refusal": np.concatenate([line.log10_chance for line in self.lines]),
            "drawn_share": np.concatenate([line.drawn.mean for line in self.lines]),
            "drawn_low": np.concatenate([line.drawn.low for line in self.lines]),
            "drawn_high": np.concatenate([line.drawn.high for line in self.lines]),
        }


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
    check_room(len(free), len(probes), PROBE_SUCCESS_FIGURE.name)
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
    drawn = Means(*np.full((3, len(demands)), np.nan))
    if machines:
        drawn = means_of(one[level] for one in simulated(probe, demands, setting, machines=machines, seed=seed))
    return Refusal(panel, probe.short(always=("groups",)), style, np.array(demands, np.int64), exactly, drawn)


@on_paper
def draw_probe_success(data: ProbeSuccess) -> Figure:
    """Draw steps down from certain refusal; dots with intervals where something was drawn at random and refused."""
    from workbench.figures import frame, plot_style

    figure, axes = plot_style.stacked(len(data.free), 1.9 if len(data.free) == 1 else 1.25, share_x=True)
    for line in data.lines:
        _refusal_line(axes[line.panel], line)
    for one, free in zip(axes, data.free, strict=True):
        frame.title(one, f"{100 * (1 - free):.3g} % of the blocks occupied")
        one.set_yscale("log")
        one.set_ylim(10**FLOOR, 3)
        one.set_yticks([1e-9, 1e-6, 1e-3, 1])
        one.minorticks_off()
        one.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    axes[-1].set_xticks(_some(sorted({int(d) for line in data.lines for d in line.demand})))
    frame.name_sides(axes, "demand on each unit (blocks)", _who(data), _note(data))
    frame.legend(figure, axes)
    return figure


def _refusal_line(axes: Axes, line: Refusal) -> None:
    from workbench.figures import marks
    from workbench.figures.frame import words

    look = marks.look(line.style)
    chance = 10.0 ** np.maximum(line.log10_chance, 2 * FLOOR)
    seen = line.drawn.mean > 0
    axes.plot(line.demand, chance, linewidth=0.9, label=words(line.name), **look)
    axes.vlines(
        line.demand[seen], line.drawn.low[seen], line.drawn.high[seen], color=look["color"], linewidth=2.6, alpha=0.35
    )


def _some(demands: list[int]) -> list[int]:
    """Choose not more ticks than there is room for."""
    return demands[:: -(-len(demands) // 16)]


def _who(data: ProbeSuccess) -> str:
    refusing = {"unit": "a unit refuses", "module": "a module refuses"}
    return f"chance that {refusing.get(data.level, f'all {data.setting.modules} modules refuse')}"


def _note(data: ProbeSuccess) -> str:
    setting = data.setting
    drawn = f"\nbars: 95 % interval of {data.machines} machines drawn at random" if data.machines else ""
    return f"{setting.blocks} blocks a unit, {setting.units} units a module{drawn}"


PROBE_SUCCESS_FIGURE = Calculation(
    "probe_success",
    "How likely every module refuses a demand, by probe and occupancy, calculated and drawn at random.",
    probe_success_data,
    draw_probe_success,
)

EXACT = ({"exact_run": {"chain": "doubling", "decode": "scan"}}, "shift_doubling", "prefix_suffix_tree", "bit_serial")
"""The exact probe and its competitors; all that decode do so with gates, so that these are all they have."""


class GatesFamily(NamedTuple):
    """Probes of one kind, from the cheapest on; an exact probe is a kind of its own."""

    name: str
    style: int
    probes: tuple[str, ...]
    gates: np.ndarray
    """int64[probes], two-input gates, those of decoding included."""
    cycles: np.ndarray
    """int64[probes], until a report."""
    depth: np.ndarray
    """int64[probes], gate levels until a report."""
    under_report: np.ndarray
    """float64[probes], blocks that the report falls short of the longest run, on average."""
    lost: np.ndarray
    """float64[probes], the share of demands that the machine could serve and the probe refuses."""


class AccuracyAgainstGates(NamedTuple):
    """What is drawn."""

    setting: Setting
    demands: tuple[int, ...]
    """Each as likely as the others."""
    families: tuple[GatesFamily, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a probe."""
        families = self.families
        return {
            "family": np.repeat([family.name for family in families], [len(family.probes) for family in families]),
            "probe": [probe for family in families for probe in family.probes],
            "gates": np.concatenate([family.gates for family in families]),
            "cycles": np.concatenate([family.cycles for family in families]),
            "gate_levels": np.concatenate([family.depth for family in families]),
            "under_report_blocks": np.concatenate([family.under_report for family in families]),
            "lost_dispatches": np.concatenate([family.lost for family in families]),
        }


def probe_accuracy_against_gates_data(
    setting: Setting = Setting(free=0.7),  # noqa: B008
    demands: Sequence[int] = range(1, 17),
) -> AccuracyAgainstGates:
    """Compute every number of groups, sampled run lengths from sparse to dense, and the exact probes, at one occupancy.

    Grouped probes have 2 groups and every further divisor of the blocks; sampled ones have 1, 2, 4, ... run lengths
    between one power of two and the next. Under-reports and losses are exact expectations.

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
    blocks, demands = setting.checked().blocks, tuple(demands)
    families = [
        _gates_family(name, style, [Probe.read(probe) for probe in probes], demands, setting)
        for style, (name, probes) in enumerate(probe_kinds(blocks).items())
    ]
    return AccuracyAgainstGates(setting, demands, tuple(families))


def probe_kinds(blocks: int) -> dict[str, Sequence[object]]:
    """Return the probes of each kind, as a sweep names them: grouped and sampled ones of every density, the exact."""
    groups = [z for z in range(2, blocks // 2 + 1) if blocks % z == 0]
    dense = [1 << k for k in range(max(blocks // 4, 1).bit_length())]
    return {
        "grouped": [{"grouped_run": {"groups": z, "chain": "doubling", "decode": "scan"}} for z in groups],
        "sampled": [{"sampled_run": {"run_lengths": octave_lengths(blocks, n), "decode": "scan"}} for n in dense],
        **{Probe.read(probe).name: [probe] for probe in EXACT},
    }


def _gates_family(name: str, style: int, probes: list[Probe], demands: Sequence[int], setting: Setting) -> GatesFamily:
    costs = [probe.cost(setting.blocks) for probe in probes]
    cheapest_first = sorted(range(len(probes)), key=lambda k: costs[k].gates)
    ordered = [probes[k] for k in cheapest_first]
    return GatesFamily(
        name,
        style,
        tuple(probe_label(probe, setting.blocks) for probe in ordered),
        np.array([costs[k].gates for k in cheapest_first]),
        np.array([costs[k].cycles for k in cheapest_first]),
        np.array([costs[k].depth for k in cheapest_first]),
        np.array([under_report(probe, setting) for probe in ordered]),
        np.array([lost_dispatches(probe, demands, setting) for probe in ordered]),
    )


def probe_label(probe: Probe, blocks: int) -> str:
    """Name groups as Z, sampled run lengths as W, an exact probe by its name."""
    if isinstance(probe, GroupedRun):
        return f"Z={probe.groups}"
    return f"W={len(probe.lengths(blocks))}" if isinstance(probe, SampledRun) else probe.short()


@on_paper
def draw_probe_accuracy_against_gates(data: AccuracyAgainstGates) -> Figure:
    """Draw lines of groups Z and of sampled lengths W, named in the lower panel; the exact probes as dots at zero."""
    from workbench.figures import frame, plot_style
    from workbench.figures.marks import Names, name_all

    figure, axes = plot_style.stacked(2, [1.5, 1.9], share_x=True)
    for family in data.families:
        _gates_lines(axes, family)
    for one, name in zip(axes, ("under-report (blocks)", "lost dispatches (%)"), strict=True):
        one.set_xscale("log")
        one.set_ylabel(name)
        one.margins(0.06, 0.12)
        one.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    low, high = (f(data.demands) for f in (min, max))
    demands = f"demands {low} to {high}" if data.demands[1:] else f"demand {low}"
    frame.title(axes[0], f"{100 * (1 - data.setting.free):.3g} % of {data.setting.blocks} blocks occupied, {demands}")
    axes[-1].set_xlabel("two-input gates, decoding included")
    frame.legend(figure, axes)
    points = np.concatenate([np.column_stack([family.gates, 100 * family.lost]) for family in data.families])
    labels = [(name, len(family.probes)) for family in data.families for name in family.probes]
    named = {k: name for k, (name, together) in enumerate(labels) if together > 1}
    name_all(figure, [Names(axes[-1], points, named, every=False)])
    return figure


def _gates_lines(axes: Sequence[Axes], family: GatesFamily) -> None:
    from workbench.figures import marks
    from workbench.figures.frame import words

    cycles = int(family.cycles[0])
    label = words(family.name) + (f" ({cycles} cycles)" if cycles > 1 else "")
    for one, y in zip(axes, (family.under_report, 100 * family.lost), strict=True):
        one.plot(family.gates, y, linewidth=0.9, label=label, zorder=2, clip_on=False, **marks.look(family.style))


PROBE_ACCURACY_AGAINST_GATES_FIGURE = Calculation(
    "probe_accuracy_against_gates",
    "What grouped, sampled and exact probes miss against the gates that they take.",
    probe_accuracy_against_gates_data,
    draw_probe_accuracy_against_gates,
)


class AreaFamily(NamedTuple):
    """Probes of one kind, from the smallest on."""

    name: str
    style: int
    probes: tuple[str, ...]
    counts: tuple[Counts, ...]
    """What the synthesiser makes of each."""
    gates_as_written: np.ndarray
    levels_as_written: np.ndarray
    cycles: np.ndarray
    lost: np.ndarray
    """float64[probes], the share of demands that the machine could serve and the probe refuses."""

    def area(self) -> np.ndarray:
        """Return the relative areas, in NAND gates of two inputs: float64[probes]."""
        return np.array([one.relative_area for one in self.counts])

    def delay(self) -> np.ndarray:
        """Return how long a report takes, in delays of an inverter that drives four: float64[probes]."""
        return self.cycles * np.array([one.relative_delay for one in self.counts])


class AccuracyAgainstArea(NamedTuple):
    """What is drawn."""

    setting: Setting
    demands: tuple[int, ...]
    families: tuple[AreaFamily, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a probe: as written and as synthesised side by side."""
        rows = [(family, k) for family in self.families for k in range(len(family.probes))]
        counts = [family.counts[k] for family, k in rows]
        return {
            "family": [family.name for family, _ in rows],
            "probe": [family.probes[k] for family, k in rows],
            "gates_as_written": [int(family.gates_as_written[k]) for family, k in rows],
            "levels_as_written": [int(family.levels_as_written[k]) for family, k in rows],
            "gates": [one.area_gates for one in counts],
            "levels": [one.levels for one in counts],
            "registers": [one.registers for one in counts],
            "relative_area": [one.relative_area for one in counts],
            "delay_fo4": np.concatenate([family.delay() for family in self.families]),
            "cycles": [int(family.cycles[k]) for family, k in rows],
            "lost_dispatches": [float(family.lost[k]) for family, k in rows],
        }


def probe_accuracy_against_area_data(
    setting: Setting = Setting(blocks=64, free=0.7),  # noqa: B008
    demands: Sequence[int] = range(1, 17),
) -> AccuracyAgainstArea:
    """Compute what the probes of `probe_accuracy_against_gates` miss, and their area and delay as synthesised.

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
    blocks, demands = setting.checked().blocks, tuple(demands)
    families = [
        _area_family(name, style, [Probe.read(probe) for probe in probes], demands, setting)
        for style, (name, probes) in enumerate(probe_kinds(blocks).items())
    ]
    return AccuracyAgainstArea(setting, demands, tuple(families))


def _area_family(name: str, style: int, probes: list[Probe], demands: Sequence[int], setting: Setting) -> AreaFamily:
    circuits = [circuit_of(probe, setting.blocks) for probe in probes]
    counts = [synthesised(circuit) for circuit in circuits]
    order = sorted(range(len(probes)), key=lambda k: counts[k].relative_area)
    return AreaFamily(
        name,
        style,
        tuple(probe_label(probes[k], setting.blocks) for k in order),
        tuple(counts[k] for k in order),
        np.array([circuits[k].gates for k in order]),
        np.array([circuits[k].levels for k in order]),
        np.array([probes[k].cost(setting.blocks).cycles for k in order]),
        np.array([lost_dispatches(probes[k], demands, setting) for k in order]),
    )


@on_paper
def draw_probe_accuracy_against_area(data: AccuracyAgainstArea) -> Figure:
    """Draw what is lost and the delay of a report against the area; both axes of area are one."""
    from workbench.figures import frame, plot_style
    from workbench.figures.marks import Names, name_all

    figure, axes = plot_style.stacked(2, [1.6, 1.9], share_x=True)
    for family in data.families:
        _area_lines(axes, family)
    for one, name in zip(axes, ("lost dispatches (%)", "delay of a report (FO4)"), strict=True):
        one.set_xscale("log")
        one.set_ylabel(name)
        one.margins(0.06, 0.12)
        one.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    axes[1].set_yscale("log")
    low, high = min(data.demands), max(data.demands)
    demands = f"demands {low} to {high}" if data.demands[1:] else f"demand {low}"
    frame.title(axes[0], f"{100 * (1 - data.setting.free):.3g} % of {data.setting.blocks} blocks occupied, {demands}")
    axes[-1].set_xlabel("area as synthesised (NAND gates of two inputs)")
    frame.legend(figure, axes)
    points = np.concatenate([np.column_stack([family.area(), 100 * family.lost]) for family in data.families])
    labels = [(name, len(family.probes)) for family in data.families for name in family.probes]
    named = {k: name for k, (name, together) in enumerate(labels) if together > 1}
    name_all(figure, [Names(axes[0], points, named, every=False)])
    return figure


def _area_lines(axes: Sequence[Axes], family: AreaFamily) -> None:
    from workbench.figures import marks
    from workbench.figures.frame import words

    cycles = int(family.cycles[0])
    text = words(family.name) + (f" ({cycles} cycles)" if cycles > 1 else "")
    for one, y in zip(axes, (100 * family.lost, family.delay()), strict=True):
        one.plot(family.area(), y, linewidth=0.9, label=text, zorder=2, clip_on=False, **marks.look(family.style))


PROBE_ACCURACY_AGAINST_AREA_FIGURE = Calculation(
    "probe_accuracy_against_area",
    "What probes miss, and how long they take, against their area as synthesised.",
    probe_accuracy_against_area_data,
    draw_probe_accuracy_against_area,
)
