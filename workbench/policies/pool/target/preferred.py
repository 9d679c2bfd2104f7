"""Preferred: named cards while they have room, as an operating system prefers NUMA nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.levers import lever
from workbench.policies.pool.target.named_cards import check_named, marked
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView


class Preferred(Target):
    """Take a named card while one has room, else any; the nearest in direct links, the lowest id at equal distance.

    The own card has no precedence of its own: it is the nearest of those that are not named.

    References
    ----------
    spec 5, section 7 (NUMA policies); Linux, mm/mempolicy.c (MPOL_PREFERRED, MPOL_PREFERRED_MANY).

    Examples
    --------
    >>> near = [("gpu1", 90, 150), ("gpu2", 90, 24), ("gpu3", 90, 24)]
    >>> Preferred(cards="gpu3").choose(20, near), Preferred(cards="gpu3").choose(20, near[:2] + [("gpu3", 10, 24)])
    ('gpu3', 'gpu1')
    """

    cards: str = lever("gpu0", description="ids of the cards that are preferred, with a space between them")

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            away = see.hops[see.cards[k]] * 1024.0 + see.cards[k]
            see.scores[k] = -away if see.levers[see.cards[k]] else -away - 1e9

    def check(self) -> None:
        check_named(self.name, self.cards)

    def parameters_on(self, ids: Sequence[str]) -> np.ndarray:
        """Return which cards are named: float64[cards]."""
        return marked(self.name, self.cards, ids)

    def own_first(self) -> bool:
        return False
