"""Static priority: what a group was given at its submission decides for good."""

from __future__ import annotations

from workbench.policies.dispatch.priority.question import FOR_EVER, Priority
from workbench.policies.dispatch.priority.view import OrderView, PriorityView


class StaticPriority(Priority):
    """Rank a group by its static priority, 1 first; equal priorities tie, and the selection decides among them.

    Nothing keeps a low priority from starving under a lasting load of a higher one.

    References
    ----------
    spec 3, R16; the baseline of the priority windows (H3.5).

    Examples
    --------
    >>> StaticPriority().order(cycle=0), StaticPriority().order(cycle=9)
    ((1, 2, 3, 4), (1, 2, 3, 4))
    """

    @staticmethod
    def answer(see: PriorityView) -> int:
        return see.priority

    @staticmethod
    def holds_until(see: OrderView) -> int:
        return FOR_EVER
