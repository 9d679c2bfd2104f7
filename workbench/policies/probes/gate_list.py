"""A probe as gates, and what it costs as hardware.

Gates, registers, levels and cycles (spec 3, section 4, hardware-cost proxies) are counted on the gates
(`workbench.gates`) by these rules. Gates have two inputs; an AND or OR over n wires is a balanced tree of n - 1 gates.
What is constant is trimmed. A shift by a fixed amount is wiring and costs nothing. A table costs its bits and one
level. Registers are those within the probe: the state belongs to the resource, the report to whoever reads it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.gates import AND, DECODE, NAND, NOT, OR, REGISTER, Netlist

REGISTER_LEVELS = 3
"""Gate levels that a register takes of a cycle (clock to output and set-up): a modeling assumption."""

REFERENCE_LEVELS = 20
"""Gate levels of the cycle that `relative_clock` is relative to: a modeling assumption."""

SELECTOR_GATES, SELECTOR_LEVELS = 3, 2
"""Gates of a two-way selector (two ANDs and an OR, the inverter of its control shared), and its gate levels."""


class ProbeCost(NamedTuple):
    """The hardware of one probe of one resource."""

    and_gates: int
    """AND and NAND gates of the search, decoding left out."""
    or_gates: int
    """OR gates of the search, decoding left out."""
    inverters: int
    """Inverters of the search, decoding left out."""
    decode_gates: int
    """Gates that turn the search's result into a number, 0 where a table does."""
    look_up_bits: int
    """Bits of the table that turns the search's result into a number, 0 where gates do."""
    registers: int
    """Bits that the probe holds from one cycle to the next."""
    depth: int
    """Gate levels from the state to the report, those of all cycles together."""
    cycles: int
    """Cycles from the state to the report."""
    period: int
    """Gate levels of a cycle: those of the slowest one, and a register's."""
    selectors: int = 0
    """Two-way selectors of one bit, where one set of hardware serves several cycles; three gates each."""

    @property
    def gates(self) -> int:
        """Return all gates, those of the decoding and of selectors included."""
        return self.and_gates + self.or_gates + self.inverters + self.decode_gates + SELECTOR_GATES * self.selectors

    @property
    def latency(self) -> int:
        """Return the gate levels that pass until the report, whole cycles counted."""
        return self.cycles * self.period

    @property
    def relative_clock(self) -> float:
        """Return the modeled clock, relative to that of a cycle of 20 levels.

        >>> ProbeCost(0, 0, 0, 0, 0, registers=0, depth=37, cycles=1, period=40).relative_clock
        0.5
        """
        return REFERENCE_LEVELS / self.period


class GateList(NamedTuple):
    """A circuit that probes one resource."""

    netlist: Netlist
    report: np.ndarray
    """int32[bits], the wires of the reported number, the lowest bit first."""
    reused: bool = False
    """Whether one set of gates and registers serves all cycles, behind selectors, instead of one set each."""

    def reports(self, states: np.ndarray) -> np.ndarray:
        """Return the reports of the gates: int64[states], of bool[blocks, states] in the encoding of the probe."""
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
