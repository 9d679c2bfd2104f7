"""Least loaded: the smallest share in use."""

from __future__ import annotations

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView


class LeastLoaded(Target):
    """Take the card of whose memory the smallest share is in use; ties as the engine breaks them.

    References
    ----------
    spec 5, section 7.

    Examples
    --------
    >>> LeastLoaded().choose(20, [("gpu1", 90, 24), ("gpu2", 95, 24)], held=(10, 905))
    'gpu1'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -(see.held[see.cards[k]] / see.totals[see.cards[k]])
