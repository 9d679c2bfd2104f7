"""SRRIP: predict how far off the next use of each entry is, and evict a farthest one."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, TouchView

MOST = 0
"""Parameter: the bits of a prediction."""


class SRRIP(Eviction):
    """Evict an entry whose next use is predicted farthest off; the lowest way wins a tie.

    Each way has a prediction of so many bits: an insertion sets it to the largest but one, a hit to 0. If none is the
    largest at an eviction, all grow until one is. Further candidates: by prediction, the largest first.

    References
    ----------
    spec 4, section 7. Jaleel, Theobald, Steely, Emer, "High performance cache replacement using re-reference interval
    prediction (RRIP)", ISCA 2010, section 4 (hit priority).

    Examples
    --------
    >>> SRRIP().order(inserted="abcd", touched="a")
    ['b', 'c', 'd', 'a']
    """

    bits: int = lever(2, least=1, most=8, unit="bits", description="bits of a prediction")

    @staticmethod
    def answer(see: EvictionView) -> int:
        base_way, most = see.at * see.ways, (1 << see.levers.bits) - 1
        if see.nth == 0:
            largest = 0
            for way in range(see.ways):
                largest = max(largest, see.memory[base_way + way])
            for way in range(see.ways):
                see.memory[base_way + way] += most - largest
        chosen, best = -1, -1
        for way in range(see.ways):
            value = see.memory[base_way + way]
            seen = False
            if see.nth > 0:
                before = see.memory[base_way + see.previous - see.first]
                seen = value > before or (value == before and way <= see.previous - see.first)
            if not seen and value > best:
                chosen, best = way, value
        return see.first + chosen

    @staticmethod
    def touched(see: TouchView) -> None:
        see.memory[see.at * see.ways + see.entry - see.first] = (1 << see.levers.bits) - 2 if see.fresh else 0

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return a prediction a way: int64[sets * ways]."""
        return np.zeros(sets * ways, np.int64)
