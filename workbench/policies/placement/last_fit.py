"""Last fit: the mirror image of first fit."""

from __future__ import annotations

from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import last_start


class LastFit(Placement):
    """Take the highest feasible start; there are no ties.

    Mirrors first fit segment for segment, so that their completion times are equal on every queue: a free test of an
    engine.

    References
    ----------
    spec 1, sections 6 and 7.

    Examples
    --------
    >>> LastFit().place("0111100111111100", 3)
    11
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        return last_start(see.free, see.length)
