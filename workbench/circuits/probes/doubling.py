"""Shift-AND doubling: the windows of 1, 2, 4, ... blocks, then the longest window bit by bit."""

from __future__ import annotations

from typing import Any

from workbench.circuits.netlist import Circuit
from workbench.circuits.probes.asking import begun, cases
from workbench.circuits.registry import Maker
from workbench.policies.probes.circuit.doubling import reported


def build(probe: Any, blocks: int) -> Circuit:
    """Build the gates that the probe counts, with names and registers."""
    net, state = begun(probe, blocks)
    net.output("report", reported(net, state, probe.timing == "step_a_cycle"))
    return net


MAKERS = [Maker("probe.shift_doubling", build, cases)]
