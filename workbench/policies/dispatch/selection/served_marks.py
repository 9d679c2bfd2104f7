"""Served marks: equal channels in random order, each once before any twice; the proposal of the source document."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.selection.candidates import best_rank, first_candidate, how_many, nth_candidate
from workbench.policies.dispatch.selection.marks import FIRST, LEVELS, clear_others, mark, nth_unmarked, unmarked
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.view import SelectionView
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
