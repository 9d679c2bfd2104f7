"""Least recently used: the specification's recommendation."""

from __future__ import annotations

from workbench.policies.pool.idle.limited import Limited
from workbench.policies.pool.idle.view import IdleView


class LeastRecentlyUsed(Limited):
    """Give back the driver allocation that has been wholly cached for longest; the order is total, there are no ties.

    References
    ----------
    spec 5, R29, E6, E7.

    Examples
    --------
    >>> LeastRecentlyUsed().returned([64, 128, 256, 512, 1024], limit=1000)
    [64, 128, 256, 512, 1024]
    >>> LeastRecentlyUsed().returned([1024, 512, 256, 128, 64], limit=1000)
    [1024]
    """

    @staticmethod
    def answer(see: IdleView) -> int:
        return see.oldest
