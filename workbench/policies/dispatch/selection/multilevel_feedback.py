"""Multilevel feedback: who has taken much stands behind who has taken little."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.selection.by_channel import ByChannel, rank_limit
from workbench.policies.dispatch.selection.candidates import is_candidate
from workbench.policies.dispatch.selection.question import NOBODY
from workbench.policies.dispatch.selection.view import SelectionView

QUEUES, QUANTUM, BOOST = 1, 2, 3
LAST, PERIOD, FIRST = 0, 1, 2
"""Memory: the channel served last, how many boosts it has seen, then a queue and the waves used there a channel."""


@kernel
def boosts(cycle: Any, params: np.ndarray) -> int:
    """Return how many boosts there have been."""
    every = int(params[BOOST])
    return cycle // every if every else 0


@kernel
def catch_up(period: int, memory: np.ndarray) -> None:
    """Put every channel into the first queue, with nothing used, when there was another boost."""
    if memory[PERIOD] != period:
        memory[PERIOD] = period
        for slot in range(FIRST, memory.size):
            memory[slot] = 0


@kernel
def charge(channel: int, waves: int, params: np.ndarray, memory: np.ndarray) -> None:
    """Book waves on a channel, and put it into the next queue once it has used its queue's quantum."""
    slot = FIRST + 2 * channel
    memory[slot + 1] += waves
    if memory[slot + 1] >= int(params[QUANTUM]) << memory[slot]:
        memory[slot] = min(memory[slot] + 1, int(params[QUEUES]) - 1)
        memory[slot + 1] = 0


class MultilevelFeedback(ByChannel):
    """Take a candidate of the first queue that has one, those of one queue in cyclic order behind the last served.

    Channels stand in the queues. One that has used its queue's quantum goes into the next queue, whose quantum is
    twice as large; the last queue keeps it. At every boost all channels go back into the first queue. Cyclic order
    leaves no ties.

    References
    ----------
    spec 3, section 7; F. Corbató, M. Merwin-Daggett, R. Daley, "An Experimental Time-Sharing System", Spring Joint
    Computer Conference, 1962; the boost as in R. and A. Arpaci-Dusseau, Operating Systems: Three Easy Pieces, 8.3.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> rounds = MultilevelFeedback(quantum=4).rounds(channels=2)
    >>> [rounds.pick(Head(0, waves=4), Head(1, waves=1)) for _ in range(8)]
    [0, 1, 1, 1, 1, 0, 1, 0]
    """

    queues: int = lever(3, least=1, most=16, unit="queues", description="how many queues there are")
    quantum: int = lever(
        64, least=1, most=1 << 30, scale="log", unit="waves", description="what a channel may use up in the first queue"
    )
    boost_cycles: int = lever(
        65536,
        least=0,
        most=1 << 30,
        unit="cycles",
        description="from one boost to the next, counted from cycle 0; 0 = never",
    )

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit, chosen, lowest = rank_limit(see.count, see.rank, see.fits, see.levers), NOBODY, 0
        period = boosts(see.cycle, see.levers)
        for lap in range(2):  # the channels behind the last one, then the others
            for k in range(see.count):
                if (see.channel[k] > see.memory[LAST]) == (lap == 0) and is_candidate(k, see.rank, see.fits, limit):
                    queue = see.memory[FIRST + 2 * see.channel[k]] if see.memory[PERIOD] == period else 0
                    if chosen == NOBODY or queue < lowest:
                        chosen, lowest = k, queue
        if chosen != NOBODY:
            catch_up(period, see.memory)
            charge(see.channel[chosen], see.waves[chosen], see.levers, see.memory)
            see.memory[LAST] = see.channel[chosen]
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory with every channel in the first queue: int64[2 + 2 * channels]."""
        memory = np.zeros(FIRST + 2 * channels, np.int64)
        memory[LAST] = -1
        return memory
