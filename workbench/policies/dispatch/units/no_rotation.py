"""No rotation: every group is split in the same way, as a table without a pointer does."""

from __future__ import annotations

from typing import Any

from workbench.policies.dispatch.units.question import Units
from workbench.policies.dispatch.units.split_table import share_out


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

    def answer(waves: Any, units: Any, pointer: Any, taken: Any, counts: Any, params: Any) -> int:
        share_out(waves, units, 0, counts)
        return int(pointer)

    def by_pointer(self) -> bool:
        """Yes: the loads of the units are not looked at."""
        return True
