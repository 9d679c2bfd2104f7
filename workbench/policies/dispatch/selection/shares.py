"""Shares of channels, by chance or by count: served marks, any candidate, lottery, stride.

`ServedMarks` is the proposal of the source document: equal channels in random order, each once before any twice, by
marks in the policy's memory, one a channel and static priority (spec 3, R10-R11).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.arguments import lever_path, refuse_wrong_count
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.turns import (
    ByChannel,
    best_rank,
    first_candidate,
    how_many,
    is_candidate,
    nth_candidate,
    rank_limit,
    seek,
)
from workbench.policies.dispatch.selection.view import NOBODY, SelectionView
from workbench.streams import Streams
from workbench.structures.rng import below

MARK_ON_SINGLE, CLEAR_SCOPE, PICK = 0, 1, 2
AT_RANDOM, ALL_CHANNELS = 0, 1
GENERATOR = 0
"""Memory: the state of the random generator, never 0; the marks follow."""


class ServedMarks(Selection):
    """Take the most urgent group that fits; equal ones at random among the channels that have no mark yet.

    A single candidate of the most urgent rank is taken as it is. Of several, one without a mark for its priority is
    taken at random and marked. When all of them are marked, one of all is taken at random, keeps its mark, and the
    others lose theirs. A mark belongs to a channel and a static priority, whatever the rank is now (E4), so that
    several static priorities of one rank each look at their own marks; where groups have no priority a channel has one
    mark (E3). `pick` replaces chance by the lowest channel.

    References
    ----------
    spec 3, R7-R11 (A4, A41, A42); E1-E4; V25-V27.

    Examples
    --------
    >>> rounds = ServedMarks(pick="lowest").rounds(channels=3)
    >>> [rounds.pick(0, 1, 2) for _ in range(4)], rounds.pick(0, 1), rounds.pick(1, 2), rounds.pick(0, 2)
    ([0, 1, 2, 0], 1, 2, 0)
    """

    draws = True
    mark_on_single: bool = lever(
        False, description="whether a single candidate of the most urgent rank is marked as well"
    )
    clear_scope: Literal["candidates", "all_channels"] = lever(
        "candidates",
        description="whose marks go when all candidates have one: the other candidates', or all other channels'",
    )
    pick: Literal["random", "lowest"] = lever("random", description="which of equal channels is taken")

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit = best_rank(see.count, see.rank, see.fits)
        equals = how_many(see.count, see.rank, see.fits, limit)
        if equals < 2:
            chosen = first_candidate(see.count, see.rank, see.fits, limit)
            if equals and see.levers.mark_on_single:
                see.memory[mark(see.channel[chosen], see.priority[chosen], see.memory)] = 1
            return chosen
        fresh = unmarked(see.count, see.channel, see.priority, see.rank, see.fits, limit, see.memory)
        if fresh:
            turn = below(see.memory, GENERATOR, fresh) if see.levers.pick == AT_RANDOM else 0
            chosen = nth_unmarked(turn, see.count, see.channel, see.priority, see.rank, see.fits, limit, see.memory)
            see.memory[mark(see.channel[chosen], see.priority[chosen], see.memory)] = 1
            return chosen
        turn = below(see.memory, GENERATOR, equals) if see.levers.pick == AT_RANDOM else 0
        chosen = nth_candidate(turn, see.count, see.rank, see.fits, limit)
        everywhere = see.levers.clear_scope == ALL_CHANNELS
        clear_others(chosen, everywhere, see.count, see.channel, see.priority, see.rank, see.fits, limit, see.memory)
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory without marks, also none for sub-groups below all priorities: int64[2 + channels * (levels +
        1)]."""
        memory = np.zeros(FIRST + channels * (levels + 1), np.int64)
        memory[GENERATOR] = max(Streams(seed).integer("served_marks"), 1)
        memory[LEVELS] = levels + 1
        return memory


LEVELS, FIRST = 1, 2
"""Memory: how many priorities are marked, then the marks, channel by channel; slot 0 is left to the policy."""


@kernel
def mark(channel: int, priority: int, memory: np.ndarray) -> int:
    """Return the slot of a channel's mark for a priority."""
    return int(FIRST + channel * memory[LEVELS] + priority - 1)


@kernel
def nth_unmarked(turn, count, channel, priority, rank, fits, limit, memory):  # type: ignore[no-untyped-def]
    """Return the position of one of the candidates without a mark for their own priority, counted from 0; or
    `NOBODY`."""
    for k in range(count):
        if is_candidate(k, rank, fits, limit) and not memory[mark(channel[k], priority[k], memory)]:
            if turn == 0:
                return k
            turn -= 1
    return NOBODY


@kernel
def unmarked(count, channel, priority, rank, fits, limit, memory):  # type: ignore[no-untyped-def]
    """Return the number of candidates that have no mark for their own priority."""
    result = 0
    for k in range(count):
        if is_candidate(k, rank, fits, limit) and not memory[mark(channel[k], priority[k], memory)]:
            result += 1
    return result


@kernel
def clear_others(kept, everywhere, count, channel, priority, rank, fits, limit, memory):  # type: ignore[no-untyped-def]
    """Take the marks for the candidates' priorities: those of the candidates but one, or of all channels but its own.

    A candidate's mark is that for its own priority; all channels lose theirs for every priority of a candidate.
    """
    channels = (memory.size - FIRST) // memory[LEVELS]
    for k in range(count):
        if is_candidate(k, rank, fits, limit):
            if k != kept:
                memory[mark(channel[k], priority[k], memory)] = 0
            if everywhere:
                for c in range(channels):
                    if c != channel[kept]:
                        memory[mark(c, priority[k], memory)] = 0


class PlainRandom(ByChannel):
    """Take a candidate at random, each with the same probability; there are no ties, and nothing is remembered.

    References
    ----------
    spec 3, section 7: what the marks of R10 are compared with (H3.3).

    Examples
    --------
    >>> PlainRandom().rounds(channels=3).pick(0, 2) in (0, 2)
    True
    """

    draws = True

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit = rank_limit(see.count, see.rank, see.fits, see.levers)
        candidates = how_many(see.count, see.rank, see.fits, limit)
        drawn = below(see.memory, GENERATOR, candidates) if candidates else 0
        return nth_candidate(drawn, see.count, see.rank, see.fits, limit)

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `plain_random` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("plain_random"), 1)])


FIRST_TICKETS = 1


@kernel
def tickets_of(channel: int, params: np.ndarray) -> int:
    """Return the tickets of a channel."""
    return int(params[FIRST_TICKETS + channel]) if params.size > FIRST_TICKETS else 1


class ByTickets(ByChannel, abstract=True):
    """The base of policies in which the channels hold tickets."""

    tickets: tuple[int, ...] = lever(
        (), least=1, most=1 << 20, unit="tickets", description="how many tickets each channel has; none = one each"
    )

    def check_run(self, channels: int, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of tickets that is not that of the channels."""
        refuse_wrong_count(lever_path(path, self.name, "tickets"), self.tickets, channels, "channels", where)

    def parameters(self) -> np.ndarray:
        """Return whom it chooses among, and the tickets: float64[1 + tickets]."""
        return np.array([*self.numbers(), *self.tickets], np.float64)


class Lottery(ByTickets):
    """Draw one of all candidates' tickets and take its channel; so there are no ties.

    Only candidates' tickets are in the draw, so each has a share in proportion to its tickets of what it competes for.

    References
    ----------
    spec 3, section 7; C. Waldspurger, W. Weihl, "Lottery Scheduling: Flexible Proportional-Share Resource Management",
    Operating Systems Design and Implementation, 1994.

    Examples
    --------
    >>> rounds = Lottery(tickets=(1, 3)).rounds(channels=2)
    >>> picks = [rounds.pick(0, 1) for _ in range(400)]
    >>> 250 < picks.count(1) < 350
    True
    """

    draws = True

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit, total = rank_limit(see.count, see.rank, see.fits, see.levers), 0
        for k in range(see.count):
            if is_candidate(k, see.rank, see.fits, limit):
                total += tickets_of(see.channel[k], see.levers)
        drawn = below(see.memory, GENERATOR, total) if total else 0
        for k in range(see.count):
            if is_candidate(k, see.rank, see.fits, limit):
                drawn -= tickets_of(see.channel[k], see.levers)
                if drawn < 0:
                    return k
        return NOBODY

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `lottery` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("lottery"), 1)])


ONE_TICKET = 1 << 30
"""The stride of one ticket; that of n is the n-th part of it, rounded down. Space for 2**33 services of a channel."""


@kernel
def carry_idle(count: int, channel: np.ndarray, now: int, memory: np.ndarray) -> None:
    """Bring channels without a waiting group up to the pass that was served, so that they save nothing."""
    at = 0
    for c in range(memory.size):
        at = seek(at, c, count, channel)
        if at == count or channel[at] != c:
            memory[c] = max(memory[c], now)


class Stride(ByTickets):
    """Take the candidate whose channel has the smallest pass, the lowest channel at a tie; add its stride to its pass.

    A channel's stride is inverse to its tickets. One that waits but is no candidate keeps its pass, and so its claim.
    One without a waiting group is carried along, as one that joins again, and keeps its lead.

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
            carry_idle(see.count, see.channel, see.memory[served], see.memory)
            see.memory[served] += ONE_TICKET // tickets_of(served, see.levers)
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return the pass of each channel, 0: int64[channels]."""
        return np.zeros(channels, np.int64)
