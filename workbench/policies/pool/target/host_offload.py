"""Host offload: only CPU cards lend."""

from __future__ import annotations

import math

from workbench.policies.pool.target.question import Target


class HostOffload(Target):
    """Take the CPU card with the fastest path, never a GPU; ties as the engine breaks them.

    References
    ----------
    spec 5, section 7 (host-memory offload and swapping).

    Examples
    --------
    >>> HostOffload().choose(20, [("gpu1", 90, 150), ("cpu0", 90, 12), ("cpu1", 90, 16)])
    'cpu1'
    """

    def answer(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = gbps[cards[k]] if hosts[cards[k]] else -math.inf
