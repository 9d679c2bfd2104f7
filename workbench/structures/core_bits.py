"""Sets of cores as bits of 64-bit words: core c is bit c % 64 of word c // 64; a row of words begins anywhere.

All functions take the words, where the row begins, and its length in words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import ALL_BITS, NO_BITS, kernel, left, ones, right, trailing_zeros

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
    """Return how many cores are in the set."""
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
