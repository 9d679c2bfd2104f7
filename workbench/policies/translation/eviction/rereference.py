"""Evictions by predicted re-reference: SRRIP, and DRRIP, which duels it against bimodal insertion in a few sets."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, TouchView

BITS_OF_PREDICTION = 0
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


APART, SELECTOR = 1, 2
"""Parameters: how far apart the watched sets of a kind are, the selector's bits. Memory holds, behind the predictions,
the selector and how many bimodal insertions there were."""
ONE_IN = 32
"""One bimodal insertion in so many is predicted as SRRIP does."""


class DRRIP(SRRIP):
    """Evict as SRRIP does, ties too; what comes in is predicted as there, or bimodally: farthest off but for one in 32.

    Two kinds of watched sets always insert by one of the two, and a selector counts their insertions against each
    other: every other set follows the kind with fewer. The selector starts on SRRIP's side. Sets are counted over all
    TLBs that the policy serves, which share one selector; with fewer sets than `sets_apart` a kind may be missing.

    References
    ----------
    spec 4, section 7. Jaleel, Theobald, Steely, Emer, "High performance cache replacement using re-reference interval
    prediction (RRIP)", ISCA 2010, section 5 (set dueling).

    Examples
    --------
    >>> DRRIP().order(inserted="abcd", touched="a")
    ['b', 'c', 'd', 'a']
    """

    sets_apart: int = lever(8, least=2, most=1024, unit="sets", description="one watched set of each kind in so many")
    selector_bits: int = lever(10, least=1, most=30, unit="bits", description="bits of the selector")

    @staticmethod
    def touched(see: TouchView) -> None:
        way, farthest = see.at * see.ways + see.entry - see.first, (1 << see.levers.bits) - 1
        if not see.fresh:
            see.memory[way] = 0
            return
        selector, inserted = see.memory.size - 2, see.memory.size - 1
        apart, largest = see.levers.sets_apart, (1 << see.levers.selector_bits) - 1
        bimodal = 2 * see.memory[selector] > largest
        if see.at % apart == 0:
            bimodal = False
            see.memory[selector] = min(see.memory[selector] + 1, largest)
        elif see.at % apart == apart // 2:
            bimodal = True
            see.memory[selector] = max(see.memory[selector] - 1, 0)
        see.memory[way] = farthest - 1
        if bimodal:
            see.memory[inserted] += 1
            if see.memory[inserted] % ONE_IN != 0:
                see.memory[way] = farthest

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return a prediction a way, the selector just below its middle, bimodal insertions: int64[sets * ways + 2]."""
        middle = (1 << self.selector_bits) // 2 - 1
        return np.r_[np.zeros(sets * ways, np.int64), middle, 0]
