"""How are the cards of a real machine connected? One reader a file format; `read_topology` finds the right one."""

from workbench.machine.topologies.pci import Node, Topology, Wire
from workbench.machine.topologies.registry import TopologyFile, is_topology, levers_of_topology, read_topology
