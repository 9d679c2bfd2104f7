"""Draws by Zipf's law over any number of things, and which thing has which rank.

The sums of the law's weights stand in a table for the first ranks; behind them a sum is the integral of the middle of
its steps, which at `NEAR` is exact to 1e-11 of the whole. Which thing has a rank says a permutation that is computed,
not stored: four rounds of Feistel's network over the next power of four, gone through again where that leads outside.

References
----------
M. Luby, C. Rackoff, "How to construct pseudorandom permutations from pseudorandom functions", SIAM Journal on
Computing 17(2), 1988. J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002: going through again.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from workbench.compiled import kernel, noinline, right
from workbench.structures.splitmix import next_word

NEAR = 1 << 16
"""Ranks whose sums stand in a table."""
_ROUNDS = 4


def sums_of(skew: float, count: int) -> list[float]:
    """Return the sums of the first weights 1 / rank^skew: of `count` ranks, at most `NEAR`.

    >>> sums_of(1.0, 3)
    [1.0, 1.5, 1.8333333333333333]
    """
    return list(itertools.accumulate(1 / rank**skew for rank in range(1, min(count, NEAR) + 1)))


@noinline
def rank_of(sums: np.ndarray, first: int, count: int, skew: float, chance: float) -> int:
    """Return the rank, from 0 on, that a number by chance stands for: how many sums are not above its share of all.

    Parameters
    ----------
    sums, first
        The table, and where the sums of this exponent begin in it.
    count : int
        Things, of which the last has the least weight.
    """
    near = min(count, NEAR)
    head = sums[first + near - 1]
    sought = chance * (head + _sum_behind(near, count, skew))
    if sought >= head:
        return min(max(int(_reached(near, sought - head, skew) - 0.5), near), count - 1) if count > near else count - 1
    low, high = 0, near
    while low < high:
        middle = (low + high) // 2
        if sought < sums[first + middle]:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _sum_behind(near: int, count: int, skew: float) -> float:
    """Return the sum of the weights of the ranks from `near` + 1 to `count`."""
    span = math.log((count + 0.5) / (near + 0.5))
    if skew == 1.0:
        return span
    return float((near + 0.5) ** (1 - skew) * math.expm1((1 - skew) * span) / (1 - skew))


@kernel
def _reached(near: int, weight: float, skew: float) -> float:
    """Return up to where the weights behind `near` sum up to one."""
    if skew == 1.0:
        return float((near + 0.5) * math.exp(weight))
    share = (1 - skew) * weight / (near + 0.5) ** (1 - skew)
    return float((near + 0.5) * math.exp(math.log1p(share) / (1 - skew)))


@noinline
def permuted(word: np.uint64, count: int, place: int) -> int:
    """Return where a place from 0 to `count` - 1 goes in the permutation of a word.

    >>> sorted(permuted(np.uint64(7), 5, place) for place in range(5))
    [0, 1, 2, 3, 4]
    """
    half = 0
    while 1 << 2 * half < count:
        half += 1
    result = _sent(word, half, place)
    while result >= count:
        result = _sent(word, half, result)
    return result


@kernel
def _sent(word: np.uint64, half: int, place: int) -> int:
    """Go through the network once; `half` is half of its bits."""
    mask = (1 << half) - 1
    upper, lower = place >> half, place & mask
    for turn in range(_ROUNDS):
        mixed = int(np.int64(right(next_word(next_word(word, turn), lower), 11)))
        upper, lower = lower, upper ^ (mixed & mask)
    return upper << half | lower
