"""No priority: everyone is equal, the neutral answer."""

from __future__ import annotations

from workbench.policies.dispatch.priority.question import FOR_EVER, Priority
from workbench.policies.dispatch.priority.view import OrderView, PriorityView


class NoPriority(Priority):
    """Give every group the same rank, so that all of them tie and the selection alone decides.

    A sub-group that was put below all priorities stays below them. A selection sees priority 1 of all others.

    References
    ----------
    spec 3, E3; section 7: what the channel policies of the simulators (`as_found.py`) know of priorities.

    Examples
    --------
    >>> NoPriority().ranks([1, 4, 5], levels=4)
    [0, 0, 1]
    """

    one_label = True

    @staticmethod
    def answer(see: PriorityView) -> int:
        return 1 if see.priority > see.levels else 0

    @staticmethod
    def holds_until(see: OrderView) -> int:
        return FOR_EVER
