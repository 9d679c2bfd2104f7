"""The free map: which segments of a memory are free, one bit a segment, 64 segments a word.

Bit k of word w stands for segment 64 w + k; 1 means free. Bits beyond the last segment are always 0, so no window of free
segments can reach past the end. Searches look at 64 starts at a time: a window test by doubling for lengths up to a
word, a walk over the runs for longer ones.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import (
    ALL_BITS,
    NO_BITS,
    ONE_BIT,
    allocating,
    kernel,
    leading_zeros,
    left,
    ones,
    right,
    trailing_zeros,
)

WORD = 64
NOWHERE = -1
"""What a search returns when there is no such start."""


@allocating
def all_free(segments: int) -> np.ndarray:
    """A free map of so many free segments: uint64[ceil(segments / 64)]."""
    words = np.full((segments + WORD - 1) // WORD, ALL_BITS)
    if segments % WORD:
        words[-1] = right(ALL_BITS, WORD - segments % WORD)
    return words


@kernel
def _from(start: int) -> np.uint64:
    return left(ALL_BITS, start & 63)


@kernel
def _up_to(last: int) -> np.uint64:
    return right(ALL_BITS, 63 - (last & 63))


@kernel
def mark_taken(free: np.ndarray, start: int, length: int) -> None:
    """Take the segments [start, start + length)."""
    last = start + length - 1
    word, end = start >> 6, last >> 6
    if word == end:
        free[word] &= ~(_from(start) & _up_to(last))
        return
    free[word] &= ~_from(start)
    free[end] &= ~_up_to(last)
    for middle in range(word + 1, end):
        free[middle] = NO_BITS


@kernel
def mark_free(free: np.ndarray, start: int, length: int) -> None:
    """Give back the segments [start, start + length)."""
    last = start + length - 1
    word, end = start >> 6, last >> 6
    if word == end:
        free[word] |= _from(start) & _up_to(last)
        return
    free[word] |= _from(start)
    free[end] |= _up_to(last)
    for middle in range(word + 1, end):
        free[middle] = ALL_BITS


@kernel
def is_free(free: np.ndarray, start: int, length: int) -> bool:
    """Are all of the segments [start, start + length) free?"""
    last = start + length - 1
    word, end = start >> 6, last >> 6
    if word == end:
        return ~free[word] & _from(start) & _up_to(last) == NO_BITS
    missing = (~free[word] & _from(start)) | (~free[end] & _up_to(last))
    for middle in range(word + 1, end):
        missing |= ~free[middle]
    return missing == NO_BITS


@kernel
def start_word(free: np.ndarray, word: int, length: int) -> np.uint64:
    """The feasible starts among the 64 segments of one word, for a length of 1 to 64.

    Bit k is 1 when the `length` segments from 64 word + k on are all free: a running AND over 128 bits that doubles
    its reach at each step.
    """
    low = free[word]
    if low == NO_BITS:
        return low
    high = free[word + 1] if word + 1 < free.size else NO_BITS
    reach = 1
    while 2 * reach <= length:
        low &= right(low, reach) | left(high, WORD - reach)
        high &= right(high, reach)
        reach *= 2
    rest = length - reach
    return low & (right(low, rest) | left(left(high, 1), WORD - 1 - rest))


@kernel
def first_start(free: np.ndarray, length: int, at: int) -> int:
    """The lowest feasible start that is not below `at`, or -1."""
    if length > WORD:
        return _first_long_start(free, length, at)
    word = at >> 6
    if word >= free.size:
        return NOWHERE
    starts = start_word(free, word, length) & left(ALL_BITS, at & 63)
    while starts == NO_BITS:
        word += 1
        if word >= free.size:
            return NOWHERE
        starts = start_word(free, word, length)
    return word * WORD + trailing_zeros(starts)


@kernel
def last_start(free: np.ndarray, length: int) -> int:
    """The highest feasible start, or -1."""
    if length > WORD:
        return _last_long_start(free, length)
    for word in range(free.size - 1, -1, -1):
        starts = start_word(free, word, length)
        if starts != NO_BITS:
            return word * WORD + WORD - 1 - leading_zeros(starts)
    return NOWHERE


@kernel
def next_free(free: np.ndarray, at: int) -> int:
    """The lowest free segment that is not below `at`, or 64 times the number of words."""
    word = at >> 6
    if word >= free.size:
        return free.size * WORD
    bits = free[word] & left(ALL_BITS, at & 63)
    while bits == NO_BITS:
        word += 1
        if word == free.size:
            return free.size * WORD
        bits = free[word]
    return word * WORD + trailing_zeros(bits)


@kernel
def next_taken(free: np.ndarray, at: int) -> int:
    """The lowest taken segment that is not below `at`; the first position beyond the memory counts as taken."""
    word = at >> 6
    if word >= free.size:
        return free.size * WORD
    bits = ~free[word] & left(ALL_BITS, at & 63)
    while bits == NO_BITS:
        word += 1
        if word == free.size:
            return free.size * WORD
        bits = ~free[word]
    return word * WORD + trailing_zeros(bits)


@kernel
def _first_long_start(free: np.ndarray, length: int, at: int) -> int:
    start = next_free(free, at)
    while start < free.size * WORD:
        end = next_taken(free, start)
        if end - start >= length:
            return start
        start = next_free(free, end)
    return NOWHERE


@kernel
def _last_long_start(free: np.ndarray, length: int) -> int:
    found, start = NOWHERE, next_free(free, 0)
    while start < free.size * WORD:
        end = next_taken(free, start)
        if end - start >= length:
            found = end - length
        start = next_free(free, end)
    return found


@kernel
def count_free(free: np.ndarray) -> int:
    """How many segments are free."""
    total = 0
    for word in range(free.size):
        total += ones(free[word])
    return total


@kernel
def longest_run(free: np.ndarray) -> int:
    """The length of the longest run of free segments."""
    longest, start = 0, next_free(free, 0)
    while start < free.size * WORD:
        end = next_taken(free, start)
        longest = max(longest, end - start)
        start = next_free(free, end)
    return longest


@kernel
def count_runs(free: np.ndarray) -> int:
    """How many maximal runs of free segments there are."""
    runs, before = 0, NO_BITS
    for word in range(free.size):
        runs += ones(free[word] & ~(left(free[word], 1) | before))
        before = right(free[word], WORD - 1)
    return runs


@allocating
def start_map(free: np.ndarray, length: int) -> np.ndarray:
    """Every feasible start as a bit (spec 1, R13-R16): a map of the same shape as the free map."""
    starts = np.zeros(free.size, np.uint64)
    start = first_start(free, length, 0)
    while start != NOWHERE:
        mark_free(starts, start, 1)
        start = first_start(free, length, start + 1)
    return starts


def packed(bits: np.ndarray) -> np.ndarray:
    """A boolean array, segment 0 first, as words."""
    padded = np.zeros(-(-len(bits) // WORD) * WORD, np.uint8)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)


def unpacked(words: np.ndarray, segments: int) -> np.ndarray:
    """Words as a boolean array, segment 0 first."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), count=segments, bitorder="little").astype(bool)
