"""Least loaded: wave by wave to the unit with the fewest."""

from __future__ import annotations

from workbench.policies.dispatch.units.question import Units
from workbench.policies.dispatch.units.view import UnitsView


class LeastLoaded(Units):
    """Give each wave to the unit that runs the fewest now, those of this group included; the lowest unit wins a tie.

    It levels what runs at the moment, not what was given in all, and may give one unit more of a group than another
    by more than one. It needs the units' loads, which a pointer does without.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> LeastLoaded().split(waves=5, units=4, taken=(3, 0, 1, 1))
    ([0, 3, 1, 1], 0)
    """

    @staticmethod
    def answer(see: UnitsView) -> int:
        for unit in range(see.units):
            see.counts[unit] = 0
        for _ in range(see.waves):
            least = 0
            for unit in range(1, see.units):
                if see.taken[unit] + see.counts[unit] < see.taken[least] + see.counts[least]:
                    least = unit
            see.counts[least] += 1
        return int(see.pointer)
