"""Where in the probe's word does each resource lie? One after the other, the first at bit 0 (spec 3, R52, R56)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.compiled import allocating


def fields(blocks: Sequence[int], width: int) -> np.ndarray:
    """Return the first bit of each resource's field, and the width of the probe: int64[resources + 1].

    The last field reaches to the end of the word; its bits beyond the resource hold "occupied" (V22).

    >>> fields([64, 48], 128).tolist()
    [0, 64, 128]
    """
    ends = np.cumsum([0, *blocks])
    ends[-1] = width
    return ends


@allocating
def loaded(states: np.ndarray, width: int, taken_is_one: bool) -> np.ndarray:
    """Return D0: the states one after the other, filled up with "occupied": bool[width] (R56).

    Parameters
    ----------
    states : bool array, shape (blocks of all resources together,)
        1 = free, whatever the encoding of the word.
    taken_is_one : bool
        The encoding `free0`.
    """
    word = np.empty(width, np.bool_)
    for k in range(width):
        word[k] = (k < states.size and states[k]) != taken_is_one
    return word
