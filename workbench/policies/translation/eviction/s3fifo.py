"""S3-FIFO: what comes passes a small queue, what is used there reaches the main queue, and ghosts go there at once."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.translation.eviction.page_lists import (
    append,
    append_forgetting,
    position,
    remove_at,
    remove_number,
)
from workbench.policies.translation.eviction.question import Eviction, EvictionView, IncomingView, TouchView

PAGE, GHOST, CHOOSES, EVICTED, FROM, WAYS = range(6)
"""Memory of a set: the page that comes, whether it was a ghost, whether a victim was asked for since, whether one ever
was, where the queue begins from which candidates are proposed. Then, a number a way each, its uses and its page; then
the small queue, the main queue and the ghosts, each a list."""
MOST_USES = 3
"""What the counter of an entry in the main queue holds at most: two bits."""


@kernel
def small_list(own: int, ways: int) -> int:
    """Return where the list of the small queue begins."""
    return int(own + WAYS + 2 * ways)


@kernel
def main_list(own: int, ways: int) -> int:
    """Return where the list of the main queue begins."""
    return int(own + WAYS + 3 * ways + 1)


@kernel
def ghost_list(own: int, ways: int) -> int:
    """Return where the list of the ghosts begins."""
    return int(own + WAYS + 4 * ways + 2)


@kernel
def small_room(ways: int, share: float) -> int:
    """Return how many entries the small queue is meant to hold, at least one."""
    return max(int(ways * share), 1)


@kernel
def memory_of_set(ways: int, ghosts: int) -> int:
    """Return how many numbers of memory a set has."""
    return int(WAYS + 4 * ways + 3 + ghosts)


@kernel
def leave_small(memory: np.ndarray, own: int, ways: int, threshold: int) -> int:
    """Move what was used often from the small queue to the main one; return the first way that was not, or -1."""
    small, main = small_list(own, ways), main_list(own, ways)
    while memory[small] > 0:
        way = memory[small + 1]
        if memory[own + WAYS + way] < threshold:
            return int(way)
        remove_at(memory, small, 0)
        append(memory, main, way)
        memory[own + WAYS + way] = 0
    return -1


@kernel
def leave_main(memory: np.ndarray, own: int, ways: int) -> int:
    """Move what was used to the end of the main queue, one use less; return the first way that was not."""
    main = main_list(own, ways)
    while True:
        way = memory[main + 1]
        uses = min(memory[own + WAYS + way], MOST_USES)
        if uses == 0:
            return int(way)
        memory[own + WAYS + way] = uses - 1
        remove_at(memory, main, 0)
        append(memory, main, way)


@kernel
def choose_way(memory: np.ndarray, own: int, ways: int, small: int, threshold: int) -> int:
    """Return the way that leaves first, and keep from which queue."""
    way = -1
    if memory[main_list(own, ways)] <= ways - small:
        memory[own + FROM] = small_list(own, ways)
        way = leave_small(memory, own, ways, threshold)
    if way < 0:
        memory[own + FROM] = main_list(own, ways)
        way = leave_main(memory, own, ways)
    return way


class S3FIFO(Eviction):
    """Evict the oldest entry of a small queue that was used less than twice there; no ties, for queues have an order.

    What comes enters the small queue, or the main one if it is a ghost: a page that left the small queue lately.
    Entries of the small queue that were used move to the main one instead of leaving. When that exceeds its share of
    the ways, its oldest unused entry goes; used ones begin anew with one use less, of three at most. Before the first
    eviction what the small queue has no room for enters the main one. With less than 20 ways the small queue has one
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
        ghosts = int(see.ways * see.levers.ghost_share)
        own = see.at * memory_of_set(see.ways, ghosts)
        ghost = remove_number(see.memory, ghost_list(own, see.ways), see.page)
        see.memory[own + PAGE], see.memory[own + GHOST], see.memory[own + CHOOSES] = see.page, int(ghost), 0

    @staticmethod
    def answer(see: EvictionView) -> int:
        own = see.at * memory_of_set(see.ways, int(see.ways * see.levers.ghost_share))
        if see.nth == 0:
            see.memory[own + CHOOSES], see.memory[own + EVICTED] = 1, 1
            small = small_room(see.ways, see.levers.small_share)
            return see.first + choose_way(see.memory, own, see.ways, small, see.levers.move_uses)
        here, way = see.memory[own + FROM], see.previous - see.first
        place = position(see.memory, here, way) + 1
        if place == 0 or place == see.memory[here]:
            here = small_list(own, see.ways) + main_list(own, see.ways) - here
            place = position(see.memory, here, way) + 1
        return see.first + see.memory[here + 1 + place]

    @staticmethod
    def touched(see: TouchView) -> None:
        ghosts, way = int(see.ways * see.levers.ghost_share), see.entry - see.first
        own = see.at * memory_of_set(see.ways, ghosts)
        uses = own + WAYS + way
        if not see.fresh:
            see.memory[uses] += 1
            return
        small, main = small_list(own, see.ways), main_list(own, see.ways)
        left_small = remove_number(see.memory, small, way)
        if left_small and see.memory[own + CHOOSES]:
            append_forgetting(see.memory, ghost_list(own, see.ways), ghosts, see.memory[uses + see.ways])
        if not left_small:
            remove_number(see.memory, main, way)
        room = small_room(see.ways, see.levers.small_share)
        waits = see.memory[own + EVICTED] or see.memory[small] < room
        append(see.memory, small if waits and not see.memory[own + GHOST] else main, way)
        see.memory[uses], see.memory[uses + see.ways] = 0, see.memory[own + PAGE]
        see.memory[own + CHOOSES] = 0

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return uses and pages of the ways, two queues and the ghosts: int64[sets * (9 + 4 * ways + ghosts)]."""
        return np.zeros(sets * int(memory_of_set(ways, int(ways * self.ghost_share))), np.int64)
