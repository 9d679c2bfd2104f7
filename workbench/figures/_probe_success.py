"""How likely a demand is refused by probe and occupancy, calculated exactly and drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from workbench.errors import unknown_name
from workbench.explain.probe_success import LEVELS, Setting, failure, simulated
from workbench.figures.estimates import Means, means_of, without_limits
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import check_room
from workbench.figures.registry import Calculation, on_paper
from workbench.policies.probes.question import Probe

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
        one, look, refused = axes[line.panel], marks.line_look(line.style), line.drawn.mean > 0
        chance = 10.0 ** np.maximum(line.log10_chance, 2 * FLOOR)
        one.plot(line.demand, chance, linewidth=0.9, label=frame.words(line.name), **look)
        ends = line.drawn.low[refused], line.drawn.high[refused]
        one.vlines(line.demand[refused], *ends, color=look["color"], linewidth=2.6, alpha=0.35)
    for one, free in zip(axes, data.free, strict=True):
        frame.title(one, f"{100 * (1 - free):.3g} % of the blocks occupied")
        one.set_yscale("log")
        one.set_ylim(10**FLOOR, 3)
        one.set_yticks([1e-9, 1e-6, 1e-3, 1])
        one.minorticks_off()
        one.grid(axis="y", color=plot_style.palette().grid, linewidth=0.5)
    demands = sorted({int(d) for line in data.lines for d in line.demand})
    axes[-1].set_xticks(demands[:: -(-len(demands) // 16)])  # not more than there is space for
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
