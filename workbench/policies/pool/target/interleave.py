"""Interleave: region after region on card after card."""

from __future__ import annotations

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetNotice, TargetView

NEXT = 0
"""Memory: the card behind the one that was taken last."""


class Interleave(Target):
    """Take the first card with room behind the one that was taken last, the own card among them; there are no ties.

    Nothing is local first: bandwidth and use are spread at the price of distance.

    References
    ----------
    spec 5, section 7 (NUMA policies); Linux, MPOL_INTERLEAVE.

    Examples
    --------
    >>> Interleave().choose(20, [("gpu0", 90, 5000), ("gpu1", 90, 24)], after=("gpu0",))
    'gpu1'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -float((see.cards[k] - see.memory[NEXT]) % see.free.size)

    @staticmethod
    def chosen(see: TargetNotice) -> None:
        see.memory[NEXT] = (see.card + 1) % see.cards

    def own_first(self) -> bool:
        return False
