"""One bit a shift and resource: is there a run of that length? (spec 3, R33, R56, R59)"""

from __future__ import annotations

import numpy as np

from workbench.compiled import allocating, kernel


@kernel
def reduced(word: np.ndarray, first: int, end: int, taken_is_one: bool) -> bool:
    """Return the OR of the bits [first, end); in `free0` their NAND (R33)."""
    some, every = False, True
    for k in range(first, end):
        some |= word[k]
        every &= word[k]
    return not every if taken_is_one else some


@allocating
def sequence(rows: np.ndarray, first: int, blocks: int, taken_is_one: bool) -> np.ndarray:
    """Return SAR of the resource that lies in the bits [first, first + blocks): bool[blocks], entry e for a run of e +
    1."""
    result = np.empty(blocks, np.bool_)
    for by in range(blocks):
        result[by] = reduced(rows[by], first, first + blocks, taken_is_one)
    return result


@allocating
def half_sequences(rows: np.ndarray, taken_is_one: bool) -> np.ndarray:
    """Return S_L and S_H: the reductions of the low and of the high half of every SA[e]: bool[2, width] (R59).

    Where one resource uses the whole probe, its SAR is the OR of the two.
    """
    width, middle = rows.shape[0], rows.shape[0] // 2
    result = np.empty((2, width), np.bool_)
    for by in range(width):
        result[0, by] = reduced(rows[by], 0, middle, taken_is_one)
        result[1, by] = reduced(rows[by], middle, width, taken_is_one)
    return result
