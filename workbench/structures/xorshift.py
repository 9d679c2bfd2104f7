"""A random generator that fits into one slot of a policy's memory: Marsaglia's xorshift of 64 bits.

Its words take every value but 0 once in 2**64 - 1 steps, so a draw is uniform; it needs no more than shifts.

References
----------
G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003: the triple (13, 7, 17).
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, leading_zeros, left, right


@kernel
def next_word(memory: np.ndarray, slot: int) -> np.uint64:
    """Advance the generator in a slot, which must not hold 0, and return its new word."""
    word = np.uint64(memory[slot])
    word ^= left(word, 13)
    word ^= right(word, 7)
    word ^= left(word, 17)
    memory[slot] = np.int64(word)
    return word


@kernel
def below(memory: np.ndarray, slot: int, count: int) -> int:
    """Draw a whole number from 0 to count - 1, each as likely as another: too large ones are drawn again."""
    if count == 1:
        return 0
    spare = leading_zeros(np.uint64(count - 1))
    drawn = np.int64(right(next_word(memory, slot), spare))
    while drawn >= count:
        drawn = np.int64(right(next_word(memory, slot), spare))
    return int(drawn)
