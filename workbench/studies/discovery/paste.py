"""Pasting: give back what peeling took too much of, as long as the box becomes no thinner."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.studies.discovery.box import Box, members, resized
from workbench.studies.discovery.column import Column
from workbench.studies.discovery.peel import ALPHA, share


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
        for added in _ends(inside, sizes, share(alpha, box.size)) if one.is_number else _values(inside):
            yield resized(columns, hit, box, place, inside | added)


def _values(inside: np.ndarray) -> Iterator[np.ndarray]:
    for value in np.flatnonzero(~inside):
        added = np.zeros_like(inside)
        added[value] = True
        yield added


def _ends(inside: np.ndarray, sizes: np.ndarray, least: int) -> Iterator[np.ndarray]:
    """Yield what would come inside at the low and at the high limit; points without the lever where both are open."""
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
