"""Stride scheduling: shares in proportion to tickets, without chance."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.one_each import lever_path, refuse_wrong_count
from workbench.policies.dispatch.selection.by_channel import ByChannel, rank_limit
from workbench.policies.dispatch.selection.candidates import is_candidate, seek
from workbench.policies.dispatch.selection.question import NOBODY
from workbench.policies.dispatch.selection.view import SelectionView

ONE_TICKET = 1 << 30
"""The stride of one ticket; that of n is the n-th part of it, rounded down. Room for 2**33 services of a channel."""
FIRST_TICKETS = 1


@kernel
def carry_idle(count: int, channel: np.ndarray, now: int, memory: np.ndarray) -> None:
    """Bring channels without a waiting group up to the pass that was served, so that they save nothing."""
    at = 0
    for c in range(memory.size):
        at = seek(at, c, count, channel)
        if at == count or channel[at] != c:
            memory[c] = max(memory[c], now)


class Stride(ByChannel):
    """Take the candidate whose channel has the smallest pass, the lowest channel at a tie; add its stride to its pass.

    A channel's stride is inverse to its tickets. One that waits but is no candidate keeps its pass, and so its claim;
    one without a waiting group is carried along, as one that joins anew, and keeps what it is ahead.

    References
    ----------
    spec 3, section 7; C. Waldspurger, W. Weihl, "Stride Scheduling: Deterministic Proportional-Share Resource
    Management", MIT/LCS/TM-528, 1995.

    Examples
    --------
    >>> rounds = Stride(tickets=(3, 2, 1)).rounds(channels=3)
    >>> [rounds.pick(0, 1, 2) for _ in range(6)]
    [0, 1, 2, 0, 1, 0]
    """

    tickets: tuple[int, ...] = lever(
        (), least=1, most=1 << 20, unit="tickets", description="how many tickets each channel has; none = one each"
    )

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit, chosen = rank_limit(see.count, see.rank, see.fits, see.levers), NOBODY
        for k in range(see.count):
            if is_candidate(k, see.rank, see.fits, limit) and (
                chosen == NOBODY or see.memory[see.channel[k]] < see.memory[see.channel[chosen]]
            ):
                chosen = k
        if chosen != NOBODY:
            served = see.channel[chosen]
            tickets = int(see.levers[FIRST_TICKETS + served]) if see.levers.size > FIRST_TICKETS else 1
            carry_idle(see.count, see.channel, see.memory[served], see.memory)
            see.memory[served] += ONE_TICKET // tickets
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return the pass of each channel, 0: int64[channels]."""
        return np.zeros(channels, np.int64)

    def check_run(self, channels: int, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of tickets that is not that of the channels."""
        refuse_wrong_count(lever_path(path, self.name, "tickets"), self.tickets, channels, "channels", where)

    def parameters(self) -> np.ndarray:
        """Return whom it chooses among, and the tickets: float64[1 + tickets]."""
        return np.array([*self.numbers(), *self.tickets], np.float64)
