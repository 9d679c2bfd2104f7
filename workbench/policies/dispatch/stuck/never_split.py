"""Never split: a stuck group waits; the neutral answer."""

from __future__ import annotations

from workbench.policies.dispatch.stuck.question import Stuck
from workbench.policies.dispatch.stuck.view import StuckView


class NeverSplit(Stuck):
    """Leave every group whole, however long it is stuck; it is never asked, so there are no ties.

    References
    ----------
    spec 3, H3.6: what splitting is compared with.

    Examples
    --------
    >>> NeverSplit().parts(waves=8)
    [8]
    """

    @staticmethod
    def answer(see: StuckView) -> int:
        return 1
