"""Evictions by recency, by order of arrival, by chance: LRU, Tree-PLRU, MRU, FIFO, random.

Tree-PLRU follows the bits of a binary tree to the side that was not used last.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, TouchView
from workbench.streams import Streams
from workbench.structures.rng import below
from workbench.structures.set_assoc import LATER, NEWER, OLDER, ROW


class LRU(Eviction):
    """Evict the least recently used entry, then the next; an insertion is a use, so there are no ties.

    References
    ----------
    spec 4, E16: the control for the document's MRU.

    Examples
    --------
    >>> LRU().order(inserted="abcd", touched="ba")
    ['c', 'd', 'b', 'a']
    """

    @staticmethod
    def answer(see: EvictionView) -> int:
        return see.oldest if see.nth == 0 else see.entries[see.previous * ROW + NEWER]


class FIFO(Eviction):
    """Evict the entry that came first, then the next, however they were used; there are no ties.

    References
    ----------
    spec 4, section 2, `base_eviction`.

    Examples
    --------
    >>> FIFO().order(inserted="abcd", touched="a")
    ['a', 'b', 'c', 'd']
    """

    @staticmethod
    def answer(see: EvictionView) -> int:
        return see.earliest if see.nth == 0 else see.entries[see.previous * ROW + LATER]


class MRU(Eviction):
    """Evict the most recently used entry, then the one before; an insertion is a use, so there are no ties.

    Suits cyclic sweeps over more pages than fit; keeps stale entries after a change of phase.

    References
    ----------
    spec 4, R22, E16: the document's base policy.

    Examples
    --------
    >>> MRU().order(inserted="abcd", touched="a")
    ['a', 'd', 'c', 'b']
    """

    @staticmethod
    def answer(see: EvictionView) -> int:
        return see.newest if see.nth == 0 else see.entries[see.previous * ROW + OLDER]


GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class Random(Eviction):
    """Evict an entry at random, each equally likely; further candidates are the ways behind it, in a circle; no ties.

    References
    ----------
    spec 4, section 2, `base_eviction`.

    Examples
    --------
    >>> "".join(Random().order(inserted="abcd", seed=1)) in ("abcd", "bcda", "cdab", "dabc")
    True
    """

    draws = True

    @staticmethod
    def answer(see: EvictionView) -> int:
        if see.nth == 0:
            return see.first + below(see.memory, GENERATOR, see.ways)
        return see.previous + 1 if see.previous + 1 < see.first + see.ways else see.first

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random"), 1)])


@kernel
def leaves(ways: int) -> int:
    """Return the leaves of the tree: the least power of two that is not below the ways.

    >>> leaves(5), leaves(8), leaves(1)
    (8, 8, 1)
    """
    count = 1
    while count < ways:
        count *= 2
    return count


@kernel
def leaf(memory: np.ndarray, tree: int, count: int, turns: int) -> int:
    """Return the leaf at which one arrives by the bits of a tree, going the other way wherever `turns` has a 1, root
    first."""
    node, half = 1, count // 2
    while node < count:
        node = 2 * node + (memory[tree + node] ^ int(turns // half % 2))
        half //= 2
    return node - count


class TreePLRU(Eviction):
    """Evict the entry to which the bits of a binary tree point, which point away from what was used last; no ties.

    Further candidates: the leaves in the order of a walk that turns back at the lowest level first. Where the ways are
    no power of two, leaves without a way are passed over.

    References
    ----------
    spec 4, section 7. Al-Zoubi, Milenkovic, Milenkovic, "Performance evaluation of cache replacement policies for the
    SPEC CPU2000 benchmark suite", ACM-SE 2004.

    Examples
    --------
    >>> TreePLRU().order(inserted="abcd"), TreePLRU().order(inserted="abcd", touched="a")
    (['a', 'b', 'c', 'd'], ['c', 'd', 'b', 'a'])
    """

    @staticmethod
    def answer(see: EvictionView) -> int:
        count = leaves(see.ways)
        leaf_number, turns = 0, 0
        while True:
            way = leaf(see.memory, see.at * count, count, turns)
            if way < see.ways:
                if leaf_number == see.nth:
                    return see.first + way
                leaf_number += 1
            turns += 1

    @staticmethod
    def touched(see: TouchView) -> None:
        count = leaves(see.ways)
        node = count + see.entry - see.first
        while node > 1:
            see.memory[see.at * count + node // 2] = 1 - node % 2
            node //= 2

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return a bit a node, all pointing at the lowest way: int64[sets * leaves]."""
        return np.zeros(sets * int(leaves(ways)), np.int64)
