"""Where a request could go: the free ranges of a map, and how far each lies from the ends of the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from workbench.structures.bitmaps import unpacked


class Hole(NamedTuple):
    """A free range, and the starts in it that a request may take."""

    start: int
    length: int
    lowest: int
    """The first start; -1 where the request does not fit."""
    highest: int
    """The last start; -1 where the request does not fit."""
    below: int
    """From the lower end of the memory to the range that the first start gives."""
    above: int
    """From the range that the last start gives to the upper end."""


def holes(free: list[int], segments: int, length: int) -> list[Hole]:
    """Return the free ranges from the lowest to the highest.

    >>> for hole in holes([0b11101100], 8, 2):
    ...     print(hole)
    Hole(start=2, length=2, lowest=2, highest=2, below=2, above=4)
    Hole(start=5, length=3, lowest=5, highest=6, below=5, above=0)
    """
    return list(_holes(unpacked(np.array(free, np.uint64), segments), segments, length))


def _holes(bits: np.ndarray, segments: int, length: int) -> Iterator[Hole]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], bits.astype(bool), [False]])))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - start < length:
            yield Hole(start, end - start, -1, -1, -1, -1)
        else:
            yield Hole(start, end - start, start, end - length, start, segments - end)
