"""Peeling: take off, again and again, the thin slice of a box whose loss makes the rest densest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from workbench.studies.discovery.box import Box, members, whole
from workbench.studies.discovery.column import Column

ALPHA = 0.05
"""The share of the points inside that a slice holds at least: the patience."""
LEAST_MASS = 0.05
"""The share of all points that a box keeps at least."""


class _Slice(NamedTuple):
    """What can be taken off."""

    place: int
    kept: np.ndarray
    """bool[values + 1], what stays inside."""
    size: int
    """Points and points of interest that stay."""
    hits: int


def share(part: float, count: int) -> int:
    """Return how many points a share of them is at least, one or more; exactly as the share is written.

    >>> share(0.05, 20), share(0.05, 21), share(0.1, 3)
    (1, 2, 1)
    """
    return max(1, math.ceil(Fraction(str(part)) * count))


def peel(
    columns: tuple[Column, ...], hit: np.ndarray, alpha: float = ALPHA, least_mass: float = LEAST_MASS
) -> list[Box]:
    """Return boxes from the whole space inwards, each one slice smaller than the one before.

    A slice is the lowest or the highest values of a number, as few whole values as hold `alpha` of the points inside,
    or one value of a category. The slice is taken off whose loss raises the density most for each point it costs; of
    equal ones that which costs the fewest points, then the first lever of the sweep, then low before high. It ends
    where all points inside are of interest, or every slice would leave too few.

    Parameters
    ----------
    columns : levers, over the points
    hit : bool[points]
        Which points are of interest.
    alpha, least_mass : float
        Shares of the points inside, and of all.

    References
    ----------
    [1] Friedman and Fisher (1999), Stat. Comput. 9: peeling. Kwakkel and Jaxa-Rozen (2016), Environ. Model. Softw. 79:
        the gain in density for each point, which is fair between slices of unequal size.

    Examples
    --------
    >>> from workbench.studies.discovery.column import column
    >>> load = column("load", [k / 20 for k in range(20)])
    >>> last = peel((load,), np.arange(20) >= 15)[-1]
    >>> last.size, last.hits, int(np.flatnonzero(last.inside[0])[0])
    (5, 5, 15)
    """
    boxes = [whole(columns, hit)]
    least = share(least_mass, len(hit))
    while boxes[-1].hits < boxes[-1].size:
        box = boxes[-1]
        slices = [one for one in _slices(columns, hit, box, alpha) if one.size >= least]
        if not slices:
            break
        best = max(slices, key=lambda one: (_gain(box, one), one.size))  # the first of equal ones
        inside = (*box.inside[: best.place], best.kept, *box.inside[best.place + 1 :])
        boxes.append(box._replace(inside=inside, size=best.size, hits=best.hits, step=columns[best.place].path))
    return boxes


def _gain(box: Box, one: _Slice) -> Fraction:
    """Return the gain in density for each point that is lost, times the size of the box."""
    return Fraction(one.hits * box.size - box.hits * one.size, one.size * (box.size - one.size))


def _slices(columns: tuple[Column, ...], hit: np.ndarray, box: Box, alpha: float) -> Iterator[_Slice]:
    kept = members(columns, box.inside)
    hits, least = kept & hit, share(alpha, box.size)
    for place, one in enumerate(columns):
        sizes = np.bincount(one.codes[kept], minlength=one.slots)
        wins = np.bincount(one.codes[hits], minlength=one.slots)
        for off in _ends(sizes, least) if one.is_number else _values(sizes):
            lost = int(sizes[off].sum())
            if 0 < lost < box.size:
                stays = box.inside[place] & ~off
                yield _Slice(place, stays, box.size - lost, box.hits - int(wins[off].sum()))


def _ends(sizes: np.ndarray, least: int) -> Iterator[np.ndarray]:
    """Yield which values to take off at the low and at the high end; points without the lever go with either."""
    numbers, without = sizes[:-1], sizes[-1]
    for side in (1, -1):
        passed = np.cumsum(numbers[::side]) + without
        off = np.zeros(len(sizes), bool)
        off[-1] = True
        count = 0 if without >= least else int(np.searchsorted(passed, least)) + 1
        off[:-1][::side][:count] = True
        yield off


def _values(sizes: np.ndarray) -> Iterator[np.ndarray]:
    for value in np.flatnonzero(sizes):
        off = np.zeros(len(sizes), bool)
        off[value] = True
        yield off
