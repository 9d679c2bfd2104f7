"""The limits of a box, one a side of a lever, each with what it would be without."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc

from workbench.studies.discovery.box import Box, resized
from workbench.studies.discovery.column import Column

DIGITS = 3
"""A value of so many significant digits is a limit as it stands; a longer one is shortened towards its neighbour."""


class Limit(NamedTuple):
    """One condition of a box."""

    place: int
    """Of the lever, among those that differ."""
    side: str
    """`>=`, `<=`, or `in` for values of a category; `given` where the point must have the lever at all."""
    value: Any
    """A number, or a tuple of categories."""
    without: np.ndarray
    """bool[values + 1], the values inside if this limit were dropped."""


def limits(columns: tuple[Column, ...], box: Box) -> Iterator[Limit]:
    """Yield the limits of a box, in the order of the levers, low before high."""
    for place in box.restricted:
        one, inside = columns[place], box.inside[place]
        if one.is_number:
            yield from _sides(place, one, inside)
        else:
            there = np.bincount(one.codes, minlength=one.slots) > 0
            kept = tuple("-" if k == len(one.values) else one.values[k] for k in np.flatnonzero(inside & there))
            yield Limit(place, "in", kept, np.ones_like(inside))


def _sides(place: int, one: Column, inside: np.ndarray) -> Iterator[Limit]:
    kept = np.flatnonzero(inside[:-1])
    first, last, count = int(kept[0]), int(kept[-1]), len(one.values)
    if first > 0:
        value = shortest(one.values[first], one.values[first - 1])
        yield Limit(place, ">=", value, _opened(inside, slice(0, first), last == count - 1))
    if last < count - 1:
        value = shortest(one.values[last], one.values[last + 1])
        yield Limit(place, "<=", value, _opened(inside, slice(last, count), first == 0))
    if first == 0 and last == count - 1:
        yield Limit(place, "given", "", np.ones_like(inside))


def _opened(inside: np.ndarray, side: slice, alone: bool) -> np.ndarray:
    """Return the values without the limit at a side; points without the lever come back with the last limit."""
    values = inside.copy()
    values[side] = True
    values[-1] |= alone
    return values


def shortest(kept: float, outside: float) -> float:
    """Return the limit that parts a kept value from its neighbour outside, with the fewest digits, nearest to what is
    kept; a value of few digits as it is.

    >>> shortest(0.80213, 0.7731), shortest(64, 32), shortest(0.7731, 0.80213), shortest(0.8003, 0.8001)
    (0.8, 64, 0.8, 0.8003)
    """
    exact = Decimal(repr(kept))
    if len(exact.normalize().as_tuple().digits) <= DIGITS:
        return kept
    rounding = ROUND_FLOOR if kept > outside else ROUND_CEILING
    largest = max(abs(kept), abs(outside))
    for power in range(math.floor(math.log10(largest)), math.floor(math.log10(largest)) - 12, -1):
        short = float(exact.quantize(Decimal(1).scaleb(power), rounding=rounding))
        if (outside < short <= kept) if kept > outside else (kept <= short < outside):
            return int(short) if isinstance(kept, int) else short
    return kept


def quasi_p(columns: tuple[Column, ...], hit: np.ndarray, box: Box, limit: Limit) -> float:
    """Return how likely at least as many points of interest would be inside if the limit told nothing: a binomial
    probability at the density that the box has without it.

    It is quasi as the limit was chosen on the same points.

    References
    ----------
    [1] Bryant and Lempert (2010), Technol. Forecast. Soc. Change 77, section 3.3.
    """
    wider = resized(columns, hit, box, limit.place, limit.without)
    return float(bdtrc(box.hits - 1, box.size, wider.density)) if box.hits else 1.0


def without_idle(columns: tuple[Column, ...], hit: np.ndarray, box: Box, alpha: float = 0.05) -> Box:
    """Return the box without the limits whose quasi-p-value is not below alpha, the largest dropped first."""
    while True:
        tested = [(quasi_p(columns, hit, box, one), one) for one in limits(columns, box)]
        idle = [(p, one) for p, one in tested if not p < alpha]
        if not idle:
            return box
        _, drop = max(idle, key=lambda pair: pair[0])
        box = resized(columns, hit, box, drop.place, drop.without)
