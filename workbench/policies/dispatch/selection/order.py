"""The order of the queue: the most urgent group first, the oldest first, or who has taken little.

`StrictBlocking` is the prior art of the document; the order of `OldestFirst` is that in which gem5 goes through its
kernels.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.turns import (
    ANY_RANK,
    ByChannel,
    best_rank,
    first_candidate,
    is_candidate,
    oldest_candidate,
    rank_limit,
)
from workbench.policies.dispatch.selection.view import NOBODY, SelectionView


class StrictPriority(Selection):
    """Take a group of the most urgent rank among those that fit; of equal ones that of the lowest channel.

    A group that does not fit blocks no other, as in the proposal, but equal channels are not balanced. A low one that
    is always ready starves the others of its rank.

    References
    ----------
    spec 3, R7-R8 without the marks; section 7.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> StrictPriority().rounds(channels=3).pick(Head(0, 1, fits=False), Head(1, 3), Head(2, 2))
    2
    """

    @staticmethod
    def answer(see: SelectionView) -> int:
        return first_candidate(see.count, see.rank, see.fits, best_rank(see.count, see.rank, see.fits))


EQUALS = 0


@kernel
def top_rank(count: int, rank: Any) -> int:
    """Return the most urgent rank of all that wait, whether they fit or not."""
    best = ANY_RANK
    for k in range(count):
        best = min(best, rank[k])
    return best


class StrictBlocking(Selection):
    """Take a group of the most urgent rank that waits; when none of that rank fits, none.

    Of several equal ones that fit, the one that has waited longest is taken, then the lowest channel; or the lowest
    channel at once, if the lever says so.

    References
    ----------
    spec 3, R15: the prior art of the document (paragraphs 28-29); the baseline of H3.1.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> rounds = StrictBlocking().rounds(channels=3)
    >>> rounds.pick(Head(0, 1, fits=False), Head(1, 2), Head(2, 3)) is None
    True
    >>> rounds.pick(Head(0, 1, fits=False), Head(1, 1), Head(2, 3))
    1
    """

    equals: Literal["oldest", "lowest"] = lever(
        "oldest",
        description="which of several of the most urgent rank that fit is taken: longest waiting, lowest channel",
    )

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit = top_rank(see.count, see.rank)
        if see.levers.equals:
            return first_candidate(see.count, see.rank, see.fits, limit)
        return oldest_candidate(see.count, see.rank, see.fits, see.waited, limit)

    def work_conserving(self) -> bool:
        """Return False: what does not fit blocks all behind it."""
        return False


class OldestFirst(ByChannel):
    """Take the candidate that has waited longest; of equal ones that of the lowest channel.

    References
    ----------
    spec 3, section 7; first come, first served over the heads. With `among=all_that_fit` the order of gem5's
    dispatcher, `src/gpu-compute/dispatcher.cc` (see `AS_FOUND` of dispatch).

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> OldestFirst().rounds(channels=3).pick(Head(0, waited=5), Head(1, waited=9), Head(2, 2, waited=40))
    1
    """

    @staticmethod
    def answer(see: SelectionView) -> int:
        return oldest_candidate(
            see.count, see.rank, see.fits, see.waited, rank_limit(see.count, see.rank, see.fits, see.levers)
        )


QUEUES, QUANTUM, BOOST = 1, 2, 3
LAST, PERIOD, FIRST = 0, 1, 2
"""Memory: the channel served last, how many boosts it has seen, then a queue and the waves used there a channel."""


@kernel
def boosts(cycle: Any, params: np.ndarray) -> int:
    """Return the number of boosts."""
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
                    # A boost puts every channel into the first queue, but memory changes only with a dispatch.
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
