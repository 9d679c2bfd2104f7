"""Maximal runs of free segments: a walk over those that are long enough, and where the run around a segment begins."""

from __future__ import annotations

import numpy as np

from workbench.compiled import ALL_BITS, NO_BITS, kernel, leading_zeros, right
from workbench.structures.free_map import WORD, next_taken
from workbench.structures.windows import NOWHERE, first_start


@kernel
def run_start(free: np.ndarray, at: int) -> int:
    """Return the lowest segment of the free run that holds `at`."""
    word = at >> 6
    bits = ~free[word] & right(ALL_BITS, 63 - (at & 63))
    while bits == NO_BITS:
        word -= 1
        if word < 0:
            return 0
        bits = ~free[word]
    return word * WORD + WORD - leading_zeros(bits)


@kernel
def smallest_run(free: np.ndarray, length: int, latest: bool) -> int:
    """Return the first segment of the smallest run of at least `length`, or -1; of equal ones the lowest, or the
    latest."""
    best, best_size = NOWHERE, free.size * WORD + 1
    start = first_start(free, length, 0)
    while start != NOWHERE:
        end = next_taken(free, start)
        if end - start < best_size or (latest and end - start == best_size):
            best, best_size = start, end - start
        if best_size == length and not latest:
            break
        start = first_start(free, length, end)
    return best


@kernel
def largest_run(free: np.ndarray, length: int, latest: bool) -> int:
    """Return the first segment of the largest run, or -1 when it is shorter than `length`; of equal ones as above."""
    best, best_size = NOWHERE, length - 1
    start = first_start(free, length, 0)
    while start != NOWHERE:
        end = next_taken(free, start)
        if end - start > best_size or (latest and end - start == best_size):
            best, best_size = start, end - start
        start = first_start(free, best_size, end)
    return best
