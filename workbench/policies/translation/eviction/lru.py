"""LRU: the entry that has not been used for longest."""

from __future__ import annotations

from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView
from workbench.structures.set_assoc import NEWER, ROW


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
