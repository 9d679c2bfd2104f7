"""What the engine `dispatch` leaves to policies."""

from __future__ import annotations

from typing import NamedTuple

from workbench.engines.dispatch.options import DispatchOptions
from workbench.engines.kit import Given, slot
from workbench.machine import Machine
from workbench.machine.machine import Resource
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.priority import Priority
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.stuck import Stuck
from workbench.policies.dispatch.units import Units
from workbench.policies.placement.question import Placement
from workbench.policies.probes.question import Probe


class Slots(NamedTuple):
    """What is decided."""

    probe: Probe = slot("exact_run")
    placement: Placement = slot("nearest_boundary")
    shared_placement: Placement = slot("placement")
    priority: Priority = slot("static_priority")
    selection: Selection = slot("served_marks")
    stuck: Stuck = slot("never_split")
    units: Units = slot("rotated_split")
    choice: Choice = slot("most_residual")

    def placement_of(self, resource: Resource) -> Placement:
        """Return the policy that places a resource: that of shared memory, or that of everything else."""
        return self.shared_placement if resource.label == "shared" else self.placement


Case = Given[Slots, DispatchOptions, Machine]
