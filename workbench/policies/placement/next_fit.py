"""Next fit: first fit that goes on from where it last granted."""

from __future__ import annotations

from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.structures.bitmaps import NOWHERE, first_start

RESUME = 0
"""Memory: the segment after the last grant."""


class NextFit(Placement):
    """Take the lowest feasible start from the end of the last grant on, else the lowest of all; there are no ties.

    A window never wraps around the end of the memory (spec 1, R1); only the search does. Spreads wear and tends to
    fragment.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> memory = NextFit().allocator(segments=8)
    >>> memory.take(3), memory.give_back(0, 3), memory.take(3), memory.take(3)
    (0, None, 3, 0)
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        start = first_start(see.free, see.length, see.memory[RESUME])
        return first_start(see.free, see.length, 0) if start == NOWHERE else start

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        see.memory[RESUME] = see.start + see.length
