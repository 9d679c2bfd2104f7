"""What do saved gates cost? Under-reports and lost dispatches of every kind of probe against its gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.figures.calculation import Calculation
from workbench.figures.recipe import Column, on_paper
from workbench.policies.probes import GroupedRun, Probe, SampledRun
from workbench.studies.probe_success import Setting, lost_dispatches, octave_lengths, under_report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXACT = ({"exact_run": {"chain": "doubling", "decode": "scan"}}, "shift_doubling", "prefix_suffix_tree", "bit_serial")
"""The exact probe and its competitors; all that decode do so with gates, so that these are all they have."""


class Family(NamedTuple):
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
    families: tuple[Family, ...]

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
        _family(name, style, [Probe.read(probe) for probe in probes], demands, setting)
        for style, (name, probes) in enumerate(kinds(blocks).items())
    ]
    return AccuracyAgainstGates(setting, demands, tuple(families))


def kinds(blocks: int) -> dict[str, Sequence[object]]:
    """Return the probes of each kind, as a sweep names them: grouped and sampled ones of every density, the exact."""
    groups = [z for z in range(2, blocks // 2 + 1) if blocks % z == 0]
    dense = [1 << k for k in range(max(blocks // 4, 1).bit_length())]
    return {
        "grouped": [{"grouped_run": {"groups": z, "chain": "doubling", "decode": "scan"}} for z in groups],
        "sampled": [{"sampled_run": {"run_lengths": octave_lengths(blocks, n), "decode": "scan"}} for n in dense],
        **{Probe.read(probe).name: [probe] for probe in EXACT},
    }


def _family(name: str, style: int, probes: list[Probe], demands: Sequence[int], setting: Setting) -> Family:
    costs = [probe.cost(setting.blocks) for probe in probes]
    cheapest_first = sorted(range(len(probes)), key=lambda k: costs[k].gates)
    ordered = [probes[k] for k in cheapest_first]
    return Family(
        name,
        style,
        tuple(label(probe, setting.blocks) for probe in ordered),
        np.array([costs[k].gates for k in cheapest_first]),
        np.array([costs[k].cycles for k in cheapest_first]),
        np.array([costs[k].depth for k in cheapest_first]),
        np.array([under_report(probe, setting) for probe in ordered]),
        np.array([lost_dispatches(probe, demands, setting) for probe in ordered]),
    )


def label(probe: Probe, blocks: int) -> str:
    """Name groups as Z, sampled run lengths as W, an exact probe by its name."""
    if isinstance(probe, GroupedRun):
        return f"Z={probe.groups}"
    return f"W={len(probe.lengths(blocks))}" if isinstance(probe, SampledRun) else probe.short()


@on_paper
def draw(data: AccuracyAgainstGates) -> Figure:
    """Draw lines of groups Z and of sampled lengths W, named in the lower panel; the exact probes as dots at zero."""
    from workbench.figures import frame, ink
    from workbench.figures.point_names import Names, name_all

    figure, axes = ink.stacked(2, [1.5, 1.9], share_x=True)
    for family in data.families:
        _lines(axes, family)
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


def _lines(axes: Sequence[Axes], family: Family) -> None:
    from workbench.figures import marks
    from workbench.figures.frame import words

    cycles = int(family.cycles[0])
    label = words(family.name) + (f" ({cycles} cycles)" if cycles > 1 else "")
    for one, y in zip(axes, (family.under_report, 100 * family.lost), strict=True):
        one.plot(family.gates, y, linewidth=0.9, label=label, zorder=2, clip_on=False, **marks.look(family.style))


FIGURE = Calculation(
    "probe_accuracy_against_gates",
    "What grouped, sampled and exact probes miss against the gates that they take.",
    probe_accuracy_against_gates_data,
    draw,
)
