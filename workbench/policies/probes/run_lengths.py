"""Which run lengths a sampling probe looks for: the step rule, exclusions, and what is near to a wrong list (Em. 6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

MOST_BLOCKS = 4096
"""Blocks of the largest resource."""


def powers_and_halfway(most: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 4, 6, 8, 12, ...: the powers of two and the numbers halfway between them; the steps never shrink.

    >>> powers_and_halfway(128)
    (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    """
    powers = [1 << k for k in range(most.bit_length())]
    return tuple(sorted(n for n in {*powers, *(3 * p // 2 for p in powers[1:])} if n <= most))


def stepped(lengths: Iterable[int]) -> tuple[int, ...]:
    """Return, from the shortest up, each length that makes no smaller step than the one before: legal run lengths
    (R47).

    >>> stepped([1, 4, 6, 8, 9, 10, 12, 14, 15, 16])
    (1, 4, 8, 12, 16)
    """
    kept: list[int] = []
    for length in sorted(set(lengths)):
        if len(kept) < 2 or length - kept[-1] >= kept[-1] - kept[-2]:
            kept.append(length)
    return tuple(kept)


def remaining(lengths: Iterable[int], exclude: Collection[int], exclude_on: Literal["size", "k"]) -> tuple[int, ...]:
    """Return the lengths that are left: without the excluded ones, or, read literally, without those of an excluded k
    (E13).

    >>> remaining(range(1, 17), primes(16), "size")
    (1, 4, 6, 8, 9, 10, 12, 14, 15, 16)
    >>> remaining(range(1, 17), primes(16), "k")
    (1, 2, 5, 7, 9, 10, 11, 13, 15, 16)
    """
    less = 1 if exclude_on == "k" else 0
    return tuple(n for n in lengths if n - less not in exclude)


def primes(most: int) -> tuple[int, ...]:
    """Return the primes up to a number: the source document's example of what is seldom asked for (R48).

    >>> primes(16)
    (2, 3, 5, 7, 11, 13)
    """
    return tuple(n for n in range(2, most + 1) if all(n % d for d in range(2, int(n**0.5) + 1)))


def seldom(demands: Mapping[int, float], most: int, threshold: float) -> tuple[int, ...]:
    """Return the lengths from 2 to a number whose share of all demands is at most a threshold (R48).

    >>> seldom({4: 90, 6: 9, 16: 1}, most=8, threshold=0.05)
    (2, 3, 5, 7, 8)
    """
    total = sum(demands.values()) or 1
    return tuple(n for n in range(2, most + 1) if demands.get(n, 0) / total <= threshold)


def wrong_lengths(lengths: Sequence[int]) -> str:
    """Return what is wrong with a list of run lengths, in words that follow its name; empty for a legal one (E14,
    R47)."""
    if 1 not in lengths:
        return "must begin with 1"
    if list(lengths) != sorted(set(lengths)):
        return "must increase from 1"
    return (
        "" if stepped(lengths) == tuple(lengths) else "must not have a step smaller than the one before (spec 3, R47)"
    )
