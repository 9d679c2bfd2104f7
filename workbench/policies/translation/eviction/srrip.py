"""SRRIP: predict how far off the next use of each entry is, and evict a farthest one."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.policies.translation.eviction.question import Eviction

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

    bits: int = lever(2, least=1, most=8, unit="bits", says="bits of a prediction")

    def answer(  # type: ignore[no-untyped-def]
        nth: Any,
        previous,
        at,
        first,
        ways,
        newest,
        oldest,
        earliest,
        entries,
        holders,
        spread,
        base,
        words,
        params,
        memory,
    ):
        base_way, most = at * ways, (1 << int(params[MOST])) - 1
        if nth == 0:
            largest = 0
            for way in range(ways):
                largest = max(largest, memory[base_way + way])
            for way in range(ways):
                memory[base_way + way] += most - largest
        chosen, best = -1, -1
        for way in range(ways):
            value = memory[base_way + way]
            seen = False
            if nth > 0:
                before = memory[base_way + previous - first]
                seen = value > before or (value == before and way <= previous - first)
            if not seen and value > best:
                chosen, best = way, value
        return first + chosen

    def touched(entry, at, first, ways, fresh, params, memory):  # type: ignore[no-untyped-def]
        memory[at * ways + entry - first] = (1 << int(params[MOST])) - 2 if fresh else 0

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """A prediction a way: int64[sets * ways]."""
        return np.zeros(sets * ways, np.int64)
