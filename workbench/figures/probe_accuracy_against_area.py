"""The same probes as a synthesiser makes them: what they miss, and how long they take, against their area."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import Counts, synthesised
from workbench.figures.calculation import Calculation
from workbench.figures.probe_accuracy_against_gates import kinds, label
from workbench.figures.recipe import Column, on_paper
from workbench.policies.probes import Probe
from workbench.studies.probe_success import Setting, lost_dispatches

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Family(NamedTuple):
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
    families: tuple[Family, ...]

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
        _family(name, style, [Probe.read(probe) for probe in probes], demands, setting)
        for style, (name, probes) in enumerate(kinds(blocks).items())
    ]
    return AccuracyAgainstArea(setting, demands, tuple(families))


def _family(name: str, style: int, probes: list[Probe], demands: Sequence[int], setting: Setting) -> Family:
    circuits = [circuit_of(probe, setting.blocks) for probe in probes]
    counts = [synthesised(circuit) for circuit in circuits]
    order = sorted(range(len(probes)), key=lambda k: counts[k].relative_area)
    return Family(
        name,
        style,
        tuple(label(probes[k], setting.blocks) for k in order),
        tuple(counts[k] for k in order),
        np.array([circuits[k].gates for k in order]),
        np.array([circuits[k].levels for k in order]),
        np.array([probes[k].cost(setting.blocks).cycles for k in order]),
        np.array([lost_dispatches(probes[k], demands, setting) for k in order]),
    )


@on_paper
def draw(data: AccuracyAgainstArea) -> Figure:
    """Draw what is lost and the delay of a report against the area; both axes of area are one."""
    from workbench.figures import frame, ink
    from workbench.figures.point_names import Names, name_all

    figure, axes = ink.stacked(2, [1.6, 1.9], share_x=True)
    for family in data.families:
        _lines(axes, family)
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


def _lines(axes: Sequence[Axes], family: Family) -> None:
    from workbench.figures import marks
    from workbench.figures.frame import words

    cycles = int(family.cycles[0])
    text = words(family.name) + (f" ({cycles} cycles)" if cycles > 1 else "")
    for one, y in zip(axes, (100 * family.lost, family.delay()), strict=True):
        one.plot(family.area(), y, linewidth=0.9, label=text, zorder=2, clip_on=False, **marks.look(family.style))


FIGURE = Calculation(
    "probe_accuracy_against_area",
    "What probes miss, and how long they take, against their area as synthesised.",
    probe_accuracy_against_area_data,
    draw,
)
