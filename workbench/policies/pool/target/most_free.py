"""Most free memory: worst fit over cards."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.shapes import Shape, shaped


class MostFree(Target):
    """Take the card with the most free memory, cached bytes included; ties as the engine breaks them.

    In a sum it is the weight w1, an increasing function of the free memory.

    References
    ----------
    spec 5, R20, E1, section 7.

    Examples
    --------
    >>> MostFree().choose(20, [("gpu3", 40, 150), ("gpu5", 200, 16)])
    'gpu5'
    """

    shape: Shape = lever("linear", says="the increasing function of the free memory")

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = shaped(float(free[cards[k]]), params[0])
