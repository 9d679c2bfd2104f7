"""Push neighbours: the next cores on the ring get a copy too."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.translation.fill.question import Fill
from workbench.policies.translation.fill.view import FillView


class PushNeighbours(Fill):
    """Fill the requester, and the next cores by number, in a circle; who shares what is not looked at, so no ties.

    Prefetching for neighbours, which ring probing (`ring_probe`) is combined with.

    References
    ----------
    spec 4, section 7. Baruah et al., "Valkyrie: Leveraging Inter-TLB Locality to Enhance GPU Performance", PACT 2020:
    in its style, not its protocol.

    Examples
    --------
    >>> PushNeighbours(reach=2).decide(["0010", "0010"], core=2).pushes
    (3, 0)
    """

    reach: int = lever(1, least=1, most=1024, unit="cores", description="how many neighbours get a copy")

    @staticmethod
    def answer(see: FillView) -> int:
        count = min(see.levers.reach, see.cores - 1)
        for k in range(count):
            see.push[k] = (see.core + 1 + k) % see.cores
        return count
