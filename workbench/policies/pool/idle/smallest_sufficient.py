"""Smallest sufficient: keep as much of the cache as the limit allows."""

from __future__ import annotations

from workbench.policies.pool.idle.limited import Limited
from workbench.policies.pool.idle.question import BYTES, EACH, NEWER
from workbench.policies.pool.idle.view import IdleView


class SmallestSufficient(Limited):
    """Give back the smallest driver allocation that covers the excess, or, where none does, the largest; then go on.

    Of equal ones that which has been wholly cached for longest. The smallest sufficient *set* would be a
    knapsack (see DEVIATIONS.md).

    References
    ----------
    spec 5, section 4 (idle release).

    Examples
    --------
    >>> SmallestSufficient().returned([64, 128, 256, 512, 1024], limit=1000)
    [1024]
    """

    @staticmethod
    def answer(see: IdleView) -> int:
        smallest, it = see.oldest, see.oldest
        while it >= 0:
            size, best = see.origins[it * EACH + BYTES], see.origins[smallest * EACH + BYTES]
            enough = size >= see.excess
            if (enough and (best < see.excess or size < best)) or (not enough and best < see.excess and size > best):
                smallest = it
            it = see.origins[it * EACH + NEWER]
        return smallest
