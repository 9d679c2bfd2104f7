"""Evictions that remember pages that are gone: ARC and S3-FIFO.

- ARC: entries seen once and entries seen again share a set, and pages that left too early move the border.
- S3-FIFO: what comes passes a small queue, what is used there reaches the main queue, and ghosts go there at once.
- Ways and ghosts (pages that are gone) are nodes of linked lists, and ghosts are found by their pages. So everything
  takes constant time, whatever the number of ways.
- An entry that was invalidated keeps its place in a list until its way is filled again. No victim is asked for before.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, IncomingView, TouchView
from workbench.structures.linked_nodes import (
    ABSENT,
    CHAIN,
    KEY,
    Nodes,
    append,
    find_key,
    give_key,
    length,
    list_of,
    move,
    new_nodes,
    newer,
    oldest,
    places_for,
    row_of,
    take_key,
    take_out,
)

OF_SET, GHOSTS, MASK, SETS = range(4)
"""Memory: how many numbers a set has, how many ghosts, the mask of its hash table; where the sets begin. A set has six
numbers, its nodes (ways, ghosts, heads of lists), and the hash table of its ghosts."""
OWN = 6
"""Numbers of a set before its nodes."""


def ghost_memory(sets: int, ways: int, ghosts: int, heads: int) -> np.ndarray:
    """Return the memory of empty sets; their ghosts are in the list of the last head."""
    nodes, places = new_nodes(ways, ghosts, heads), places_for(ghosts)
    one = np.r_[np.zeros(OWN, np.int64), nodes, np.full(places, ABSENT)]
    return np.r_[one.size, ghosts, places - 1, np.tile(one, sets)]


@kernel
def own_of(memory: np.ndarray, at: int) -> int:
    """Return the start of the numbers of a set."""
    return int(SETS + at * memory[OF_SET])


@kernel
def nodes_of(memory: np.ndarray, own: int) -> Nodes:
    """Return the nodes of the set whose numbers begin there."""
    mask = memory[MASK]
    return Nodes(memory, own + OWN, own + memory[OF_SET] - mask - 1, mask)


@kernel
def leave_list(nodes: Nodes, way: int) -> int:
    """Take a way out of the list that it is in, if any; return the head of that list, or -1."""
    here = list_of(nodes, way)
    if here != ABSENT:
        take_out(nodes, way)
    return here


@kernel
def remember(nodes: Nodes, free: int, gone: int, page: int) -> None:
    """Make a page the newest ghost of a list, in place of its oldest where no ghost is free."""
    ghost = oldest(nodes, free)
    if ghost == free:
        ghost = oldest(nodes, gone)
        take_key(nodes, ghost)
    take_out(nodes, ghost)
    append(nodes, gone, ghost)
    give_key(nodes, ghost, page)


@kernel
def forget(nodes: Nodes, free: int, ghost: int) -> None:
    """Let a ghost be free."""
    take_key(nodes, ghost)
    take_out(nodes, ghost)
    append(nodes, free, ghost)


PAGE, SEEN, CHOOSES, KEEPS, FROM, TARGET = range(OWN)
"""Of a set: the page that comes, the list in which its ghost was (0 = none), whether a victim was asked for since.
Then whether the victim's page is remembered, the list that it leaves, the target for entries seen once, a float64."""
ONCE, AGAIN = 1, 2
GONE, FREE, LISTS = 2, 4, 5
"""From a list of entries to the list of its ghosts; the list of free ghosts; lists in all."""


@kernel
def list_head(ways: int, which: int) -> int:
    """Return the head of a list: its ghosts are as many as its ways."""
    return 2 * ways + which - ONCE


@kernel
def move_target(memory: np.ndarray, own: int, by: float, ways: int) -> None:
    """Move the target for the entries seen once, between none and all ways."""
    targets = memory.view(np.float64)
    targets[own + TARGET] = min(max(targets[own + TARGET] + by, 0.0), float(ways))


@kernel
def trim_gone(memory: np.ndarray, own: int, ways: int) -> None:
    """Forget a page for one that comes unknown, and say whether the victim's is to be remembered (case IV).

    So there are never more ghosts than ways.
    """
    nodes = nodes_of(memory, own)
    gone_once, gone_again = list_head(ways, ONCE + GONE), list_head(ways, AGAIN + GONE)
    once, left_once = length(nodes, list_head(ways, ONCE)), length(nodes, gone_once)
    # Case A of the paper with all ways seen once: the victim does not become a ghost.
    if once == ways:
        memory[own + KEEPS] = 0
    elif once + left_once >= ways:
        forget(nodes, list_head(ways, ONCE + FREE), oldest(nodes, gone_once))
    elif left_once + length(nodes, gone_again) >= ways:
        # Case B: entries and ghosts together are twice the ways.
        forget(nodes, list_head(ways, ONCE + FREE), oldest(nodes, gone_again))


class ARC(Eviction):
    """Evict the least recently used of the entries seen once, or of those seen again, whichever exceed their share.

    Each kind remembers the pages that left it, as many as the set has ways. A page that comes back while it is
    remembered moves the target for the entries seen once: up if it left them, down if it left the others, by the ratio
    of the two memories, at least 1; it then counts as seen again. At the target itself the entries seen again lose one,
    unless the page that comes had left them: so ties break. Further candidates: the rest of that kind by recency, then
    the other kind. An entry that was invalidated is not remembered.

    References
    ----------
    Megiddo, Modha, "ARC: A self-tuning, low overhead replacement cache", FAST 2003, figure 4; libCacheSim 0.3.5, `ARC`.

    Examples
    --------
    >>> ARC().order(inserted="abcd", touched="a")
    ['b', 'c', 'd', 'a']
    """

    @staticmethod
    def incoming(see: IncomingView) -> None:
        own = own_of(see.memory, see.at)
        nodes = nodes_of(see.memory, own)
        see.memory[own + PAGE], see.memory[own + SEEN], see.memory[own + CHOOSES] = see.page, 0, 0
        ghost = find_key(nodes, see.page)
        if ghost == ABSENT:
            return
        gone_once, gone_again = list_head(see.ways, ONCE + GONE), list_head(see.ways, AGAIN + GONE)
        once, again = length(nodes, gone_once), length(nodes, gone_again)
        if list_of(nodes, ghost) == gone_once:
            see.memory[own + SEEN] = ONCE
            move_target(see.memory, own, max(again / once, 1.0), see.ways)
        else:
            see.memory[own + SEEN] = AGAIN
            move_target(see.memory, own, -max(once / again, 1.0), see.ways)
        forget(nodes, list_head(see.ways, ONCE + FREE), ghost)

    @staticmethod
    def answer(see: EvictionView) -> int:
        own = own_of(see.memory, see.at)
        nodes = nodes_of(see.memory, own)
        if see.nth == 0:
            see.memory[own + CHOOSES], see.memory[own + KEEPS] = 1, 1
            once, target = length(nodes, list_head(see.ways, ONCE)), see.memory.view(np.float64)[own + TARGET]
            full = once > target or (once == target and see.memory[own + SEEN] == AGAIN)
            # If all ways were seen once, the other list is empty.
            see.memory[own + FROM] = ONCE if (full and once > 0) or once == see.ways else AGAIN
            if see.memory[own + SEEN] == 0:
                trim_gone(see.memory, own, see.ways)
            return see.first + oldest(nodes, list_head(see.ways, see.memory[own + FROM]))
        before = see.previous - see.first
        here, way = list_of(nodes, before), newer(nodes, before)
        if way == here and here == list_head(see.ways, see.memory[own + FROM]):
            way = oldest(nodes, list_head(see.ways, ONCE + AGAIN - see.memory[own + FROM]))
        return see.first + way

    @staticmethod
    def touched(see: TouchView) -> None:
        own, way = own_of(see.memory, see.at), see.entry - see.first
        nodes = nodes_of(see.memory, own)
        if not see.fresh:
            move(nodes, list_head(see.ways, AGAIN), way)
            return
        # Only now is it known which candidate left: the one whose way is filled.
        here, key = leave_list(nodes, way), row_of(nodes, way) + KEY
        if see.memory[own + CHOOSES] and see.memory[own + KEEPS]:
            remember(nodes, list_head(see.ways, ONCE + FREE), here + GONE, see.memory[key])
        see.memory[own + CHOOSES] = 0
        append(nodes, list_head(see.ways, AGAIN if see.memory[own + SEEN] else ONCE), way)
        see.memory[key] = see.memory[own + PAGE]

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return the ways and ghosts of each set, as nodes: int64[3 + sets * numbers of a set]."""
        return ghost_memory(sets, ways, ways, LISTS)


COMING, GHOST, ASKED_FOR, EVICTED, FROM_QUEUE = range(OWN - 1)
"""Of a set: the page that comes, whether it was a ghost, whether a victim was asked for since, whether one ever was.
Then the head of the queue from which candidates are proposed."""
USES = CHAIN
"""Of a way's node: the uses of its entry."""
QUEUES = 4
"""Heads behind the ghosts: of the small queue, the main queue, the ghosts in use, the free ghosts."""
MOST_USES = 3
"""What the counter of an entry in the main queue holds at most: two bits."""


@kernel
def small_room(ways: int, share: float) -> int:
    """Return the intended number of entries of the small queue, at least one."""
    return max(int(ways * share), 1)


@kernel
def small_head(memory: np.ndarray, ways: int) -> int:
    """Return the head of the small queue; those of the main queue and of the ghosts follow."""
    return int(ways + memory[GHOSTS])


@kernel
def move_to(nodes: Nodes, head: int, way: int, uses: int) -> None:
    """Make a way the newest of a queue, with so many uses."""
    move(nodes, head, way)
    nodes.memory[row_of(nodes, way) + USES] = uses


@kernel
def leave_small(nodes: Nodes, small: int, threshold: int) -> int:
    """Move what was used often from the small queue to the main one; return the first way that was not, or its head."""
    way = oldest(nodes, small)
    while way != small and nodes.memory[row_of(nodes, way) + USES] >= threshold:
        move_to(nodes, small + 1, way, 0)
        way = oldest(nodes, small)
    return way


@kernel
def leave_main(nodes: Nodes, main: int) -> int:
    """Move what was used to the end of the main queue, one use less; return the first way that was not."""
    way = oldest(nodes, main)
    while nodes.memory[row_of(nodes, way) + USES] > 0:
        uses = nodes.memory[row_of(nodes, way) + USES]
        move_to(nodes, main, way, min(uses, MOST_USES) - 1)
        way = oldest(nodes, main)
    return way


class S3FIFO(Eviction):
    """Evict the oldest entry of a small queue that was used less than twice there; no ties, for queues have an order.

    What comes enters the small queue, or the main one if it is a ghost: a page that left the small queue lately.
    Entries of the small queue that were used move to the main one instead of leaving. When that exceeds its share of
    the ways, its oldest unused entry goes; used ones begin again with one use less, of three at most. Before the first
    eviction what the small queue has no space for enters the main one. With less than 20 ways the small queue has one
    way, where libCacheSim's would take nothing in. Further candidates: that queue from its oldest on, then the other.

    References
    ----------
    Yang, Zhang, Qiu, Yue, Vigfusson, "FIFO queues are all you need for cache eviction", SOSP 2023, section 4;
    libCacheSim 0.3.5, `S3FIFO`, which fills the main queue first and moves after two uses.

    Examples
    --------
    >>> S3FIFO().order(inserted="abcd", touched="aab")
    ['c', 'd', 'a', 'b']
    """

    small_share: float = lever(0.1, least=0.01, most=0.9, step=0.01, description="the small queue's share of the ways")
    ghost_share: float = lever(0.9, least=0, most=4, step=0.1, description="how many ghosts there are, in sets' ways")
    move_uses: int = lever(
        2, least=1, most=16, unit="uses", description="uses after which an entry leaves for the main queue"
    )

    @staticmethod
    def incoming(see: IncomingView) -> None:
        own = own_of(see.memory, see.at)
        nodes = nodes_of(see.memory, own)
        ghost = find_key(nodes, see.page)
        if ghost != ABSENT:
            forget(nodes, small_head(see.memory, see.ways) + 3, ghost)
        see.memory[own + COMING], see.memory[own + ASKED_FOR] = see.page, 0
        see.memory[own + GHOST] = ghost != ABSENT

    @staticmethod
    def answer(see: EvictionView) -> int:
        own, small = own_of(see.memory, see.at), small_head(see.memory, see.ways)
        nodes = nodes_of(see.memory, own)
        if see.nth == 0:
            see.memory[own + ASKED_FOR], see.memory[own + EVICTED] = 1, 1
            way, queue = small, small
            if length(nodes, small + 1) <= see.ways - small_room(see.ways, see.levers.small_share):
                way = leave_small(nodes, small, see.levers.move_uses)
            if way == small:
                way, queue = leave_main(nodes, small + 1), small + 1
            see.memory[own + FROM_QUEUE] = queue
            return see.first + way
        before, queue = see.previous - see.first, see.memory[own + FROM_QUEUE]
        way = newer(nodes, before)
        if way == queue:
            way = oldest(nodes, 2 * small + 1 - queue)
        return see.first + way

    @staticmethod
    def touched(see: TouchView) -> None:
        own, way, small = own_of(see.memory, see.at), see.entry - see.first, small_head(see.memory, see.ways)
        nodes = nodes_of(see.memory, own)
        row = row_of(nodes, way)
        if not see.fresh:
            see.memory[row + USES] += 1
            return
        if leave_list(nodes, way) == small and see.memory[own + ASKED_FOR] and see.memory[GHOSTS] > 0:
            remember(nodes, small + 3, small + 2, see.memory[row + KEY])
        waits = see.memory[own + EVICTED] or length(nodes, small) < small_room(see.ways, see.levers.small_share)
        append(nodes, small if waits and not see.memory[own + GHOST] else small + 1, way)
        see.memory[row + USES], see.memory[row + KEY] = 0, see.memory[own + COMING]
        see.memory[own + ASKED_FOR] = 0

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return the ways and ghosts of each set, as nodes: int64[3 + sets * numbers of a set]."""
        return ghost_memory(sets, ways, int(ways * self.ghost_share), QUEUES)
