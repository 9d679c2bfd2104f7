"""Alternate ends: low and high by turns, whatever the distance."""

from __future__ import annotations

from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.structures.bitmaps import first_start, last_start

HIGH_NEXT = 0
"""Memory: 1 when the next grant comes from the high end."""


class AlternateEnds(Placement):
    """Take the lowest and the highest feasible start by turns, the lowest first; there are no ties.

    The turn changes with a grant, not with a refusal. Shows how much of the wear of `NearestBoundary` comes from using
    both ends at all.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> memory = AlternateEnds().allocator(segments=16)
    >>> memory.take(3), memory.take(3), memory.take(3)
    (0, 13, 3)
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        return last_start(see.free, see.length) if see.memory[HIGH_NEXT] else first_start(see.free, see.length, 0)

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        see.memory[HIGH_NEXT] = 1 - see.memory[HIGH_NEXT]
