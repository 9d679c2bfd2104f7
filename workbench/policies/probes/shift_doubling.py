"""Shift-AND doubling: the longest run in a logarithmic number of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from workbench.levers import lever
from workbench.policies.probes.question import Probe
from workbench.policies.probes.view import ProbeView
from workbench.policies.probes.word_parallel import longest_free_run

if TYPE_CHECKING:
    from workbench.policies.probes.circuit.gate_list import GateList


class ShiftDoubling(Probe):
    """Report the longest run of free blocks, found by windows of doubled length; there are no ties to break.

    From the starts of windows of n blocks follow those of 2 n; once there are none, the length is completed bit by bit
    from above, which is the report in binary. Some 2 log2(N) vectors of AND gates instead of N.

    References
    ----------
    spec 3, section 7; H. S. Warren, Hacker's Delight, 2nd edition, section 6-3.

    Examples
    --------
    >>> ShiftDoubling().longest("0111100111111100")
    7
    >>> ShiftDoubling().cost(128).gates < 5000
    True
    """

    timing: Literal["comb_1cycle", "step_a_cycle"] = lever(
        "comb_1cycle", description="all steps in one cycle, or one after another with registers between"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        return longest_free_run(see.free)

    def round_cycles(self, blocks: Sequence[int] = ()) -> int:
        """Return 1, or the steps for the largest resource."""
        return 1 if self.timing == "comb_1cycle" else max((2 * n.bit_length() - 1 for n in blocks), default=1)

    def gate_list(self, blocks: int) -> GateList:
        """Return all steps, one after another."""
        from workbench.policies.probes.circuit.doubling import build

        return build(blocks, self.timing == "step_a_cycle")
