"""Interleave: region after region on card after card."""

from __future__ import annotations

from typing import Any

from workbench.policies.pool.target.question import Target

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

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = -float((cards[k] - memory[NEXT]) % free.size)

    def chosen(card: Any, cards: Any, params: Any, memory: Any) -> None:
        memory[NEXT] = (card + 1) % cards

    def own_first(self) -> bool:
        return False
