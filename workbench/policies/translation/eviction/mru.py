"""MRU: the entry that was used last."""

from __future__ import annotations

from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView
from workbench.structures.set_assoc import OLDER, ROW


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
