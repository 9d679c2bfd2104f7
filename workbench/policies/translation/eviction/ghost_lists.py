"""Evictions that remember pages that are gone: ARC and S3-FIFO, and the short lists that both keep in their memory.

- ARC: entries seen once and entries seen again share a set, and pages that left too early move the border.
- S3-FIFO: what comes passes a small queue, what is used there reaches the main queue, and ghosts go there at once.
- A list is a count, then whole numbers (ways, or the pages of entries that are gone), the oldest first. Everything
  takes time with the length of a list.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView, IncomingView, TouchView
from workbench.structures.set_assoc import NEWER, NONE, ROW

PAGE, SEEN, CHOOSES, KEEPS, FROM, TARGET, WAYS = range(7)
"""Memory of a set: the page that comes, in which list of gone pages it was (0 = none), whether a victim was asked for
since, whether its page is remembered, from which list it is proposed, the target for the entries seen once, a float64.
Then, a number a way each, in which list it is and its page; then the lists of the pages gone from either."""
ONCE, AGAIN = 1, 2


@kernel
def memory_of_set(ways: int) -> int:
    """Return how many numbers of memory a set has."""
    return int(WAYS + 2 * ways + 2 * (ways + 1))


@kernel
def gone_list(own: int, ways: int, which: int) -> int:
    """Return where the list of the pages begins that are gone from the entries seen once, or from those seen again."""
    return int(own + WAYS + 2 * ways + (which - ONCE) * (ways + 1))


@kernel
def in_list(memory: np.ndarray, own: int, ways: int, which: int) -> int:
    """Return how many ways of a set are in a list."""
    total = 0
    for way in range(ways):
        total += memory[own + WAYS + way] == which
    return total


@kernel
def move_target(memory: np.ndarray, own: int, by: float, ways: int) -> None:
    """Move the target for the entries seen once, between none and all ways."""
    targets = memory.view(np.float64)
    targets[own + TARGET] = min(max(targets[own + TARGET] + by, 0.0), float(ways))


@kernel
def next_in_list(see: Any, own: int, entry: int, which: int) -> int:
    """Return the first entry of a list from an entry on, in the order of use; -1 where there is none."""
    while entry != NONE and see.memory[own + WAYS + entry - see.first] != which:
        entry = see.entries[entry * ROW + NEWER]
    return int(entry)


@kernel
def trim_gone(memory: np.ndarray, own: int, ways: int) -> None:
    """Forget a page for one that comes unknown, and say whether the victim's is to be remembered (case IV)."""
    gone_once, gone_again = gone_list(own, ways, ONCE), gone_list(own, ways, AGAIN)
    once = in_list(memory, own, ways, ONCE)
    if once == ways:
        memory[own + KEEPS] = 0
    elif once + memory[gone_once] >= ways:
        remove_at(memory, gone_once, 0)
    elif ways + memory[gone_once] + memory[gone_again] >= 2 * ways:
        remove_at(memory, gone_again, 0)


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
        own = see.at * memory_of_set(see.ways)
        gone_once, gone_again = gone_list(own, see.ways, ONCE), gone_list(own, see.ways, AGAIN)
        once, again = see.memory[gone_once], see.memory[gone_again]
        see.memory[own + PAGE], see.memory[own + SEEN], see.memory[own + CHOOSES] = see.page, 0, 0
        place = position(see.memory, gone_once, see.page)
        if place >= 0:
            see.memory[own + SEEN] = ONCE
            move_target(see.memory, own, max(again / once, 1.0), see.ways)
            remove_at(see.memory, gone_once, place)
            return
        place = position(see.memory, gone_again, see.page)
        if place >= 0:
            see.memory[own + SEEN] = AGAIN
            move_target(see.memory, own, -max(once / again, 1.0), see.ways)
            remove_at(see.memory, gone_again, place)

    @staticmethod
    def answer(see: EvictionView) -> int:
        own = see.at * memory_of_set(see.ways)
        if see.nth == 0:
            see.memory[own + CHOOSES], see.memory[own + KEEPS] = 1, 1
            once, target = in_list(see.memory, own, see.ways, ONCE), see.memory.view(np.float64)[own + TARGET]
            full = once > target or (once == target and see.memory[own + SEEN] == AGAIN)
            see.memory[own + FROM] = ONCE if (full and once > 0) or once == see.ways else AGAIN
            if see.memory[own + SEEN] == 0:
                trim_gone(see.memory, own, see.ways)
            return next_in_list(see, own, see.oldest, see.memory[own + FROM])
        here = see.memory[own + WAYS + see.previous - see.first]
        entry = next_in_list(see, own, see.entries[see.previous * ROW + NEWER], here)
        if entry == NONE and here == see.memory[own + FROM]:
            entry = next_in_list(see, own, see.oldest, ONCE + AGAIN - here)
        return entry

    @staticmethod
    def touched(see: TouchView) -> None:
        own = see.at * memory_of_set(see.ways)
        way = own + WAYS + see.entry - see.first
        if not see.fresh:
            see.memory[way] = AGAIN
            return
        if see.memory[own + CHOOSES] and see.memory[own + KEEPS]:
            gone = gone_list(own, see.ways, see.memory[way])
            append_forgetting(see.memory, gone, see.ways, see.memory[way + see.ways])
        see.memory[own + CHOOSES] = 0
        see.memory[way] = AGAIN if see.memory[own + SEEN] else ONCE
        see.memory[way + see.ways] = see.memory[own + PAGE]

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return the ways' lists and pages, the pages that are gone, the target: int64[sets * (9 + 4 * ways)]."""
        return np.zeros(sets * int(memory_of_set(ways)), np.int64)


COMING, GHOST, ASKED_FOR, EVICTED, FROM_QUEUE, FIRST_WAY = range(6)
"""Memory of a set: the page that comes, whether it was a ghost, whether a victim was asked for since, whether one ever
was, where the queue begins from which candidates are proposed. Then, a number a way each, its uses and its page; then
the small queue, the main queue and the ghosts, each a list."""
MOST_USES = 3
"""What the counter of an entry in the main queue holds at most: two bits."""


@kernel
def small_list(own: int, ways: int) -> int:
    """Return where the list of the small queue begins."""
    return int(own + FIRST_WAY + 2 * ways)


@kernel
def main_list(own: int, ways: int) -> int:
    """Return where the list of the main queue begins."""
    return int(own + FIRST_WAY + 3 * ways + 1)


@kernel
def ghost_list(own: int, ways: int) -> int:
    """Return where the list of the ghosts begins."""
    return int(own + FIRST_WAY + 4 * ways + 2)


@kernel
def small_room(ways: int, share: float) -> int:
    """Return how many entries the small queue is meant to hold, at least one."""
    return max(int(ways * share), 1)


@kernel
def queues_of_set(ways: int, ghosts: int) -> int:
    """Return how many numbers of memory a set has."""
    return int(FIRST_WAY + 4 * ways + 3 + ghosts)


@kernel
def leave_small(memory: np.ndarray, own: int, ways: int, threshold: int) -> int:
    """Move what was used often from the small queue to the main one; return the first way that was not, or -1."""
    small, main = small_list(own, ways), main_list(own, ways)
    while memory[small] > 0:
        way = memory[small + 1]
        if memory[own + FIRST_WAY + way] < threshold:
            return int(way)
        remove_at(memory, small, 0)
        append(memory, main, way)
        memory[own + FIRST_WAY + way] = 0
    return -1


@kernel
def leave_main(memory: np.ndarray, own: int, ways: int) -> int:
    """Move what was used to the end of the main queue, one use less; return the first way that was not."""
    main = main_list(own, ways)
    while True:
        way = memory[main + 1]
        uses = min(memory[own + FIRST_WAY + way], MOST_USES)
        if uses == 0:
            return int(way)
        memory[own + FIRST_WAY + way] = uses - 1
        remove_at(memory, main, 0)
        append(memory, main, way)


@kernel
def choose_way(memory: np.ndarray, own: int, ways: int, small: int, threshold: int) -> int:
    """Return the way that leaves first, and keep from which queue."""
    way = -1
    if memory[main_list(own, ways)] <= ways - small:
        memory[own + FROM_QUEUE] = small_list(own, ways)
        way = leave_small(memory, own, ways, threshold)
    if way < 0:
        memory[own + FROM_QUEUE] = main_list(own, ways)
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
        own = see.at * queues_of_set(see.ways, ghosts)
        ghost = remove_number(see.memory, ghost_list(own, see.ways), see.page)
        see.memory[own + COMING], see.memory[own + GHOST], see.memory[own + ASKED_FOR] = see.page, int(ghost), 0

    @staticmethod
    def answer(see: EvictionView) -> int:
        own = see.at * queues_of_set(see.ways, int(see.ways * see.levers.ghost_share))
        if see.nth == 0:
            see.memory[own + ASKED_FOR], see.memory[own + EVICTED] = 1, 1
            small = small_room(see.ways, see.levers.small_share)
            return see.first + choose_way(see.memory, own, see.ways, small, see.levers.move_uses)
        here, way = see.memory[own + FROM_QUEUE], see.previous - see.first
        place = position(see.memory, here, way) + 1
        if place == 0 or place == see.memory[here]:
            here = small_list(own, see.ways) + main_list(own, see.ways) - here
            place = position(see.memory, here, way) + 1
        return see.first + see.memory[here + 1 + place]

    @staticmethod
    def touched(see: TouchView) -> None:
        ghosts, way = int(see.ways * see.levers.ghost_share), see.entry - see.first
        own = see.at * queues_of_set(see.ways, ghosts)
        uses = own + FIRST_WAY + way
        if not see.fresh:
            see.memory[uses] += 1
            return
        small, main = small_list(own, see.ways), main_list(own, see.ways)
        left_small = remove_number(see.memory, small, way)
        if left_small and see.memory[own + ASKED_FOR]:
            append_forgetting(see.memory, ghost_list(own, see.ways), ghosts, see.memory[uses + see.ways])
        if not left_small:
            remove_number(see.memory, main, way)
        room = small_room(see.ways, see.levers.small_share)
        waits = see.memory[own + EVICTED] or see.memory[small] < room
        append(see.memory, small if waits and not see.memory[own + GHOST] else main, way)
        see.memory[uses], see.memory[uses + see.ways] = 0, see.memory[own + COMING]
        see.memory[own + ASKED_FOR] = 0

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return uses and pages of the ways, two queues and the ghosts: int64[sets * (9 + 4 * ways + ghosts)]."""
        return np.zeros(sets * int(queues_of_set(ways, int(ways * self.ghost_share))), np.int64)


@kernel
def position(memory: np.ndarray, at: int, number: int) -> int:
    """Return where a number stands in the list that begins at an index, -1 where it does not."""
    for place in range(memory[at]):
        if memory[at + 1 + place] == number:
            return place
    return -1


@kernel
def append(memory: np.ndarray, at: int, number: int) -> None:
    """Put a number behind the last, for which the list has room."""
    memory[at] += 1
    memory[at + memory[at]] = number


@kernel
def remove_at(memory: np.ndarray, at: int, place: int) -> None:
    """Take the number at a place out; those behind it move up."""
    memory[at] -= 1
    for index in range(at + 1 + place, at + 1 + memory[at]):
        memory[index] = memory[index + 1]


@kernel
def remove_number(memory: np.ndarray, at: int, number: int) -> bool:
    """Take a number out, and return whether it was there."""
    place = position(memory, at, number)
    if place >= 0:
        remove_at(memory, at, place)
    return place >= 0


@kernel
def append_forgetting(memory: np.ndarray, at: int, room: int, number: int) -> None:
    """Put a number behind the last of a list with so much room; where it is full the oldest is forgotten."""
    if room > 0:
        if memory[at] == room:
            remove_at(memory, at, 0)
        append(memory, at, number)
