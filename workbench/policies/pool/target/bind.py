"""Bind: named cards alone, as an operating system binds memory to NUMA nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.levers import lever
from workbench.policies.pool.target.named_cards import check_named, marked
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView


class Bind(Target):
    """Take the nearest named card in direct links, the lowest id at equal distance; refuse all that are not named.

    The own card is one of them only if it is named: a request fails when the named cards are full, whatever else is
    free.

    References
    ----------
    spec 5, section 7 (NUMA policies); Linux, mm/mempolicy.c (MPOL_BIND).

    Examples
    --------
    >>> cards = [("gpu1", 90, 150), ("gpu2", 90, 24)]
    >>> Bind(cards="gpu2").choose(20, cards), Bind(cards="gpu2").choose(20, [("gpu1", 90, 150), ("gpu2", 10, 24)])
    ('gpu2', None)
    """

    cards: str = lever("gpu0", description="ids of the only cards that give memory, with a space between them")

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -(see.hops[see.cards[k]] * 1024.0) - see.cards[k] if see.levers[see.cards[k]] else -math.inf

    def check(self) -> None:
        check_named(self.name, self.cards)

    def parameters_on(self, ids: Sequence[str]) -> np.ndarray:
        """Return which cards are named: float64[cards]."""
        return marked(self.name, self.cards, ids)

    def own_first(self) -> bool:
        return False
