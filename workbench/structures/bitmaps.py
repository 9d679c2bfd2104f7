"""Bit maps in 64-bit words: the free map of a memory and searches in it, blocks of buddies, and sets of cores.

In a free map bit k of word w stands for segment 64 w + k; 1 means free. Bits beyond the last segment are always 0, so
no free run can reach past the end. As a vector of booleans, segment or block 0 first, it is what circuits of masks and
shifts are written on. In a set of cores, core c is bit c % 64 of word c // 64; its functions take the words, where the
row begins in them, and its length in words.

Searches for a window of a given length look at a word at a time. A window lies in one word, which a running AND finds
(it doubles its reach at each step). Or it crosses a word's edge, which a carry finds: the length of the free run that
the words before have left at the edge. So any length takes the same few operations a word, and the loop's one branch is
easily predicted. At 1,824 segments nine tenths full a search takes 40 ns; stopping at a step's empty result takes 150
ns.

Buddies that are both free are always joined, so the free blocks of a buddy allocator are the largest aligned blocks of
2**order segments that are free: those whose buddy is not. Nothing is remembered except the map. A block lies wholly
within the memory, so any number of segments will do: 1,824 is one block of 1,024 and blocks of 512, 256 and 32 behind
it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import ALL_BITS, NO_BITS, allocating, kernel, leading_zeros, left, ones, right, trailing_zeros

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
        # A window across the edge starts below every window within the word.
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
        # A window across the edge starts above every window within the word.
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


WORD_ORDER = 6
_ALIGNED = tuple(np.uint64(sum(1 << k for k in range(0, WORD, 1 << order))) for order in range(WORD_ORDER + 1))
"""For each order, the positions in a word where a block may begin."""


@kernel
def order_of(length: int) -> int:
    """Return the order of the smallest block that holds a length."""
    # For one segment the argument is 0, which has 64 leading zeros: order 0.
    return WORD - leading_zeros(np.uint64(length - 1))


@kernel
def _pairs(blocks: np.uint64, order: int) -> np.uint64:
    """Return, of the free blocks of an order in a word, those that are the lower of two buddies that are both free."""
    return blocks & right(blocks, 1 << order) & _ALIGNED[order + 1]


@kernel
def _alone(bits: np.uint64, order: int) -> np.uint64:
    """Return the free blocks of an order below a word's whose buddy is not free."""
    blocks = bits
    for smaller in range(order):
        blocks = _pairs(blocks, smaller)
    joined = _pairs(blocks, order)
    return blocks & ~(joined | left(joined, 1 << order))


@kernel
def _lowest_alone(free: np.ndarray, order: int) -> int:
    if order < WORD_ORDER:
        for word in range(free.size):
            blocks = _alone(free[word], order)
            if blocks != NO_BITS:
                return word * WORD + trailing_zeros(blocks)
        return NOWHERE
    size = 1 << order
    for start in range(0, free.size * WORD, size):
        # A buddy beyond the memory counts as taken.
        if is_free(free, start, size) and not is_free(free, start ^ size, size):
            return start
    return NOWHERE


@kernel
def smallest_block(free: np.ndarray, order: int) -> int:
    """Return the first segment of the lowest of the smallest free blocks of at least an order, or -1."""
    while 1 << order <= free.size * WORD:
        start = _lowest_alone(free, order)
        if start != NOWHERE:
            return start
        order += 1
    return NOWHERE


NOBODY: Any = np.int64(-1)
FIRST_WORD: Any = np.int64(0)
"""Where the row of words of an array that holds one set begins."""


@kernel
def has_core(words: np.ndarray, row: int, core: int) -> bool:
    """Return whether a core is in the set."""
    return (right(words[row + (core >> 6)], core & 63) & np.uint64(1)) != NO_BITS


@kernel
def add_core(words: np.ndarray, row: int, core: int) -> None:
    """Put a core into the set."""
    words[row + (core >> 6)] |= left(np.uint64(1), core & 63)


@kernel
def drop_core(words: np.ndarray, row: int, core: int) -> None:
    """Take a core out of the set."""
    words[row + (core >> 6)] &= ~left(np.uint64(1), core & 63)


@kernel
def count_cores(words: np.ndarray, row: int, length: int) -> int:
    """Return the number of cores in the set."""
    total = ones(words[row])
    for word in range(row + 1, row + length):
        total += ones(words[word])
    return total


@kernel
def copy_cores(to: np.ndarray, at: int, words: np.ndarray, row: int, length: int) -> None:
    """Copy a set to another place."""
    to[at] = words[row]
    for word in range(1, length):
        to[at + word] = words[row + word]


@kernel
def next_core(words: np.ndarray, row: int, length: int, least: int) -> int:
    """Return the lowest core of the set that is not below `least`, or -1."""
    word = least >> 6
    if word >= length:
        return NOBODY
    bits = words[row + word] & left(ALL_BITS, least & 63)
    while bits == NO_BITS:
        word += 1
        if word >= length:
            return NOBODY
        bits = words[row + word]
    return word * 64 + trailing_zeros(bits)
