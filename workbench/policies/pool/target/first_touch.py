"""First touch: as an operating system places pages on NUMA nodes."""

from __future__ import annotations

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView


class FirstTouch(Target):
    """Take the next card in the order of distance, counted in direct links, the lowest id first at equal distance.

    The page is placed where it is touched first, the own card; when that is full, on the next node of its list.

    References
    ----------
    spec 5, section 7 (NUMA policies); Linux, mm/page_alloc (the fallback lists of nodes by distance).

    Examples
    --------
    >>> FirstTouch().choose(20, [("gpu3", 40, 150), ("gpu6", 60, 24), ("gpu5", 60, 25)], hops=(2, 1, 1))
    'gpu6'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -(see.hops[see.cards[k]] * 1024.0) - see.cards[k]
