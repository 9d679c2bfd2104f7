"""Request windows and releases as bit masks (spec 1, R9-R12); a vector is a row of booleans, segment 0 first."""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_BITS, ONE_BIT, allocating, right


@allocating
def bitmap(free: np.ndarray, segments: int, taken_is_one: bool) -> np.ndarray:
    """The free map's words as bool[segments] in an encoding: 1 is free (`free1`), or 1 is taken (`free0`)."""
    bits = np.zeros(segments, np.bool_)
    for segment in range(segments):
        is_free = right(free[segment >> 6], segment & 63) & ONE_BIT != NO_BITS
        bits[segment] = is_free != taken_is_one
    return bits


@allocating
def size_mask(segments: int, length: int) -> np.ndarray:
    """As many low ones as the request is long (R9): window mask 0."""
    mask = np.zeros(segments, np.bool_)
    mask[:length] = True
    return mask


@allocating
def shifted(mask: np.ndarray, by: int) -> np.ndarray:
    """A mask moved toward higher positions (lower ones for a negative amount), zeros coming in."""
    moved = np.zeros(mask.size, np.bool_)
    if by >= 0:
        moved[by:] = mask[: mask.size - by]
    else:
        moved[:by] = mask[-by:]
    return moved


@allocating
def window_masks(segments: int, length: int) -> np.ndarray:
    """Every window mask, each the one before shifted by one position: bool[segments - length + 1, segments] (R10-R12).

    There are no rows above segments - length: a window there would reach past the end (R11, E3).
    """
    rows = np.zeros((segments - length + 1, segments), np.bool_)
    mask = size_mask(segments, length)
    for row in range(segments - length + 1):
        rows[row] = mask
        mask = shifted(mask, 1)
    return rows


@allocating
def release_mask(segments: int, start: int, length: int) -> np.ndarray:
    """What is OR-ed into the bitmap at a release: the size mask shifted by the base, not by the length (R9, E6)."""
    return shifted(size_mask(segments, length), start)
