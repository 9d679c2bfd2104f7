"""The tree of (prefix, suffix, best): exact, small and logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from workbench.compiled import ALL_BITS, NO_BITS, leading_zeros, trailing_zeros
from workbench.levers import lever
from workbench.policies.probes.question import Probe
from workbench.policies.probes.view import ProbeView
from workbench.policies.probes.word_parallel import longest_of_two
from workbench.structures.bitmaps import WORD

if TYPE_CHECKING:
    from workbench.policies.probes.circuit.gate_list import GateList


class PrefixSuffixTree(Probe):
    """Report the longest run of free blocks, joined from halves; there are no ties to break.

    Of each range of blocks three numbers are known: the free blocks at its low end, those at its high end, and its
    longest run. Two neighbours join into one in a node of a few adders and comparators; N blocks take N - 1 nodes.
    In software the leaves are words of 64 blocks.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> PrefixSuffixTree().longest("0111100111111100"), PrefixSuffixTree().nodes(128)
    (7, 127)
    """

    timing: Literal["comb_1cycle", "step_a_cycle"] = lever(
        "comb_1cycle", description="all levels of the tree in one cycle, or one after another with registers between"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        best, suffix = 0, 0
        for word in range(see.free.size):
            bits = see.free[word]
            best = max(best, suffix + trailing_zeros(~bits), longest_of_two(bits, NO_BITS))
            suffix = suffix + WORD if bits == ALL_BITS else leading_zeros(~bits)
        return best

    def round_cycles(self, blocks: Sequence[int] = ()) -> int:
        """Return 1, or the levels of the tree of the largest resource."""
        levels = (max((n - 1).bit_length(), 1) for n in blocks)
        return 1 if self.timing == "comb_1cycle" else max(levels, default=1)

    def gate_list(self, blocks: int) -> GateList:
        """Return the tree, level by level."""
        from workbench.policies.probes.circuit.tree import build

        return build(blocks, self.timing == "step_a_cycle")[0]

    def nodes(self, blocks: int) -> int:
        """Count the nodes of the tree as they are built."""
        from workbench.policies.probes.circuit.tree import build

        return build(blocks, False)[1]
