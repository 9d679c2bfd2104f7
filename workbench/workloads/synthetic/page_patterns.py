"""Patterns of pages: which page of an array comes next; every core reads a pattern for itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from workbench.levers import Family, lever
from workbench.workloads.warp_pages import Ordinals

Reader = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From int32[count] cores and float64[count] ranks in [0, 1) to int64[count] places in the array; it remembers how far
each core is."""


class PagePattern(Family, noun="page pattern", example="{zipf: 0.9}"):
    """The base of every pattern."""

    def reader(self, pages: int, cores: int) -> Reader:
        """Return a reader of an array of so many pages by so many cores, at its beginning."""
        raise NotImplementedError


class Sweep(PagePattern):
    """Page after page, and from the first again: the pattern that least-recently-used serves worst.

    >>> Sweep().reader(3, 2)(np.array([0, 1, 0, 0, 0]), np.zeros(5)).tolist()
    [0, 0, 1, 2, 0]
    """

    def reader(self, pages: int, cores: int) -> Reader:
        ordinals = Ordinals(cores)
        return lambda core, ranks: ordinals.of(core) % pages


class Scatter(PagePattern):
    """Any page with the same chance."""

    def reader(self, pages: int, cores: int) -> Reader:
        return lambda core, ranks: (ranks * pages).astype(np.int64)


_FINEST = 2.0**40


class Zipf(PagePattern):
    """Page k (from 1) with a chance in proportion to 1 / k^alpha, by inversion: a higher rank never gives a lower page.

    The cumulated chances are rounded to 2^-40, so that powers which differ in their last bit between processors draw
    the same pages.

    >>> Zipf(alpha=1.0).reader(3, 1)(np.zeros(3, np.int32), np.array([0.54, 0.55, 0.99])).tolist()  # 6/11, 9/11, 1
    [0, 1, 2]
    """

    brief = ("alpha",)
    alpha: float = lever(
        1.0, least=0, most=8, step=0.1, description="how much more often the first pages come; 0 = all alike"
    )

    def reader(self, pages: int, cores: int) -> Reader:
        cumulated, first = _chances(self.alpha, pages)

        def read(core: np.ndarray, ranks: np.ndarray) -> np.ndarray:
            return _inverted(cumulated, first, ranks)

        return read


def _inverted(cumulated: np.ndarray, first: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return the first place whose cumulated chance is above each rank, from the first one that its cell of ranks
    has."""
    cell = (ranks * (len(first) - 1)).astype(np.int64)
    place = first[cell]
    searched = np.flatnonzero(cumulated[place] <= ranks)
    place[searched] = np.searchsorted(cumulated, ranks[searched], side="right")
    return place


@lru_cache(maxsize=4)
def _chances(alpha: float, pages: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cumulated chances, float64[pages], and the first place of each cell of equal ranks, int64[cells +
    1]."""
    weights = np.arange(1, pages + 1, dtype=np.float64) ** -alpha
    cumulated = np.cumsum(weights)
    cumulated = np.round(cumulated / cumulated[-1] * _FINEST) / _FINEST
    cells = 4 * pages
    first = np.searchsorted(cumulated, np.arange(cells + 1) / cells, side="right")
    return cumulated, np.minimum(first, pages - 1)
