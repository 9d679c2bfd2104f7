"""What probes that save gates miss, against their gates and against their area as synthesized.

Under-reports and lost dispatches of every kind of probe against its two-input gates; the same probes as a synthesizer
makes them, with the delay of a report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import synthesised
from workbench.explain.probe_success import Setting, lost_dispatches, octave_lengths, under_report
from workbench.figures.figure_files import Column, below
from workbench.figures.registry import Calculation, on_paper
from workbench.policies.probes.question import Probe
from workbench.policies.probes.shift_probe import GroupedRun, SampledRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    from workbench.figures._point_names import Names, name_all
    from workbench.figures.marks import line_look

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
        one.grid(axis="y", color=plot_style.palette().grid, linewidth=0.5)
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
    """Compute what the probes of `probe_accuracy_against_gates` miss, and their area and delay as synthesized: NAND
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
        No synthesizer is installed (the extra `circuits`), or it did not come to an end.
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
