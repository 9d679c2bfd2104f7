"""Circuits: mechanisms as netlists with registers, equal to their policies, written as Verilog, counted, proven.

A circuit is made by a `Maker`: `build(policy, size)` writes the netlist, `cases(policy, size, count, seed)` asks the
policy's own plain answer what the outputs must be, step by step from a reset. The rest follows: simulation against the
policy, Verilog, golden vectors, synthesis, proof.

Examples
--------
A counter of the even steps, with one register; a user's policy would be asked in `cases`:

>>> import numpy as np
>>> from workbench.circuits import Circuit, Step, differences, verilog
>>> from workbench.circuits.netlist import added
>>> net = Circuit("steps", source="an example", parameters={"BITS": 3})
>>> go = net.input("go")
>>> count = net.register("count", 3, reset=1)
>>> net.follow("count", added(net, count, go, 3))
>>> net.output("now", count)
>>> case = [Step({"go": 1}, {"now": 1}), Step({"go": 0}, {"now": 2}), Step({"go": 1}, {"now": 2})]
>>> list(differences(net, [case]))
[]
>>> print(verilog(net).splitlines()[2])
module steps (
"""

from workbench.circuits.netlist import Circuit
from workbench.circuits.registry import Maker, add_circuit, cases_of, circuit_of, maker_of
from workbench.circuits.vectors import Difference, Simulator, Step, as_lines, asked, differences
from workbench.circuits.verilog import verilog

__all__ = [
    "Circuit",
    "Difference",
    "Maker",
    "Simulator",
    "Step",
    "add_circuit",
    "as_lines",
    "asked",
    "cases_of",
    "circuit_of",
    "differences",
    "maker_of",
    "verilog",
]
