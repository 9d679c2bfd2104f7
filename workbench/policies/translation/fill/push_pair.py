"""Push pair: the requester is filled, and every core that shares much with it."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.translation.fill.question import Fill
from workbench.policies.translation.fill.view import FillView


class PushPair(Fill):
    """Fill the requester, always, and every core with which it shares so many entries, or more; equal is enough.

    The recommended reading: it cannot lock up, and gives the text's "at the same time" a meaning (spec 4, E1).

    References
    ----------
    spec 4, R18, E1; source document paragraph 82.

    Examples
    --------
    >>> PushPair(fill_threshold=3).decide(["1100", "1110", "1100", "1000"]).pushes
    (1,)
    """

    fill_threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="shared entries from which it acts"
    )

    @staticmethod
    def answer(see: FillView) -> int:
        count = 0
        for peer in range(see.cores):
            if peer != see.core and see.pairs[see.core * see.cores + peer] >= see.levers.fill_threshold:
                see.push[count] = peer
                count += 1
        return count

    def counts(self) -> bool:
        return True

    def most_threshold(self) -> int:
        return self.fill_threshold
