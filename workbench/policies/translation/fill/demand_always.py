"""Demand always: the requester is filled, nobody else."""

from __future__ import annotations

from workbench.policies.translation.fill.question import Fill
from workbench.policies.translation.fill.view import FillView


class DemandAlways(Fill):
    """Fill the requester, always, as usual; sharing is not looked at, so there are no ties.

    References
    ----------
    spec 4, R20: the conventional control.

    Examples
    --------
    >>> DemandAlways().decide(["1100"])
    Decision(fills=True, pushes=())
    """

    @staticmethod
    def answer(see: FillView) -> int:
        return 0
