"""Channels by turns: round robin, weighted or by deficit, the channel served last, the lowest one.

Each takes one of the candidates of a round: groups that fit, of the most urgent rank or of any.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.arguments import lever_path, refuse_wrong_count
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.view import NOBODY, SelectionView

LAST = 0
"""Memory: the channel that was served last, -1 at first."""


class ByChannel(Selection, abstract=True):
    """The base of policies that choose by channel: among groups of the most urgent rank that fit, or all that fit."""

    among: Literal["best_rank", "all_that_fit"] = lever(
        "best_rank",
        description="whether only groups of the most urgent rank compete, or all that fit, whatever their rank",
    )


class ChannelRoundRobin(ByChannel):
    """Take the first candidate behind the channel that was served last, cyclically; so there are no ties.

    A channel whose group does not fit, or is not of the most urgent rank, is passed over and loses its turn.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> rounds = ChannelRoundRobin().rounds(channels=4)
    >>> rounds.pick(0, 2, 3), rounds.pick(0, 1, 3), rounds.pick(0, 1, 3), rounds.pick(0, 1, 3)
    (0, 1, 3, 0)
    """

    @staticmethod
    def answer(see: SelectionView) -> int:
        chosen = next_candidate(
            see.memory[LAST],
            see.count,
            see.channel,
            see.rank,
            see.fits,
            rank_limit(see.count, see.rank, see.fits, see.levers),
        )
        if chosen != NOBODY:
            see.memory[LAST] = see.channel[chosen]
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory in which no channel was served yet: int64[1]."""
        return np.array([-1])


FIRST_WEIGHT = 1
WEIGHTED_LAST, LEFT = 0, 1
"""Memory: the channel whose turn it is, -1 at first, and the groups that it may still send."""


class WeightedRoundRobin(ByChannel):
    """Serve channels in cyclic order, each with as many groups a turn as its weight says; so there are no ties.

    A turn ends early when the channel has no candidate any more; what was left of it is lost.

    References
    ----------
    spec 3, section 7; M. Katevenis, S. Sidiropoulos, C. Courcoubetis, "Weighted Round-Robin Cell Multiplexing in a
    General-Purpose ATM Switch Chip", IEEE Journal on Selected Areas in Communications 9(8), 1991.

    Examples
    --------
    >>> rounds = WeightedRoundRobin(weights=(3, 1)).rounds(channels=2)
    >>> [rounds.pick(0, 1) for _ in range(8)]
    [0, 0, 0, 1, 0, 0, 0, 1]
    """

    weights: tuple[int, ...] = lever(
        (), least=1, most=1 << 20, unit="groups", description="how many groups a turn each channel has; none = one each"
    )

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit, left = rank_limit(see.count, see.rank, see.fits, see.levers), see.memory[LEFT]
        chosen = (
            candidate_of(see.memory[WEIGHTED_LAST], see.count, see.channel, see.rank, see.fits, limit)
            if left
            else NOBODY
        )
        if chosen == NOBODY:
            chosen = next_candidate(see.memory[WEIGHTED_LAST], see.count, see.channel, see.rank, see.fits, limit)
            left = int(see.levers[FIRST_WEIGHT + see.channel[chosen]]) if see.levers.size > FIRST_WEIGHT else 1
        if chosen != NOBODY:
            see.memory[WEIGHTED_LAST], see.memory[LEFT] = see.channel[chosen], left - 1
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory in which no channel has its turn yet: int64[2]."""
        return np.array([-1, 0])

    def check_run(self, channels: int, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of weights that is not that of the channels."""
        refuse_wrong_count(lever_path(path, self.name, "weights"), self.weights, channels, "channels", where)

    def parameters(self) -> np.ndarray:
        """Return whom it chooses among, and the weights: float64[1 + weights]."""
        return np.array([*self.numbers(), *self.weights], np.float64)


QUANTUM = 1
DEFICIT_LAST, FIRST_DEFICIT = 0, 1
"""Memory: the channel whose turn it is, -1 at first, then the waves that each channel has saved."""


@kernel
def visits(saved: int, cost: int, quantum: int) -> int:
    """Return the number of visits to a channel, with a quantum each time, until it can pay."""
    return max((cost - saved + quantum - 1) // quantum, 1)


@kernel
def forget_idle(count: int, channel: np.ndarray, memory: np.ndarray) -> None:
    """Take from channels without a waiting group what they have saved."""
    at = 0
    for c in range(memory.size - FIRST_DEFICIT):
        at = seek(at, c, count, channel)
        if at == count or channel[at] != c:
            memory[FIRST_DEFICIT + c] = 0


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
            see.memory[DEFICIT_LAST],
        )
        chosen = candidate_of(last, see.count, see.channel, see.rank, see.fits, limit)
        if chosen == NOBODY or see.memory[FIRST_DEFICIT + last] < see.waves[chosen]:
            chosen, fewest = NOBODY, 0
            for lap in range(2):  # the channels behind the last one, then the others
                for k in range(see.count):
                    if (see.channel[k] > last) == (lap == 0) and is_candidate(k, see.rank, see.fits, limit):
                        needed = visits(see.memory[FIRST_DEFICIT + see.channel[k]], see.waves[k], quantum)
                        if chosen == NOBODY or needed < fewest:
                            chosen, fewest = k, needed
            if chosen == NOBODY:
                return NOBODY
            # All laps at once: candidates up to the chosen one were visited `fewest` times, those behind it once less.
            late = see.channel[chosen] <= last
            for k in range(see.count):
                if is_candidate(k, see.rank, see.fits, limit):
                    before = ((see.channel[k] <= last), see.channel[k]) <= (late, see.channel[chosen])
                    see.memory[FIRST_DEFICIT + see.channel[k]] += quantum * (fewest if before else fewest - 1)
        see.memory[DEFICIT_LAST] = see.channel[chosen]
        see.memory[FIRST_DEFICIT + see.channel[chosen]] -= see.waves[chosen]
        forget_idle(see.count, see.channel, see.memory)
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory in which no channel has its turn and nothing is saved: int64[1 + channels]."""
        memory = np.zeros(FIRST_DEFICIT + channels, np.int64)
        memory[DEFICIT_LAST] = -1
        return memory


BLOCKS = 0

ANY_RANK = 1 << 62
"""A rank that every group reaches."""


class SameChannel(Selection):
    """Stay with the channel that was served last while it has a waiting group; then the next one, cyclically.

    When its group does not fit, the next channel whose group does takes over, or, with `blocks`, none is served until
    it fits. Ranks count for nothing, and cyclic order leaves no ties.

    References
    ----------
    spec 3, section 7 (as found in GPGPU-Sim); exhaustive service, as polling systems call it.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> rounds = SameChannel(blocks=True).rounds(channels=3)
    >>> rounds.pick(0, 1), rounds.pick(0, 1), rounds.pick(1, 2)
    (0, 0, 1)
    >>> rounds.pick(Head(1, fits=False), Head(2)) is None
    True
    """

    blocks: bool = lever(False, description="whether no other channel is served while its group does not fit")

    @staticmethod
    def answer(see: SelectionView) -> int:
        at = seek(0, see.memory[LAST], see.count, see.channel)
        waits = at < see.count and see.channel[at] == see.memory[LAST]
        if waits and (see.fits[at] or see.levers.blocks):
            return at if see.fits[at] else NOBODY
        chosen = next_candidate(see.memory[LAST], see.count, see.channel, see.rank, see.fits, ANY_RANK)
        if chosen != NOBODY:
            see.memory[LAST] = see.channel[chosen]
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory in which no channel was served yet: int64[1]."""
        return np.array([-1])

    def work_conserving(self) -> bool:
        """Return True unless it blocks."""
        return not self.blocks


class LowestChannel(Selection):
    """Take the group of the lowest channel among all that fit; ranks count for nothing, and there are no ties.

    References
    ----------
    spec 3, section 7: the cheapest arbiter, a priority encoder over the channels.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> LowestChannel().rounds(channels=3).pick(Head(0, fits=False), Head(1, 3), Head(2, 2))
    1
    """

    @staticmethod
    def answer(see: SelectionView) -> int:
        return first_candidate(see.count, see.rank, see.fits, ANY_RANK)


AMONG = 0
"""Parameters: the position of the lever `among`; those of a policy's own levers follow."""


@kernel
def rank_limit(count: int, rank: Any, fits: Any, params: Any) -> int:
    """Return the worst rank that a candidate may have, by the lever `among`."""
    return ANY_RANK if params[AMONG] else best_rank(count, rank, fits)


@kernel
def best_rank(count: int, rank: np.ndarray, fits: np.ndarray) -> int:
    """Return the most urgent rank among the groups that fit, `ANY_RANK` when none does."""
    best = ANY_RANK
    for k in range(count):
        if fits[k] and rank[k] < best:
            best = rank[k]
    return best


@kernel
def is_candidate(k: int, rank: np.ndarray, fits: np.ndarray, limit: int) -> bool:
    """Return whether a group fits and its rank is no worse than a limit."""
    return bool(fits[k]) and rank[k] <= limit


@kernel
def first_candidate(count: int, rank: np.ndarray, fits: np.ndarray, limit: int) -> int:
    """Return the position of the candidate with the lowest channel, `NOBODY` when there is none."""
    for k in range(count):
        if is_candidate(k, rank, fits, limit):
            return k
    return NOBODY


@kernel
def how_many(count: int, rank: np.ndarray, fits: np.ndarray, limit: int) -> int:
    """Return the number of candidates."""
    result = 0
    for k in range(count):
        result += is_candidate(k, rank, fits, limit)
    return result


@kernel
def nth_candidate(n: int, count: int, rank: np.ndarray, fits: np.ndarray, limit: int) -> int:
    """Return the position of one of the candidates, counted from 0; `NOBODY` when there are not so many."""
    for k in range(count):
        if is_candidate(k, rank, fits, limit):
            if n == 0:
                return k
            n -= 1
    return NOBODY


@kernel
def oldest_candidate(count: int, rank: np.ndarray, fits: np.ndarray, waited: np.ndarray, limit: int) -> int:
    """Return the position of the candidate that has waited longest, the lowest channel at a tie; `NOBODY` without
    one."""
    oldest = NOBODY
    for k in range(count):
        if is_candidate(k, rank, fits, limit) and (oldest == NOBODY or waited[k] > waited[oldest]):
            oldest = k
    return oldest


@kernel
def next_candidate(after: int, count: int, channel: np.ndarray, rank: np.ndarray, fits: np.ndarray, limit: int) -> int:
    """Return the position of the first candidate behind a channel in cyclic order, that channel itself last; or
    `NOBODY`."""
    for k in range(count):
        if channel[k] > after and is_candidate(k, rank, fits, limit):
            return k
    return first_candidate(count, rank, fits, limit)


@kernel
def candidate_of(wanted: int, count: int, channel: np.ndarray, rank: np.ndarray, fits: np.ndarray, limit: int) -> int:
    """Return the position of a channel's candidate, `NOBODY` when it has none."""
    for k in range(count):
        if channel[k] == wanted and is_candidate(k, rank, fits, limit):
            return k
    return NOBODY


@kernel
def seek(at: int, wanted: int, count: int, channel: np.ndarray) -> int:
    """Return the position, from `at` on, of the first group whose channel is not below one that is looked for."""
    while at < count and channel[at] < wanted:
        at += 1
    return at
