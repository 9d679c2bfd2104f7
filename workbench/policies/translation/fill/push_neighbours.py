"""Push neighbours: the next cores on the ring get a copy too."""

from __future__ import annotations

from typing import Any

from workbench.levers import lever
from workbench.policies.translation.fill.question import Fill


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

    reach: int = lever(1, least=1, most=1024, unit="cores", says="how many neighbours get a copy")

    def answer(core: Any, cores: Any, entries, held, shared, pairs, push, params, memory):  # type: ignore[no-untyped-def]
        count = min(int(params[0]), cores - 1)
        for k in range(count):
            push[k] = (core + 1 + k) % cores
        return count
