"""What all generators of applications have in common: how many there are, when they come, on which card they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.node import Application, Applications, Plan, check_applications
from workbench.workloads.pool_cards import gpus_of
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.instructions import Instructions, NoInstructions
from workbench.workloads.synthetic.laws import Law


class ApplicationGenerator(Generator):
    """The base: application n runs on GPU n mod GPUs, with priority 1 + n mod `priorities`, and comes at its time.

    Application n has the n-th rank of the stream `gaps`; what it does is drawn from streams with its number.
    """

    count: int = lever(2, least=1, most=1000, scale="log", unit="applications", description="how many there are")
    gap: Law = lever(
        Law.read({"exponential": {"mean": 20_000}}), unit="cycles", description="time between two arrivals"
    )
    priorities: int = lever(1, least=1, most=8, description="application n has priority 1 + n mod this")
    cycles: Law = lever(
        Law.read({"log_normal": {"median": 2_000, "sigma": 0.5}}),
        unit="cycles",
        description="how long a group computes in a phase",
    )
    waves: int = lever(4, least=1, most=64, unit="waves", description="waves of a group")
    vgpr_blocks: Law = lever(
        Law.read({"constant": 4}), unit="blocks", description="vector registers of a wave, drawn for each kernel"
    )
    shared_segments: Law = lever(
        Law.read({"constant": 8}), unit="segments", description="shared memory of a group, drawn for each kernel"
    )
    independent: bool = lever(False, description="whether the waves of a group may run apart (spec 3, R24)")
    instructions: Instructions = lever(
        NoInstructions(), description="what a group executes while it computes; all groups of a phase execute the same"
    )

    def plan(self, plan: Plan, streams: Streams) -> None:
        """Write one application down."""
        raise NotImplementedError

    def applications(self, machine: Any, streams: Streams) -> Applications:
        """Return the applications that come to a node or its board, drawn from named streams."""
        gaps = self.gap.draw(streams.uniforms("gaps", self.count)).tolist()
        cards, came, result = len(gpus_of(getattr(machine, "board", machine))), 0, list[Application]()
        for number in range(self.count):
            plan = Plan(number, streams, number % cards, 1 + number % self.priorities, came)
            self.plan(plan, streams)
            result.append(plan.application())
            came += gaps[number]
        check_applications(tuple(result))
        return tuple(result)

    def resources(self) -> Mapping[str, Any]:
        """Return what each group of a kernel holds, and what it executes."""
        demand = {"vgpr": self.vgpr_blocks, "shared": self.shared_segments}
        return {
            "waves": self.waves,
            "demand": demand,
            "independent": self.independent,
            "instructions": self.instructions,
        }
