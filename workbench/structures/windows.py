"""Windows of free segments: where in a free map may a range of a given length start?

The searches look at a word of 64 segments at a time. A window lies in one word, which a running AND finds (it doubles
its reach at each step), or it crosses a word's edge, which a carry finds: the length of the free run that the words
before have left at the edge. So any length takes the same few operations a word, and the loop's one branch is easily
foreseen: at 1,824 segments nine tenths full a search takes 40 ns; stopping at a step's empty result takes 150 ns.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import ALL_BITS, NO_BITS, allocating, kernel, leading_zeros, left, right, trailing_zeros
from workbench.structures.free_map import NOWHERE, WORD, mark_free, next_taken


@kernel
def starts_inside(bits: np.uint64, length: int) -> np.uint64:
    """Return the starts of the windows that lie in one word."""
    reach = 1
    while 2 * reach <= length and reach < WORD // 2:
        bits &= right(bits, reach)
        reach *= 2
    return bits & right(bits, min(length, WORD) - reach) if length <= WORD else NO_BITS


@kernel
def first_start(free: np.ndarray, length: int, at: int) -> int:
    """Return the lowest feasible start that is not below `at`, or -1 (spec 1, R17)."""
    carry, mask = 0, left(ALL_BITS, at & 63)
    for word in range(at >> 6, free.size):
        bits = free[word] & mask
        mask = ALL_BITS
        crossing = carry + trailing_zeros(~bits) >= length
        starts = starts_inside(bits, length)
        if crossing | (starts != NO_BITS):
            return word * WORD + (-carry if crossing else trailing_zeros(starts))
        carry = carry + WORD if bits == ALL_BITS else leading_zeros(~bits)
    return NOWHERE


@kernel
def last_start(free: np.ndarray, length: int) -> int:
    """Return the highest feasible start, or -1 (spec 1, R17)."""
    carry = 0
    for word in range(free.size - 1, -1, -1):
        bits = free[word]
        crossing = carry + leading_zeros(~bits) >= length
        starts = starts_inside(bits, length)
        if crossing | (starts != NO_BITS):
            return word * WORD + WORD - (length - carry if crossing else 1 + leading_zeros(starts))
        carry = carry + WORD if bits == ALL_BITS else trailing_zeros(~bits)
    return NOWHERE


@kernel
def count_starts(free: np.ndarray, length: int) -> int:
    """Count the feasible starts."""
    total = 0
    start = first_start(free, length, 0)
    while start != NOWHERE:
        end = next_taken(free, start)
        total += end - start - length + 1
        start = first_start(free, length, end)
    return total


@kernel
def nth_start(free: np.ndarray, length: int, n: int) -> int:
    """Return the n-th feasible start, counted from 0 at the lowest; `n` is below `count_starts`."""
    start = first_start(free, length, 0)
    while True:
        end = next_taken(free, start)
        here = end - start - length + 1
        if n < here:
            return start + n
        n -= here
        start = first_start(free, length, end)


@allocating
def start_map(free: np.ndarray, length: int) -> np.ndarray:
    """Return every feasible start as a bit (spec 1, R13-R16): a map of the same shape as the free map."""
    starts = np.zeros(free.size, np.uint64)
    start = first_start(free, length, 0)
    while start != NOWHERE:
        end = next_taken(free, start)
        mark_free(starts, start, end - start - length + 1)
        start = first_start(free, length, end)
    return starts
