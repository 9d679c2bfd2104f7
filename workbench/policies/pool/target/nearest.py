"""Nearest: the fewest hops."""

from __future__ import annotations

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView


class Nearest(Target):
    """Take the card that the fewest direct links lead to, the widest path of those; ties as the engine breaks them.

    References
    ----------
    spec 5, section 7 (nearest hop).

    Examples
    --------
    >>> Nearest().choose(20, [("gpu3", 40, 150), ("gpu6", 60, 24), ("gpu5", 60, 25)], hops=(2, 1, 1))
    'gpu5'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = see.gbps[see.cards[k]] - 1e7 * see.hops[see.cards[k]]
