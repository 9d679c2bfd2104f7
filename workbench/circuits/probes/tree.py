"""The tree of (prefix, suffix, best): N - 1 nodes, each joining two neighbouring ranges of blocks."""

from __future__ import annotations

from typing import Any

from workbench.circuits.netlist import Circuit
from workbench.circuits.probes.asking import begun, cases
from workbench.circuits.registry import Maker
from workbench.policies.probes.circuit.tree import root_of


def build(probe: Any, blocks: int) -> Circuit:
    """Build the gates that the probe counts, with names and registers."""
    net, state = begun(probe, blocks)
    net.output("report", root_of(net, state, probe.timing == "step_a_cycle")[0].best[:, 0])
    return net


MAKERS = [Maker("probe.prefix_suffix_tree", build, cases)]
