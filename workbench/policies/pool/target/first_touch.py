"""First touch: as an operating system places pages on NUMA nodes."""

from __future__ import annotations

from workbench.policies.pool.target.question import Target


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

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = -(hops[cards[k]] * 1024.0) - cards[k]
