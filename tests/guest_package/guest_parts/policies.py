"""A placement whose code reads a table of the package."""

from guest_parts.tables import SHIFT
from workbench.levers import lever
from workbench.policies.placement.question import Placement
from workbench.structures.bitmaps import is_free


class GapFit(Placement):
    """Take the lowest feasible start after some segments, else the lowest of all."""

    skip: int = lever(0, least=0, most=100, unit="segments", description="segments that are left free at first")

    @staticmethod
    def answer(see):
        lowest = -1
        for start in range(see.segments - see.length + 1):
            if is_free(see.free, start, see.length):
                if start >= see.levers.skip + SHIFT:
                    return start
                if lowest < 0:
                    lowest = start
        return lowest
