"""Shift, mask, chain: the words D[e] and SA[e] of all resources at once (spec 3, R31, R32, R56)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import allocating
from workbench.policies.probes.shared.masks import mask


@allocating
def shifted(word: np.ndarray, by: int, left: bool, taken_is_one: bool) -> np.ndarray:
    """Return the word moved toward higher positions (`left`) or lower ones, "occupied" coming in at the end."""
    moved = np.empty(word.size, np.bool_)
    for k in range(word.size):
        source = k - by if left else k + by
        moved[k] = word[source] if 0 <= source < word.size else taken_is_one
    return moved


@allocating
def masked(word: np.ndarray, kept: np.ndarray, taken_is_one: bool) -> np.ndarray:
    """Return the word with "occupied" wherever the mask is 0: AND with the mask, in `free0` OR with its complement
    (R58)."""
    inside = np.empty(word.size, np.bool_)
    for k in range(word.size):
        inside[k] = word[k] | (not kept[k]) if taken_is_one else word[k] & kept[k]
    return inside


@allocating
def chained(before: np.ndarray, word: np.ndarray, taken_is_one: bool) -> np.ndarray:
    """Return SA[e] of SA[e - 1] and D[e]: AND, in `free0` OR (R32)."""
    both = np.empty(word.size, np.bool_)
    for k in range(word.size):
        both[k] = before[k] | word[k] if taken_is_one else before[k] & word[k]
    return both


@allocating
def prefixes(loaded: np.ndarray, starts: np.ndarray, left: bool, taken_is_one: bool, form: int) -> np.ndarray:
    """Return SA[0] to SA[width - 1], one a row: bool[width, width].

    Parameters
    ----------
    loaded : bool array, shape (width,)
        D0.
    starts : int64 array, shape (resources + 1,)
        As `fields` gives them.
    left, taken_is_one : bool
        The direction, the encoding `free0`.
    form : int
        Which masks there are.
    """
    width = loaded.size
    rows = np.empty((width, width), np.bool_)
    rows[0] = loaded
    for by in range(1, width):
        inside = masked(shifted(loaded, by, left, taken_is_one), mask(starts, by, left, form), taken_is_one)
        rows[by] = chained(rows[by - 1], inside, taken_is_one)
    return rows
