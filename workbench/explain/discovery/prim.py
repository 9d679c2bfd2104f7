"""The patient rule induction method (PRIM): boxes of values of levers, peeled, pasted, and their limits.

Peeling takes off, again and again, the thin slice of a box whose loss makes the rest densest. Pasting gives back what
peeling took too much of, as long as the box becomes no thinner. A box has one limit a side of a lever, each with what
the box would be without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc

from workbench.explain.discovery.cases import Column

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
    """Return the number of points of a share of them, one or more; exactly as the share is written.

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
    >>> from workbench.explain.discovery.cases import column
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
        for off in _slice_ends(sizes, least) if one.is_number else _one_by_one(sizes > 0):
            lost = int(sizes[off].sum())
            if 0 < lost < box.size:
                stays = box.inside[place] & ~off
                yield _Slice(place, stays, box.size - lost, box.hits - int(wins[off].sum()))


def _slice_ends(sizes: np.ndarray, least: int) -> Iterator[np.ndarray]:
    """Yield the values to take off at the low and at the high end; points without the lever go with either."""
    numbers, without = sizes[:-1], sizes[-1]
    for side in (1, -1):
        passed = np.cumsum(numbers[::side]) + without
        off = np.zeros(len(sizes), bool)
        off[-1] = True
        count = 0 if without >= least else int(np.searchsorted(passed, least)) + 1
        off[:-1][::side][:count] = True
        yield off


def _one_by_one(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield each of some values of a category alone."""
    for value in np.flatnonzero(values):
        alone = np.zeros_like(values)
        alone[value] = True
        yield alone


def paste(columns: tuple[Column, ...], hit: np.ndarray, box: Box, alpha: float = ALPHA) -> Box:
    """Return the box after all that could be given back without a fall of its density.

    What is given back is, at one limit of a number, as few whole values as hold `alpha` of the points inside, or one
    value of a category. The densest result is taken, of equal ones the largest, then the first lever of the sweep, then
    low before high. A limit beyond which there is no point is dropped.

    References
    ----------
    [1] Friedman and Fisher (1999), Stat. Comput. 9: pasting.
    """
    while True:
        wider = [one for one in _wider(columns, hit, box, alpha) if one.hits * box.size >= box.hits * one.size]
        if not wider:
            return box
        box = max(wider, key=lambda one: (one.density, one.size))


def _wider(columns: tuple[Column, ...], hit: np.ndarray, box: Box, alpha: float) -> Iterator[Box]:
    for place in box.restricted:
        one, inside = columns[place], box.inside[place]
        free = (*box.inside[:place], np.ones_like(inside), *box.inside[place + 1 :])
        sizes = np.bincount(one.codes[members(columns, free)], minlength=one.slots)
        for added in _wider_ends(inside, sizes, share(alpha, box.size)) if one.is_number else _one_by_one(~inside):
            yield resized(columns, hit, box, place, inside | added)


def _wider_ends(inside: np.ndarray, sizes: np.ndarray, least: int) -> Iterator[np.ndarray]:
    """Yield the values that would come inside at the low and at the high limit; points without the lever where both are
    open."""
    kept = np.flatnonzero(inside[:-1])
    first, last = (int(kept[0]), int(kept[-1])) if len(kept) else (0, -1)
    for outside in (np.arange(first)[::-1], np.arange(last + 1, len(inside) - 1)):
        if len(outside):
            enough = int(np.searchsorted(np.cumsum(sizes[outside]), least)) + 1
            added = np.zeros_like(inside)
            added[outside[:enough]] = True
            yield added
    if not inside[-1] and inside[:-1].all():
        yield ~inside


DIGITS = 3
"""A value of so many significant digits is a limit as it stands; a longer one is shortened towards its neighbor."""


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
    """Return the limit that parts a kept value from its neighbor outside, with the fewest digits, nearest to what is
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
    """Return the probability that at least as many points of interest would be inside if the limit told nothing. It is
    a binomial probability at the density that the box has without it.

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


class Box(NamedTuple):
    """A part of the space of levers."""

    inside: tuple[np.ndarray, ...]
    """bool[values + 1] a lever: which of its values are inside; of a number, neighbors."""
    size: int
    """Points inside."""
    hits: int
    """Points of interest inside."""
    points: int
    """Points of the whole space, and those of interest among them."""
    all_hits: int
    step: str = ""
    """The lever that the step to this box was made on; empty of the whole space."""

    @property
    def coverage(self) -> float:
        """Return the share of all points of interest that is inside."""
        return self.hits / self.all_hits if self.all_hits else 0.0

    @property
    def density(self) -> float:
        """Return the share of the points inside that is of interest."""
        return self.hits / self.size if self.size else 0.0

    @property
    def mass(self) -> float:
        """Return the share of all points that is inside."""
        return self.size / self.points

    @property
    def restricted(self) -> tuple[int, ...]:
        """Return the places of the levers that have a limit."""
        return tuple(k for k, values in enumerate(self.inside) if not values.all())

    @property
    def contrast(self) -> Fraction:
        """Return the exact score of a box for points of interest; below zero where the box avoids them. It is the
        square of the correlation between being inside and being of interest, but for a factor that all boxes share."""
        excess = self.hits * self.points - self.size * self.all_hits
        outside = self.points - self.size
        return Fraction(excess * abs(excess), self.size * outside) if self.size and outside else Fraction(0)

    @property
    def correlation(self) -> float:
        """Return the correlation between being inside and being of interest, from -1 to 1."""
        rest = self.all_hits * (self.points - self.all_hits)
        size = float(abs(self.contrast) / rest) ** 0.5 if rest else 0.0
        return size if self.contrast >= 0 else -size


def whole(columns: tuple[Column, ...], hit: np.ndarray) -> Box:
    """Return the whole space."""
    points, hits = len(hit), int(hit.sum())
    return Box(tuple(np.ones(one.slots, bool) for one in columns), points, hits, points, hits)


def members(columns: tuple[Column, ...], inside: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return the points inside: bool[points]."""
    result = np.ones(len(columns[0].codes), bool)
    for one, values in zip(columns, inside, strict=True):
        if not values.all():
            result &= values[one.codes]
    return result


def resized(columns: tuple[Column, ...], hit: np.ndarray, box: Box, place: int, values: np.ndarray) -> Box:
    """Return the box with other values of one lever inside."""
    inside = (*box.inside[:place], values, *box.inside[place + 1 :])
    kept = members(columns, inside)
    return box._replace(inside=inside, size=int(kept.sum()), hits=int(hit[kept].sum()), step=columns[place].path)
