"""Round robin over the other cards."""

from __future__ import annotations

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetNotice, TargetView

NEXT = 0
"""Memory: the card behind the one that lent last."""


class RoundRobin(Target):
    """Take the first candidate behind the card that lent last, cyclically; there are no ties.

    References
    ----------
    spec 5, section 7, H5.2 (round-robin spill).

    Examples
    --------
    >>> RoundRobin().choose(20, [("gpu1", 90, 24), ("gpu2", 90, 24), ("gpu3", 90, 24)], after=("gpu1",))
    'gpu2'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -float((see.cards[k] - see.memory[NEXT]) % see.free.size)

    @staticmethod
    def chosen(see: TargetNotice) -> None:
        see.memory[NEXT] = (see.card + 1) % see.cards
