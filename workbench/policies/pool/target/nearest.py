"""Nearest: the fewest hops."""

from __future__ import annotations

from workbench.policies.pool.target.question import Target


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

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = gbps[cards[k]] - 1e7 * hops[cards[k]]
