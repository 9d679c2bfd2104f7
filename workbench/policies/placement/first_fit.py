"""First fit: the baseline of the source document, and the rule of MGPUSim."""

from __future__ import annotations

from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import first_start


class FirstFit(Placement):
    """Take the lowest feasible start; there are no ties.

    The existing dispatcher that the source document compares with, and the linear scan over granules of MGPUSim's
    resource masks.

    References
    ----------
    spec 1, R32; MGPUSim, `amd/timing/cp/internal/resource/resourcemask.go`, `nextRegion`.

    Examples
    --------
    >>> FirstFit().place("0111100111111100", 3)
    1
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        return first_start(see.free, see.length, 0)
