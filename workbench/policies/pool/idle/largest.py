"""Largest: as few driver calls as can be."""

from __future__ import annotations

from workbench.policies.pool.idle.limited import Limited
from workbench.policies.pool.idle.question import BYTES, EACH, NEWER
from workbench.policies.pool.idle.view import IdleView


class Largest(Limited):
    """Give back the largest driver allocation; of equal ones that which has been wholly cached for longest.

    References
    ----------
    spec 5, section 2 (`idle_victim`).

    Examples
    --------
    >>> Largest().returned([64, 1024, 512], limit=100)
    [1024, 512]
    """

    @staticmethod
    def answer(see: IdleView) -> int:
        largest, it = see.oldest, see.oldest
        while it >= 0:
            if see.origins[it * EACH + BYTES] > see.origins[largest * EACH + BYTES]:
                largest = it
            it = see.origins[it * EACH + NEWER]
        return largest
