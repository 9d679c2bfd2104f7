"""No rotation: every group is split in the same way, as a table without a pointer does."""

from __future__ import annotations

from workbench.policies.dispatch.units.question import Units
from workbench.policies.dispatch.units.split_table import share_out
from workbench.policies.dispatch.units.view import UnitsView


class NoRotation(Units):
    """Share the waves out as evenly as they go, always beginning at unit 0: a static split; there are no ties.

    What is over after the even share always goes to the first units, so they fall behind ever further.

    References
    ----------
    spec 3, section 7 (static split) and H3.13 (no rotation).

    Examples
    --------
    >>> NoRotation().split(waves=6, units=4)
    ([2, 2, 1, 1], 0)
    """

    @staticmethod
    def answer(see: UnitsView) -> int:
        share_out(see.waves, see.units, 0, see.counts)
        return int(see.pointer)

    def by_pointer(self) -> bool:
        """Return True: the loads of the units are not looked at."""
        return True
