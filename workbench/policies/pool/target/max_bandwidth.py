"""Largest bandwidth: the document's first policy."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.shapes import Shape, shaped


class MaxBandwidth(Target):
    """Take the card with the fastest path to the borrower; ties as the engine breaks them.

    In a sum it is the weight w2, an increasing function of the bandwidth.

    References
    ----------
    spec 5, R18, R20, V12.

    Examples
    --------
    >>> cards = [("gpu1", 10, 24), ("gpu3", 40, 150), ("gpu6", 60, 150), ("gpu5", 200, 16), ("cpu0", 52, 16)]
    >>> MaxBandwidth().choose(20, cards), MaxBandwidth().choose(20, cards, tie="most_free")
    ('gpu3', 'gpu6')
    """

    shape: Shape = lever("linear", says="the increasing function of the bandwidth")

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = shaped(gbps[cards[k]], params[0])
