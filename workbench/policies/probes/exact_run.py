"""The exact probe: Embodiment 4."""

from __future__ import annotations

from typing import Literal

from workbench.levers import lever
from workbench.policies.probes.shift_probe import ShiftProbe
from workbench.policies.probes.view import ProbeView
from workbench.policies.probes.word_parallel import longest_free_run


class ExactRun(ShiftProbe):
    """Report the longest run of free blocks; of equal runs it does not matter which, there are no ties to break.

    Every shift of the state is ANDed with those before: a 1 that is left after i + 1 of them is the end of a free run
    of i + 1 blocks. The circuit grows with the square of the number of blocks; `chain="doubling"` has as many gates in
    far fewer levels.

    References
    ----------
    spec 3, R30-R38 (Em. 4).

    Examples
    --------
    >>> ExactRun(direction="right", encoding="free1", decode="scan").longest("01101110")
    3
    >>> ExactRun(encoding="free0").longest("10010001")
    3
    >>> cost = ExactRun().cost(128)
    >>> cost.and_gates, cost.or_gates, cost.cycles
    (8128, 8128, 1)
    """

    timing: Literal["comb_1cycle", "pipe_3cycle"] = lever(
        "comb_1cycle", description="shift, chain and reduction in one cycle, or in one cycle each"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        return longest_free_run(see.free)
