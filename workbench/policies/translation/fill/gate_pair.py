"""Gate pair: fill where enough entries are shared with one and the same core."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.translation.fill.question import REFUSED, Fill
from workbench.policies.translation.fill.view import FillView


class GatePair(Fill):
    """Fill the requester if it shares so many entries, or more, with some one core; equal is enough, else nobody.

    References
    ----------
    spec 4, R17; source document paragraph 82.

    Examples
    --------
    >>> GatePair(fill_threshold=3).decide(["1100", "1010", "1000", "1001"]).fills
    False
    """

    fill_threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="shared entries from which it acts"
    )

    @staticmethod
    def answer(see: FillView) -> int:
        for peer in range(see.cores):
            if peer != see.core and see.pairs[see.core * see.cores + peer] >= see.levers.fill_threshold:
                return 0
        return REFUSED

    def counts(self) -> bool:
        return True

    def most_threshold(self) -> int:
        return self.fill_threshold
