"""The hypervolume of points with whole coordinates, cell by cell: a unit cell counts if some point beats all of it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def hypervolume(points: Sequence[Sequence[int]], reference: Sequence[int]) -> int:
    """How many unit cells below the reference point lie above some point."""
    least = [min(point[k] for point in points) for k in range(len(reference))]
    cells = itertools.product(*(range(low, high) for low, high in zip(least, reference, strict=True)))
    return sum(any(all(p <= c for p, c in zip(point, cell, strict=True)) for point in points) for cell in cells)
