"""Largest: as few driver calls as can be."""

from __future__ import annotations

from typing import Any

from workbench.policies.pool.idle.limited import Limited
from workbench.policies.pool.idle.question import BYTES, EACH, NEWER


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

    def answer(excess: Any, oldest: int, origins: Any, params: Any) -> int:
        found, it = oldest, oldest
        while it >= 0:
            if origins[it * EACH + BYTES] > origins[found * EACH + BYTES]:
                found = it
            it = origins[it * EACH + NEWER]
        return found
