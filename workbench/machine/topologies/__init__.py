"""How are the cards of a real machine connected? One reader a file format; `read_topology` finds the right one."""

from workbench.machine.topologies.in_sweep import TopologyFile, levers_of_topology
from workbench.machine.topologies.read import is_topology, read_topology
from workbench.machine.topologies.topology import Node, Topology, Wire

__all__ = ["Node", "Topology", "TopologyFile", "Wire", "is_topology", "levers_of_topology", "read_topology"]
