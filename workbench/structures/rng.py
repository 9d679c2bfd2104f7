"""Random words and draws: by a path of numbers, by a slot of memory, by Zipf's law.

- By a path: a word is a chain of the finalizer of splitmix64, one for the seed and one for every number of the path.
  The path says who, what for, and which draw (spec 6, E6). So it never depends on the order in which words are drawn.
- By a slot: Marsaglia's xorshift of 64 bits, which fits into one slot of a policy's memory and needs no more than
  shifts. Its words take every value but 0 once in 2**64 - 1 steps, so a draw is uniform.
- By Zipf's law: the sums of its weights stand in a table for the first ranks. Behind them a sum is the integral of the
  middle of its steps, which at `NEAR` is exact to 1e-11 of the whole. Which thing has a rank says a permutation that is
  computed, not stored: four rounds of Feistel's network over the next power of four, gone through again where that
  leads outside.

References
----------
G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003: the triple (13, 7, 17).
M. Luby, C. Rackoff, "How to construct pseudorandom permutations from pseudorandom functions", SIAM Journal on
Computing 17(2), 1988. J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002: going through again.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from workbench.compiled import kernel, leading_zeros, left, noinline, right, wrapped_product, wrapped_sum

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


@kernel
def word_of_seed(seed: int) -> np.uint64:
    """Return the word of a seed, from which paths begin.

    >>> int(word_of_seed(0)) == 0xE220A8397B1DCDAF
    True
    """
    return _mixed(np.uint64(seed))


@kernel
def word_at(word: np.uint64, number: int) -> np.uint64:
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
    # Behind the table rank r stands for the integral from r + 0.5 to r + 1.5:
    # a position less 0.5, cut to a whole number, is its rank.
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
    """Return the image of a place from 0 to `count` - 1 in the permutation of a word.

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
        mixed = int(np.int64(right(word_at(word_at(word, turn), lower), 11)))
        upper, lower = lower, upper ^ (mixed & mask)
    return upper << half | lower
