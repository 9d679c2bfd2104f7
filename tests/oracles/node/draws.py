"""Numbers by chance: each is a function of (seed, who, what for), never of the order of events (spec 6, E6)."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from typing import Any

MASK = 2**64 - 1


def word(seed: int, *path: int) -> int:
    """Return 64 bits for a path of whole numbers: a chain of splitmix64 finalisers."""
    state = _mixed(seed & MASK)
    for step in path:
        state = _mixed(state ^ ((step + 2) * 0x9E3779B97F4A7C15 & MASK))
    return state


def _mixed(state: int) -> int:
    state = (state + 0x9E3779B97F4A7C15) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def unit(seed: int, *path: int) -> float:
    """Return a number from 0 (included) to 1 (excluded), of 53 bits."""
    return (word(seed, *path) >> 11) / 2**53


def drawn(law: Any, group: int, seed: int, *path: int) -> int:
    """Return what a law gives a group: a number, a list by group, {"uniform": [a, b]} or {"exponential": mean}."""
    if isinstance(law, int):
        return law
    if isinstance(law, list | tuple):
        return law[group]
    (name, values), chance = next(iter(law.items())), unit(seed, *path)
    if name == "uniform":
        return values[0] + int(chance * (values[1] - values[0] + 1))
    if name == "exponential":
        return max(1, math.ceil(-values * math.log(1 - chance)))
    raise ValueError(f"a law must be a number, a list, uniform or exponential. Got {name}.")


def zipf(count: int, things: int, skew: float, seed: int, *path: int) -> list[int]:
    """Return so many draws of ranks 0, 1, ...; rank r - 1 has weight 1 / r^skew."""
    sums = _sums(things, skew)
    chances = (unit(seed, *path, k) * sums[-1] for k in range(count))
    return [min(bisect.bisect_right(sums, chance), things - 1) for chance in chances]


@functools.cache
def _sums(things: int, skew: float) -> list[float]:
    return list(itertools.accumulate(1 / rank**skew for rank in range(1, things + 1)))


def permuted(place: int, things: int, seed: int, *path: int) -> int:
    """Return where a place goes in the permutation of a path: Feistel's network of four rounds over as many bits as
    the next power of four has, again until it is one of the things."""
    half = next(bits for bits in itertools.count() if 4**bits >= things)
    while True:
        left, right = divmod(place, 2**half)
        for turn in range(4):
            left, right = right, left ^ (word(seed, *path, turn, right) >> 11) % 2**half
        place = left * 2**half + right
        if place < things:
            return place
