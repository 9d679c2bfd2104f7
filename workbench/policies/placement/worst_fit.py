"""Worst fit: the largest hole; the rule of MIAOW."""

from __future__ import annotations

from typing import Literal

from workbench.levers import lever
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import largest_run

TIE = 0


class WorstFit(Placement):
    """Take the low end of the largest free run; of equal runs the lowest, unless `tie` says the highest.

    Keeps runs equal and is poor for large requests. With `tie="low"` this is MIAOW's dispatcher, whose table search
    keeps the first of equally large holes and hands only that one to the allocator.

    References
    ----------
    spec 1, section 7; MIAOW, `src/verilog/rtl/dispatcher/resource_table.v`, the search for the maximum.

    Examples
    --------
    >>> WorstFit().place("0111100111111100", 3)
    7
    """

    tie: Literal["low", "high"] = lever("low", description="which of equally large free runs is taken")

    @staticmethod
    def answer(see: PlacementView) -> int:
        return largest_run(see.free, see.length, see.levers.tie == 1)
