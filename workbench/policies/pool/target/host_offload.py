"""Host offload: only CPU cards lend."""

from __future__ import annotations

import math

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView


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

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = see.gbps[see.cards[k]] if see.hosts[see.cards[k]] else -math.inf
