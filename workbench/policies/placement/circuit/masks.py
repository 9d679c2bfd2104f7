"""Request windows and releases as bit masks (spec 1, R9-R12); a vector is a row of booleans, segment 0 first."""

from __future__ import annotations

import numpy as np

from workbench.compiled import allocating


@allocating
def size_mask(segments: int, length: int) -> np.ndarray:
    """Return as many low ones as the request is long (R9): window mask 0."""
    mask = np.zeros(segments, np.bool_)
    for k in range(length):
        mask[k] = True
    return mask


@allocating
def shifted(vector: np.ndarray, by: int, entering: bool) -> np.ndarray:
    """Return a vector moved toward higher positions, lower ones for a negative amount, with a value entering at the
    end."""
    moved = np.empty(vector.size, np.bool_)
    for k in range(vector.size):
        moved[k] = vector[k - by] if 0 <= k - by < vector.size else entering
    return moved


@allocating
def window_masks(segments: int, length: int) -> np.ndarray:
    """Return every window mask, each the one before shifted by one: bool[segments - length + 1, segments] (R10-R12).

    There are no rows above segments - length: a window there would reach past the end (R11, E3).
    """
    masks = np.zeros((segments - length + 1, segments), np.bool_)
    for k in range(length):
        masks[0, k] = True
    for row in range(1, segments - length + 1):
        for k in range(1, segments):
            masks[row, k] = masks[row - 1, k - 1]
    return masks


@allocating
def release_mask(segments: int, start: int, length: int) -> np.ndarray:
    """Return what is OR-ed into the bitmap at a release: the size mask shifted by the base, not by the length (R9,
    E6)."""
    return shifted(size_mask(segments, length), start, False)
