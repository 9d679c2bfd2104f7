"""Best fit: the smallest hole that is large enough; the rule of Ventus."""

from __future__ import annotations

from typing import Literal

from workbench.levers import lever
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import smallest_run

TIE = 0


class BestFit(Placement):
    """Take the low end of the smallest sufficient free run; of equal runs the lowest, unless `tie` says the highest.

    Strong on small requests. With `tie="low"` this is Ventus' walk over the linked list of workgroups, which keeps the
    first of equally small holes.

    References
    ----------
    spec 1, section 7; Ventus, `ventus/src/cta/resource_table.scala`, sub-machine ALLOC.

    Examples
    --------
    >>> BestFit().place("0111100111111100", 3)
    1
    >>> BestFit(tie="high").place("0111011100001111", 3)
    5
    """

    tie: Literal["low", "high"] = lever("low", description="which of equally small free runs is taken")

    @staticmethod
    def answer(see: PlacementView) -> int:
        return smallest_run(see.free, see.length, see.levers.tie == 1)
