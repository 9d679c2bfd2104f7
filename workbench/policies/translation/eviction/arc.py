"""ARC: entries seen once and entries seen again share a set, and pages that left too early move the border."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel
from workbench.policies.translation.eviction.page_lists import append_forgetting, position, remove_at
from workbench.policies.translation.eviction.question import Eviction, EvictionView, IncomingView, TouchView
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
