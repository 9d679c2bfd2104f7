"""Served marks: equal channels in random order, each once before any twice; the proposal of the source document."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.selection.candidates import best_rank, first_candidate, how_many, nth_candidate
from workbench.policies.dispatch.selection.marks import FIRST, LEVELS, clear_others, mark, nth_unmarked, unmarked
from workbench.policies.dispatch.selection.question import Selection
from workbench.streams import Streams
from workbench.structures.xorshift import below

MARK_ON_SINGLE, CLEAR_SCOPE, PICK = 0, 1, 2
AT_RANDOM, ALL_CHANNELS = 0, 1
GENERATOR = 0
"""Memory: the state of the random generator, never 0; the marks follow."""


class ServedMarks(Selection):
    """Take the most urgent group that fits; equal ones at random among the channels that have no mark yet.

    A single candidate of the most urgent rank is taken as it is. Of several, one without a mark for its priority is
    taken at random and marked. When all of them are marked, one of all is taken at random, keeps its mark, and the
    others lose theirs. A mark belongs to a channel and a static priority, whatever the rank is now (E4), so that
    several static priorities of one rank each look at their own marks. `pick` replaces chance by the lowest channel.

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
    mark_on_single: bool = lever(False, says="whether a single candidate of the most urgent rank is marked as well")
    clear_scope: Literal["candidates", "all_channels"] = lever(
        "candidates", says="whose marks go when all candidates have one: the other candidates', or all other channels'"
    )
    pick: Literal["random", "lowest"] = lever("random", says="which of equal channels is taken")

    def answer(cycle, count, channel, priority, rank, fits, waited, waves, params, memory):  # type: ignore[no-untyped-def]
        limit = best_rank(count, rank, fits)
        equals = how_many(count, rank, fits, limit)
        if equals < 2:
            chosen = first_candidate(count, rank, fits, limit)
            if equals and params[MARK_ON_SINGLE]:
                memory[mark(channel[chosen], priority[chosen], memory)] = 1
            return chosen
        fresh = unmarked(count, channel, priority, rank, fits, limit, memory)
        if fresh:
            turn = below(memory, GENERATOR, fresh) if params[PICK] == AT_RANDOM else 0
            chosen = nth_unmarked(turn, count, channel, priority, rank, fits, limit, memory)
            memory[mark(channel[chosen], priority[chosen], memory)] = 1
            return chosen
        turn = below(memory, GENERATOR, equals) if params[PICK] == AT_RANDOM else 0
        chosen = nth_candidate(turn, count, rank, fits, limit)
        everywhere = params[CLEAR_SCOPE] == ALL_CHANNELS
        clear_others(chosen, everywhere, count, channel, priority, rank, fits, limit, memory)
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """No marks, also none for sub-groups below all priorities: int64[2 + channels * (levels + 1)]."""
        memory = np.zeros(FIRST + channels * (levels + 1), np.int64)
        memory[GENERATOR] = max(Streams(seed).integer("served_marks"), 1)
        memory[LEVELS] = levels + 1
        return memory
