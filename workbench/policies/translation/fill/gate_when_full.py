"""Gate when full: fill freely until the TLB is full."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.translation.fill.question import REFUSED, Fill
from workbench.policies.translation.fill.view import FillView


class GateWhenFull(Fill):
    """Fill the requester while it has free entries; then as `gate_any`, where equal is enough.

    Repairs the cold start, not what follows: a full TLB that shares nothing is never renewed (spec 4, E1).

    References
    ----------
    spec 4, R19, E1.

    Examples
    --------
    >>> GateWhenFull().decide(["1000"], entries=1).fills, GateWhenFull().decide(["1000"], entries=2).fills
    (False, True)
    """

    fill_threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="shared entries from which it acts"
    )

    @staticmethod
    def answer(see: FillView) -> int:
        return 0 if see.held < see.entries or see.shared >= see.levers.fill_threshold else REFUSED

    def counts(self) -> bool:
        return True

    def most_threshold(self) -> int:
        return self.fill_threshold
