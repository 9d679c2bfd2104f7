"""Round robin over the other cards."""

from __future__ import annotations

from typing import Any

from workbench.policies.pool.target.question import Target

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

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = -float((cards[k] - memory[NEXT]) % free.size)

    def chosen(card: Any, cards: Any, params: Any, memory: Any) -> None:
        memory[NEXT] = (card + 1) % cards
