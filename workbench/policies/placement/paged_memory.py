"""Paged memory: any free segments behind a translation table, at the price of slower accesses."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.levers import lever
from workbench.policies.placement.question import REFUSED, Layout, Placement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import count_free, next_free


class PagedMemory(Placement):
    """Grant whenever enough segments are free in total, taking the lowest free ones; there are no ties.

    A segment is a page, and a table translates a workgroup's addresses. Nothing fragments, but every access passes the
    table, so a workgroup holds its pages longer: an upper bound for contiguous placement that is not free of charge.
    What the table costs on hardware is not known; the lever is a modelling assumption.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> PagedMemory().place("0101010101010101", 8)
    1
    >>> PagedMemory(access_penalty=0.1).lasting(100), PagedMemory(access_penalty=0.1).lasting(101)
    (110, 112)
    """

    layout: ClassVar[Layout] = "scattered"
    access_penalty: float = lever(
        0.05,
        least=0,
        most=10,
        unit="of the duration",
        description="how much longer a workgroup runs because its accesses are translated",
    )

    @staticmethod
    def answer(see: PlacementView) -> int:
        return next_free(see.free, 0) if count_free(see.free) >= see.length else REFUSED

    def lasting(self, duration: Any) -> Any:
        """Return the duration with the penalty, rounded up to whole cycles; the product is rounded to a millionth
        first."""
        longer = np.ceil(np.round(np.asarray(duration) * (1 + self.access_penalty), 6)).astype(np.int64)
        return int(longer) if np.ndim(duration) == 0 else longer
