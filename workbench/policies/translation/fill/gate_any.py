"""Gate any: fill where enough entries are shared with anybody."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.translation.fill.question import REFUSED, Fill
from workbench.policies.translation.fill.view import FillView


class GateAny(Fill):
    """Fill the requester if so many of its entries, or more, are shared with others; equal is enough, else nobody.

    The literal text: an empty TLB shares nothing, so it is never filled (spec 4, V15, E1).

    References
    ----------
    spec 4, R14-R16; source document paragraphs 80-81.

    Examples
    --------
    >>> GateAny(fill_threshold=3).decide(["1100", "1010", "1000", "1001"]).fills
    True
    """

    fill_threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="shared entries from which it acts"
    )

    @staticmethod
    def answer(see: FillView) -> int:
        return 0 if see.shared >= see.levers.fill_threshold else REFUSED

    def counts(self) -> bool:
        return True

    def most_threshold(self) -> int:
        return self.fill_threshold
