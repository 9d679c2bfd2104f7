"""A free map as a vector of booleans, segment or block 0 first: what circuits of masks and shifts are written on."""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_BITS, ONE_BIT, allocating, kernel, right


@kernel
def is_one(words: np.ndarray, segment: int) -> bool:
    """Return the bit of one segment in a map of 64-bit words."""
    return right(words[segment >> 6], segment & 63) & ONE_BIT != NO_BITS


@allocating
def bitmap(free: np.ndarray, segments: int, taken_is_one: bool) -> np.ndarray:
    """Return the free map as bool[segments] in an encoding: 1 is free (`free1`), or 1 is taken (`free0`)."""
    bits = np.zeros(segments, np.bool_)
    for segment in range(segments):
        bits[segment] = is_one(free, segment) != taken_is_one
    return bits
