"""Leader and follower: whoever misses first fills the cores that are likely to miss next."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.translation.fill.question import Fill
from workbench.policies.translation.fill.view import FillNotice, FillView

LEAST, MOST = 0, 1


class LeaderFollower(Fill):
    """Fill the requester, and every core that uses what this core's misses bring it; equal confidence is enough.

    A counter for each pair, leader and follower, starts at the least confidence, grows when a copy is used, shrinks
    when one leaves unused, and stays within 0 and the most. It predicts instead of looking up: no directory is read.
    A pair below the least is tried again after as many misses of the leader as the probation says.

    References
    ----------
    spec 4, section 7. Bhattacharjee, Martonosi, "Inter-core cooperative TLB prefetchers for chip multiprocessors",
    ASPLOS 2010: leader-follower with confidence; the probation is ours.

    Examples
    --------
    >>> LeaderFollower().decide(["1000"]).pushes
    (1, 2, 3)
    """

    least: int = lever(2, least=0, most=1 << 16, unit="uses", description="the confidence from which a copy is pushed")
    most: int = lever(3, least=1, most=1 << 16, unit="uses", description="the largest confidence")
    probation: int = lever(
        64, least=1, most=1 << 40, scale="log", unit="misses", description="till a pair is tried again"
    )

    @staticmethod
    def answer(see: FillView) -> int:
        count, tried = 0, see.cores * see.cores + see.core
        see.memory[tried] += 1
        again = see.memory[tried] % see.levers.probation == 0
        for peer in range(see.cores):
            if peer != see.core and (again or see.memory[see.core * see.cores + peer] >= see.levers.least):
                see.push[count] = peer
                count += 1
        return count

    @staticmethod
    def told(see: FillNotice) -> None:
        pair = see.core * see.cores + see.peer
        see.memory[pair] = min(see.memory[pair] + 1, see.levers.most) if see.used else max(see.memory[pair] - 1, 0)

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """Return the confidence of each pair, and the misses of each leader: int64[cores * cores + cores]."""
        memory = np.full(cores * cores + cores, min(self.least, self.most), np.int64)
        memory[cores * cores :] = 0
        return memory
