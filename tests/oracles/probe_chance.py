"""Slow, obvious twins of the chances: all states written out, whole numbers; nothing is from the workbench."""

from __future__ import annotations

import itertools
from fractions import Fraction


def longest(bits: tuple[bool, ...]) -> int:
    """The longest run of free blocks in a state."""
    return max((len(run) for run in "".join("1" if bit else "0" for bit in bits).split("0")), default=0)


def longest_of_groups(bits: tuple[bool, ...], groups: int) -> int:
    """R39-R41: whole groups alone, so many blocks each."""
    size = len(bits) // groups
    usable = tuple(all(bits[size * z : size * (z + 1)]) for z in range(groups))
    return longest(usable) * size


def largest_sample(bits: tuple[bool, ...], sizes: tuple[int, ...]) -> int:
    """R46: the largest sampled size not exceeding the true run, 0 if none."""
    return max((size for size in sizes if size <= longest(bits)), default=0)


def refused(blocks: int, free: Fraction, report, demand: int) -> Fraction:
    """The chance that a report of a random state is below the demand, by adding up all states."""
    total = Fraction(0)
    for bits in itertools.product((False, True), repeat=blocks):
        if report(bits) < demand:
            total += free ** sum(bits) * (1 - free) ** (blocks - sum(bits))
    return total


def no_run(cells: int, run: int, free: Fraction) -> Fraction:
    """The chance that no `run` cells in a row are free, by a walk that keeps how many are free at its end."""
    ending = [Fraction(1)] + [Fraction(0)] * (run - 1)
    for _ in range(cells):
        ending = [(1 - free) * sum(ending)] + [free * one for one in ending[:-1]]
    return sum(ending, Fraction(0))


def chain(unit: Fraction, units: int, modules: int) -> tuple[Fraction, Fraction]:
    """¶152-153: 1 - (1 - p)^units, and that to the power of the modules."""
    module = 1 - (1 - unit) ** units
    return module, module**modules
