"""Words by chance that are a function of a path of whole numbers, never of the order in which they are drawn.

A word is a chain of the finaliser of splitmix64, one for the seed and one for every number of the path: who, what for,
which draw (spec 6, E6).

References
----------
G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, right, wrapped_product, wrapped_sum

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


@kernel
def first_word(seed: int) -> np.uint64:
    """Return the word of a seed, from which paths begin.

    >>> int(first_word(0)) == 0xE220A8397B1DCDAF
    True
    """
    return _mixed(np.uint64(seed))


@kernel
def next_word(word: np.uint64, number: int) -> np.uint64:
    """Return the word of a path that goes on with a number of at least -1."""
    return _mixed(word ^ wrapped_product(np.uint64(number + 2), _STEP))


@kernel
def unit_of(word: np.uint64) -> float:
    """Return a number from 0 (included) to 1 (excluded): the upper 53 bits of a word."""
    return np.float64(np.int64(right(word, 11))) * _UNIT


@kernel
def _mixed(word: np.uint64) -> np.uint64:
    word = wrapped_sum(word, _STEP)
    word = wrapped_product(word ^ right(word, 30), _FIRST)
    word = wrapped_product(word ^ right(word, 27), _SECOND)
    return word ^ right(word, 31)
