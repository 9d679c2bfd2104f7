"""Served marks in a policy's memory: one bit a channel and static priority (spec 3, R10-R11)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.policies.dispatch.selection.candidates import is_candidate
from workbench.structures.xorshift import below

GENERATOR, LEVELS, FIRST = 0, 1, 2
"""Memory: the random generator's state, how many priorities are marked, then the marks, channel by channel."""


@kernel
def slot(channel: int, priority: int, memory: np.ndarray) -> int:
    """Where the mark of a channel for a priority stands."""
    return FIRST + channel * memory[LEVELS] + priority - 1


@kernel
def unmarked(
    count: int,
    channel: np.ndarray,
    priority: np.ndarray,
    rank: np.ndarray,
    fits: np.ndarray,
    limit: int,
    memory: np.ndarray,
) -> int:
    """How many candidates have no mark for their own priority."""
    found = 0
    for k in range(count):
        if is_candidate(k, rank, fits, limit) and not memory[slot(channel[k], priority[k], memory)]:
            found += 1
    return found


@kernel
def clear_candidates(
    kept: int,
    count: int,
    channel: np.ndarray,
    priority: np.ndarray,
    rank: np.ndarray,
    fits: np.ndarray,
    limit: int,
    memory: np.ndarray,
) -> None:
    """Take the marks of all candidates but one, each for its own priority."""
    for k in range(count):
        if k != kept and is_candidate(k, rank, fits, limit):
            memory[slot(channel[k], priority[k], memory)] = 0


@kernel
def clear_channels(
    kept: int,
    count: int,
    channel: np.ndarray,
    priority: np.ndarray,
    rank: np.ndarray,
    fits: np.ndarray,
    limit: int,
    memory: np.ndarray,
) -> None:
    """Take the marks of all channels but one, for every priority that a candidate has."""
    channels = (memory.size - FIRST) // memory[LEVELS]
    for k in range(count):
        if is_candidate(k, rank, fits, limit):
            for c in range(channels):
                if c != channel[kept]:
                    memory[slot(c, priority[k], memory)] = 0


@kernel
def turn(candidates: int, at_random: bool, memory: np.ndarray) -> int:
    """Which of so many is taken: any of them, each as likely as another, or the first."""
    return below(memory, GENERATOR, candidates) if at_random else 0
