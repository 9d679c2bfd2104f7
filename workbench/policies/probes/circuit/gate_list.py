"""A probe as gates, with the wires of its report, and what it costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.gates.netlist import AND, DECODE, NAND, NOT, OR, REGISTER, Netlist
from workbench.policies.probes.hardware import REGISTER_LEVELS, SELECTOR_LEVELS, ProbeCost


class GateList(NamedTuple):
    """A circuit that probes one resource."""

    netlist: Netlist
    report: np.ndarray
    """int32[bits], the wires of the reported number, the lowest bit first."""
    reused: bool = False
    """Whether one set of gates and registers serves all cycles, behind selectors, instead of one set each."""

    def reports(self, states: np.ndarray) -> np.ndarray:
        """Return what the gates report: int64[states], of bool[blocks, states] in the encoding of the probe."""
        return (self.netlist.values(states)[self.report] << np.arange(self.report.size)[:, None]).sum(0)

    def cost(self) -> ProbeCost:
        """Return the gates counted; where one set serves all cycles, the most that any cycle needs."""
        net = self.netlist
        ands, ors, inverters = self._most(AND, NAND), self._most(OR), self._most(NOT)
        registers = self._most(REGISTER)
        depths = [levels + SELECTOR_LEVELS * self.reused for levels in net.depths]
        return ProbeCost(
            ands,
            ors,
            inverters,
            sum(net.count(AND, OR, NAND, NOT, part=DECODE)),
            net.table_bits(),
            registers,
            depth=sum(depths),
            cycles=len(depths),
            period=max(depths) + REGISTER_LEVELS,
            selectors=self._selectors() if self.reused else 0,
        )

    def _most(self, *kinds: int) -> int:
        counted = self.netlist.count(*kinds)
        return max(counted) if self.reused else sum(counted)

    def _selectors(self) -> int:
        """Count two-way selectors: one before each input that takes another wire in another cycle."""
        again = [(2, AND, NAND), (2, OR), (1, NOT), (1, REGISTER)]
        used = [(inputs, self.netlist.count(*kinds)) for inputs, *kinds in again]
        return sum(inputs * (sum(cycles) - max(cycles)) for inputs, cycles in used)
