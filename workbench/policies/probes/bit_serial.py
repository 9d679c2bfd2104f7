"""The bit-serial scan: the prior art of the source document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.policies.probes.question import Probe, check_count
from workbench.policies.probes.view import ProbeView
from workbench.structures.bitmaps import longest_run

if TYPE_CHECKING:
    from workbench.policies.probes.circuit.gate_list import GateList
    from workbench.policies.probes.hardware import ProbeCost


class BitSerial(Probe):
    """Report the longest run of free blocks, found one block a cycle; there are no ties to break.

    A counter of the run so far and a register of the longest: the fewest gates, and as many cycles as there are blocks,
    so that a round of dispatching takes as long as the largest resource.

    References
    ----------
    spec 3, section 7; H3.8.

    Examples
    --------
    >>> BitSerial().longest("0111100111111100"), BitSerial().cost(128).cycles
    (7, 128)
    """

    @staticmethod
    def answer(see: ProbeView) -> int:
        return longest_run(see.free)

    def round_cycles(self, blocks: Sequence[int] = ()) -> int:
        """Return the blocks of the largest resource, all of which are scanned side by side."""
        return max(blocks, default=1)

    def gate_list(self, blocks: int) -> GateList:
        """Return all cycles of the scan, one after another."""
        from workbench.policies.probes.circuit.serial import build

        return build(blocks)

    def cost(self, blocks: int) -> ProbeCost:
        """Return the hardware of one step, which serves all cycles; the state is copied to a shift register."""
        from workbench.policies.probes.circuit.gate_list import GateList
        from workbench.policies.probes.circuit.serial import one_step

        check_count(blocks)
        blocks = int(blocks)
        step = one_step(blocks)
        one = GateList(step, step.inputs[:0]).cost()
        return one._replace(depth=blocks * one.depth, cycles=blocks)
