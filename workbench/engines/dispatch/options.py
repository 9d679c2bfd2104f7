"""The levers of the dispatcher around its policies."""

from __future__ import annotations

from typing import Literal

from workbench.errors import InputError
from workbench.levers import Spec, lever
from workbench.machine.power import Heat, NoHeat, NoPower, Power


class DispatchOptions(Spec):
    """What the engine `dispatch` leaves open."""

    dispatches_a_round: int = lever(
        1, least=1, most=64, unit="groups", description="most groups dispatched in one round (spec 3, E7)"
    )
    round_cycles: int = lever(
        1,
        least=1,
        most=1 << 20,
        unit="cycles",
        description="from a round to the next; times those that the probe takes",
    )
    fail_init: int = lever(
        0, least=0, most=1 << 40, unit="rounds", description="failed rounds that are counted at the start (spec 3, R21)"
    )
    blocks_on_a_unit: Literal["aggregated", "per_wave"] = lever(
        "aggregated",
        description="whether the waves of a group on one unit share one range, or have one each (spec 3, E5)",
    )
    module_tie: Literal["lowest", "random", "rotating"] = lever(
        "lowest", description="which of the modules with the same score is taken (spec 3, E19)"
    )
    power: Power = lever(NoPower(), description="the energy of instructions; off unless asked for")
    heat: Heat = lever(NoHeat(), description="how warm the modules become; off unless asked for")

    def check(self) -> None:
        if self.heat.simulated and not self.power.simulated:
            raise InputError(
                f"{self.name}.heat needs a power model, for temperatures follow power. Nearest: power: class_power."
            )
