"""Least loaded: the smallest share in use."""

from __future__ import annotations

from workbench.policies.pool.target.question import Target


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

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = -(held[cards[k]] / totals[cards[k]])
