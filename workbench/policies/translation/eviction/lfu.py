"""LFU: the entry that was used least often since it came."""

from __future__ import annotations

import numpy as np

from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, TouchView
from workbench.structures.set_assoc import NEWER, NONE, ROW


class LFU(Eviction):
    """Evict the entry that was used least often since it came; of those used equally often the least recently used.

    The insertion is the first use. An entry that leaves is forgotten, and begins anew when it comes again. Ties go as
    in libCacheSim, whose LFU has a queue for each number of uses. Further candidates: by uses, then by recency.

    References
    ----------
    Shah, Mitra, Matani, "An O(1) algorithm for implementing the LFU cache eviction scheme", 2010; ties:
    libCacheSim 0.3.5, `LFU`.

    Examples
    --------
    >>> LFU().order(inserted="abcd", touched="aab")
    ['c', 'd', 'b', 'a']
    """

    @staticmethod
    def answer(see: EvictionView) -> int:
        uses, at_least = see.at * see.ways - see.first, 1
        if see.nth > 0:
            equal = see.memory[uses + see.previous]
            entry = see.entries[see.previous * ROW + NEWER]
            while entry != NONE:
                if see.memory[uses + entry] == equal:
                    return entry
                entry = see.entries[entry * ROW + NEWER]
            at_least = equal + 1
        chosen, entry = -1, see.oldest
        while entry != NONE:
            used = see.memory[uses + entry]
            if used >= at_least and (chosen < 0 or used < see.memory[uses + chosen]):
                chosen = entry
            entry = see.entries[entry * ROW + NEWER]
        return chosen

    @staticmethod
    def touched(see: TouchView) -> None:
        way = see.at * see.ways + see.entry - see.first
        see.memory[way] = 1 if see.fresh else see.memory[way] + 1

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return the uses of each way's entry: int64[sets * ways]."""
        return np.zeros(sets * ways, np.int64)
