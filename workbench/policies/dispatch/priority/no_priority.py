"""No priority: everyone is equal, the neutral answer."""

from __future__ import annotations

from typing import Any

from workbench.policies.dispatch.priority.question import FOR_EVER, Priority


class NoPriority(Priority):
    """Give every group the same rank, so that all of them tie and the selection alone decides.

    A sub-group that was put below all priorities stays below them.

    References
    ----------
    spec 3, section 7: what the channel policies of the simulators (`as_found.py`) know of priorities.

    Examples
    --------
    >>> NoPriority().ranks([1, 4, 5], levels=4)
    [0, 0, 1]
    """

    def answer(cycle: Any, priority: int, levels: int, waited: int, params: Any) -> int:
        return 1 if priority > levels else 0

    def holds_until(cycle: Any, levels: int, params: Any) -> int:
        return FOR_EVER
