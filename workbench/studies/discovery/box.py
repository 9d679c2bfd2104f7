"""A box: which values of each lever are inside, and what it holds."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from workbench.studies.discovery.column import Column


class Box(NamedTuple):
    """A part of the space of levers."""

    inside: tuple[np.ndarray, ...]
    """bool[values + 1] a lever: which of its values are inside; of a number, neighbours."""
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
        """Return how well the box tells the points of interest, exactly: the square of the correlation between being
        inside and being of interest, but for a factor that all boxes share; below zero where the box avoids them."""
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
    """Return which points are inside: bool[points]."""
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
