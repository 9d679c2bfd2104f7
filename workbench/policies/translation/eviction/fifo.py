"""FIFO: the entry that came first."""

from __future__ import annotations

from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView
from workbench.structures.set_assoc import LATER, ROW


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
