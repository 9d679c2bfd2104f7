"""Size-segregated ends: small requests from the low end, large ones from the high end."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import first_start, last_start

THRESHOLD = 0


class SizeSegregatedEnds(Placement):
    """Take the lowest feasible start for a small request, the highest for a large one; there are no ties.

    The classic allocation of two stacks that grow toward each other: small and large requests do not cut each other's
    holes.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> policy = SizeSegregatedEnds(threshold=4)
    >>> policy.place("0111100111111100", 3), policy.place("0111100111111100", 4)
    (1, 10)
    """

    threshold: int = lever(
        16,
        least=1,
        most=4097,
        unit="segments",
        description="the smallest request that counts as large; 4097 makes all small",
    )

    @staticmethod
    def answer(see: PlacementView) -> int:
        return (
            last_start(see.free, see.length)
            if see.length >= see.levers.threshold
            else first_start(see.free, see.length, 0)
        )
