"""The eviction by number of uses: LFU.

The ways of a set stand in one circle: by uses, and of equal uses by the last use. Of each count of uses the last way is
known, so an entry that is used once more finds its new place in constant time.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, TouchView
from workbench.structures.linked_nodes import (
    ABSENT,
    CHAIN,
    KEY,
    LIST,
    NODE,
    OLDER,
    Nodes,
    link,
    new_nodes,
    newer,
    row_of,
    unlink,
)

USES, COUNT, LAST = KEY, LIST, CHAIN
"""Of a way: its uses, and the number of its count of uses, -1 = none.

The row of a count's number holds the last way with that count. The row of a free count holds the next free one, the
head's row the first."""
NO_COUNT = -2
"""The number of the head's count."""


class LFU(Eviction):
    """Evict the entry that was used least often since it came; of those used equally often the least recently used.

    The insertion is the first use. An entry that leaves is forgotten, and begins again when it comes again. Ties go as
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
        # The entry is alone in its count, and no entry has the next count, so it keeps its place.
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
