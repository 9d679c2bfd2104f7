"""Tree-PLRU: follow the bits of a binary tree to the side that was not used last."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, TouchView


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
