"""Belady's bound: the fewest misses of a private TLB that knows the future (spec 4, section 7)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from workbench.errors import wrong_value


def belady_misses(page: Sequence[int] | np.ndarray, entries: int, ways: int = 0) -> int:
    """Return the misses of the policy that evicts the page whose next use is farthest off: no other has fewer.

    Each access fills its page, and nobody else does. Pages are laid over the sets by their number.

    Parameters
    ----------
    page : int64[accesses]
        The pages that one core accesses, in order.
    entries, ways : int
        Of the TLB; 0 ways = fully associative.

    Raises
    ------
    InputError
        There is no entry, or the ways do not divide the entries.

    References
    ----------
    Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.

    Examples
    --------
    >>> belady_misses([1, 2, 3, 1, 2, 3, 1, 2, 3], entries=2)
    6
    """
    if entries < 1:
        raise wrong_value("", "entries", "must be at least 1", entries, 1)
    if ways and entries % ways:
        raise wrong_value("", "ways", f"must divide entries ({entries})", ways)
    sets = entries // ways if ways else 1
    pages = np.asarray(page, np.int64)
    return sum(_misses(pages[pages % sets == k], ways or entries) for k in range(sets))


def _misses(pages: np.ndarray, entries: int) -> int:
    """Count the misses of one set: the heap holds each use by its next, farthest first; what has been used since is
    passed over."""
    following = next_uses(pages)
    held: dict[int, int] = {}
    heap: list[tuple[int, int]] = []
    misses = 0
    for at, wanted in enumerate(pages.tolist()):
        if wanted not in held:
            misses += 1
            while len(held) >= entries:
                use, gone = heapq.heappop(heap)
                if held.get(gone) == -use:
                    del held[gone]
        held[wanted] = int(following[at])
        heapq.heappush(heap, (-held[wanted], wanted))
    return misses


def next_uses(pages: np.ndarray) -> np.ndarray:
    """Return for each access the next one to the same page: int64[accesses], their number where there is none.

    >>> next_uses(np.array([5, 7, 5])).tolist()
    [2, 3, 3]
    """
    order = np.argsort(pages, kind="stable")
    following = np.full(pages.size, pages.size, np.int64)
    same = pages[order[1:]] == pages[order[:-1]]
    following[order[:-1][same]] = order[1:][same]
    return following
