"""The free map: which segments of a memory are free, one bit a segment, 64 segments a word.

Bit k of word w stands for segment 64 w + k; 1 means free. Bits beyond the last segment are always 0, so no free run can
reach past the end.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import ALL_BITS, NO_BITS, kernel, left, ones, right, trailing_zeros

WORD = 64
NOWHERE = -1
"""What a search returns when there is no such start."""


def all_free(segments: int) -> np.ndarray:
    """Return a free map of so many free segments: uint64[ceil(segments / 64)]."""
    words = np.full((segments + WORD - 1) // WORD, ALL_BITS)
    if segments % WORD:
        words[-1] = ALL_BITS >> np.uint64(WORD - segments % WORD)
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
    """Return whether all of the segments [start, start + length) are in the memory, and free."""
    last = start + length - 1
    word, end = start >> 6, last >> 6
    if word < 0 or end >= free.size:
        return False
    if word == end:
        return ~free[word] & _from(start) & _up_to(last) == NO_BITS
    missing = (~free[word] & _from(start)) | (~free[end] & _up_to(last))
    for middle in range(word + 1, end):
        missing |= ~free[middle]
    return missing == NO_BITS


@kernel
def next_free(free: np.ndarray, at: int) -> int:
    """Return the lowest free segment that is not below `at`, or 64 times the number of words."""
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
    """Return the lowest taken segment that is not below `at`; the first position beyond the memory counts as taken."""
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
def count_free(free: np.ndarray) -> int:
    """Count the segments that are free."""
    total = 0
    for word in range(free.size):
        total += ones(free[word])
    return total


@kernel
def longest_run(free: np.ndarray) -> int:
    """Return the length of the longest run of free segments."""
    longest, start = 0, next_free(free, 0)
    while start < free.size * WORD:
        end = next_taken(free, start)
        longest = max(longest, end - start)
        start = next_free(free, end)
    return longest


@kernel
def count_runs(free: np.ndarray) -> int:
    """Count the maximal runs of free segments."""
    runs, before = 0, NO_BITS
    for word in range(free.size):
        runs += ones(free[word] & ~(left(free[word], 1) | before))
        before = right(free[word], WORD - 1)
    return runs


def packed(bits: np.ndarray) -> np.ndarray:
    """Return a boolean array, segment 0 first, as words."""
    padded = np.zeros(-(-len(bits) // WORD) * WORD, np.uint8)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)


def unpacked(words: np.ndarray, segments: int) -> np.ndarray:
    """Return words as a boolean array, segment 0 first."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), count=segments, bitorder="little").astype(bool)
