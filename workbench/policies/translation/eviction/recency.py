"""Evictions by recency, by order of arrival, by number of uses, by chance: LRU, Tree-PLRU, MRU, FIFO, LFU, random.

Tree-PLRU follows the bits of a binary tree to the side that was not used last.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, TouchView
from workbench.streams import Streams
from workbench.structures.linked_nodes import (
    ABSENT,
    CHAIN,
    KEY,
    LIST,
    NODE,
    Nodes,
    link,
    new_nodes,
    newer,
    row_of,
    unlink,
)
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
        nodes = counted_ways(see.memory, see.at, see.ways)
        before = see.ways if see.nth == 0 else see.previous - see.first
        return see.first + newer(nodes, before)

    @staticmethod
    def touched(see: TouchView) -> None:
        nodes, way = counted_ways(see.memory, see.at, see.ways), see.entry - see.first
        row = row_of(nodes, way)
        if see.fresh:
            if see.memory[row + COUNT] != ABSENT:
                leave_count(nodes, see.ways, way)
            join_count(nodes, see.ways, way, see.ways, 1)
            return
        uses, last = see.memory[row + USES] + 1, last_of_count(nodes, way)
        behind = newer(nodes, last)
        alone = last == way and see.memory[row_of(nodes, see.memory[row + OLDER]) + COUNT] != see.memory[row + COUNT]
        if alone and see.memory[row_of(nodes, behind) + USES] != uses:
            see.memory[row + USES] = uses
            return
        before = see.memory[row + OLDER] if last == way else last
        leave_count(nodes, see.ways, way)
        join_count(nodes, see.ways, way, before, uses)

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return the ways of each set, and a head, as nodes: int64[sets * (ways + 1) * 5]."""
        one = new_nodes(ways, 0, 1).reshape(-1, NODE)
        one[:, LAST], one[ways, USES], one[ways, COUNT] = np.arange(1, ways + 2), 0, NO_COUNT
        one[ways, LAST] = 0
        return np.tile(one.reshape(-1), sets)


USES, COUNT, LAST = KEY, LIST, CHAIN
"""Of a way: its uses, the number of its count of uses (-1 = none). Of a count, in the row of its number: the way that
is last of those with so many uses; of a free one the next free count, of the head the first of these."""
NO_COUNT = -2
"""The number of the head's count."""


@kernel
def counted_ways(memory: np.ndarray, at: int, ways: int) -> Nodes:
    """Return the ways of a set in a circle from its head on: by uses, and of equal uses by the last use."""
    return Nodes(memory, at * (ways + 1) * NODE, 0, 0)


@kernel
def last_of_count(nodes: Nodes, way: int) -> int:
    """Return the last way that has as many uses."""
    return int(nodes.memory[row_of(nodes, nodes.memory[row_of(nodes, way) + COUNT]) + LAST])


@kernel
def leave_count(nodes: Nodes, head: int, way: int) -> None:
    """Take a way out of those with its count; a count without a way is free."""
    memory, row = nodes.memory, row_of(nodes, way)
    count, before = memory[row + COUNT], memory[row + OLDER]
    at = row_of(nodes, count) + LAST
    if memory[at] == way:
        if memory[row_of(nodes, before) + COUNT] == count:
            memory[at] = before
        else:
            memory[at], memory[row_of(nodes, head) + LAST] = memory[row_of(nodes, head) + LAST], count
    unlink(nodes, way)


@kernel
def join_count(nodes: Nodes, head: int, way: int, before: int, uses: int) -> None:
    """Make a way the last with so many uses; where none has as many, it comes behind the last way with fewer."""
    memory, row, behind = nodes.memory, row_of(nodes, way), newer(nodes, before)
    if behind != head and memory[row_of(nodes, behind) + USES] == uses:
        before = last_of_count(nodes, behind)
        memory[row + COUNT] = memory[row_of(nodes, behind) + COUNT]
    else:
        free = row_of(nodes, head) + LAST
        memory[row + COUNT] = memory[free]
        memory[free] = memory[row_of(nodes, memory[free]) + LAST]
    link(nodes, way, before)
    memory[row + USES] = uses
    memory[row_of(nodes, memory[row + COUNT]) + LAST] = way


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
