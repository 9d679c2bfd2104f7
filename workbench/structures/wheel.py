"""A wheel of 1,024 cycles: which cycles of the turn to come hold something, a bit each, searched a word at a time."""

from __future__ import annotations

import numpy as np

from workbench.compiled import ALL_BITS, NO_BITS, kernel, left, trailing_zeros

TURN = 1024
"""Cycles of one turn."""
WORDS = TURN // 64
NEVER = 1 << 62
"""A cycle after all others."""


@kernel
def first_busy(busy: np.ndarray, now: int, later: int) -> int:
    """Return the first cycle from `now` on that holds something, or `later` where none of this turn comes before it.

    Parameters
    ----------
    busy : uint64[WORDS]
        A bit a cycle of the turn; what it holds lies within one turn of `now`.
    later : int
        The earliest cycle of what lies beyond the wheel, or `NEVER`.

    Examples
    --------
    >>> busy = np.zeros(WORDS, np.uint64)
    >>> busy[2] = 1
    >>> first_busy(busy, 5, NEVER), first_busy(busy, 5, 7), first_busy(busy, 129, NEVER)
    (128, 7, 1152)
    """
    slot = now & (TURN - 1)
    word = slot >> 6
    bits = busy[word] & left(ALL_BITS, slot & 63)
    step = 0
    while bits == NO_BITS:
        step += 1
        if step > WORDS:
            return later
        word = (word + 1) & (WORDS - 1)
        bits = busy[word]
    bucket = word * 64 + trailing_zeros(bits)
    return min(now + ((bucket - slot) & (TURN - 1)), later)
