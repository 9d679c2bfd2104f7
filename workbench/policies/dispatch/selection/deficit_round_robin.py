"""Deficit round robin: everyone in turn, with the same number of waves rather than of groups."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.selection.by_channel import ByChannel, rank_limit
from workbench.policies.dispatch.selection.candidates import candidate_of, is_candidate, seek
from workbench.policies.dispatch.selection.question import NOBODY
from workbench.policies.dispatch.selection.view import SelectionView

QUANTUM = 1
LAST, FIRST = 0, 1
"""Memory: the channel whose turn it is, -1 at first, then the waves that each channel has saved."""


@kernel
def visits(saved: int, cost: int, quantum: int) -> int:
    """Return how often a channel must be visited, and given a quantum each time, until it can pay."""
    return max((cost - saved + quantum - 1) // quantum, 1)


@kernel
def forget_idle(count: int, channel: np.ndarray, memory: np.ndarray) -> None:
    """Take from channels without a waiting group what they have saved."""
    at = 0
    for c in range(memory.size - FIRST):
        at = seek(at, c, count, channel)
        if at == count or channel[at] != c:
            memory[FIRST + c] = 0


class DeficitRoundRobin(ByChannel):
    """Visit candidates in cyclic order, add a quantum of waves at each visit, take the first that can pay its group.

    A group costs its waves. A channel goes on while what it has saved pays for its next group, and keeps the rest. One
    that waits but is no candidate is not visited and keeps what it has saved; one without a waiting group loses it.
    Cyclic order leaves no ties.

    References
    ----------
    spec 3, section 7; M. Shreedhar, G. Varghese, "Efficient Fair Queueing Using Deficit Round-Robin", IEEE/ACM
    Transactions on Networking 4(3), 1996.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> rounds = DeficitRoundRobin(quantum=4).rounds(channels=2)
    >>> [rounds.pick(Head(0, waves=6), Head(1, waves=2)) for _ in range(8)]
    [1, 1, 0, 1, 1, 0, 1, 1]
    """

    quantum: int = lever(16, least=1, most=1 << 20, scale="log", unit="waves", description="what a visit adds")

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit, quantum, last = (
            rank_limit(see.count, see.rank, see.fits, see.levers),
            see.levers.quantum,
            see.memory[LAST],
        )
        chosen = candidate_of(last, see.count, see.channel, see.rank, see.fits, limit)
        if chosen == NOBODY or see.memory[FIRST + last] < see.waves[chosen]:
            chosen, fewest = NOBODY, 0
            for lap in range(2):  # the channels behind the last one, then the others
                for k in range(see.count):
                    if (see.channel[k] > last) == (lap == 0) and is_candidate(k, see.rank, see.fits, limit):
                        needed = visits(see.memory[FIRST + see.channel[k]], see.waves[k], quantum)
                        if chosen == NOBODY or needed < fewest:
                            chosen, fewest = k, needed
            if chosen == NOBODY:
                return NOBODY
            late = see.channel[chosen] <= last
            for k in range(see.count):
                if is_candidate(k, see.rank, see.fits, limit):
                    before = ((see.channel[k] <= last), see.channel[k]) <= (late, see.channel[chosen])
                    see.memory[FIRST + see.channel[k]] += quantum * (fewest if before else fewest - 1)
        see.memory[LAST] = see.channel[chosen]
        see.memory[FIRST + see.channel[chosen]] -= see.waves[chosen]
        forget_idle(see.count, see.channel, see.memory)
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory in which it is nobody's turn and nothing is saved: int64[1 + channels]."""
        memory = np.zeros(FIRST + channels, np.int64)
        memory[LAST] = -1
        return memory
