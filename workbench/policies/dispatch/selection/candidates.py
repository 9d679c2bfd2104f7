"""The candidates of a round, as channel policies share them: groups that fit, of the most urgent rank or of any."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.policies.dispatch.selection.question import NOBODY

ANY_RANK = 1 << 62
"""A rank that every group reaches."""


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
