"""What a probe costs as hardware: gates, registers, levels, cycles (spec 3, section 4, hardware-cost proxies).

The figures are counted on a generated gate list (`circuit.netlist`) by these rules: gates have two inputs, an AND or
OR over n wires is a balanced tree of n - 1 gates, what is constant is trimmed, a shift by a fixed amount is wiring and
costs nothing, a table costs its bits and one level. Registers are those within the probe: the state belongs to the
resource, the report to whoever reads it.
"""

from __future__ import annotations

from typing import NamedTuple

REGISTER_LEVELS = 3
"""Gate levels that a register takes of a cycle (clock to output and set-up): a modelling assumption."""

REFERENCE_LEVELS = 20
"""Gate levels of the cycle that `relative_clock` is relative to: a modelling assumption."""

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
        """Return the modelled clock, relative to that of a cycle of 20 levels.

        >>> ProbeCost(0, 0, 0, 0, 0, registers=0, depth=37, cycles=1, period=40).relative_clock
        0.5
        """
        return REFERENCE_LEVELS / self.period
