"""Served marks in a policy's memory: one a channel and static priority (spec 3, R10-R11)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.policies.dispatch.selection.candidates import is_candidate
from workbench.policies.dispatch.selection.question import NOBODY

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
    """Return how many candidates have no mark for their own priority."""
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
