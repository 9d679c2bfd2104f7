"""One lever over all points: its different values in order, and which of them each point has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Column(NamedTuple):
    """A lever that differs between points."""

    path: str
    """The dotted path in the sweep."""
    values: tuple[Any, ...]
    """The different ones: numbers in rising order, categories in the order of the sweep."""
    codes: np.ndarray
    """int64[points], the place of each point's value; `len(values)` where the point has no such lever."""
    is_number: bool

    @property
    def slots(self) -> int:
        """Return the number of values, and one more for points that have no such lever."""
        return len(self.values) + 1

    def at(self, points: np.ndarray) -> Column:
        """Return the lever over some of the points, bool[points]; values that none of them has are kept."""
        return self._replace(codes=self.codes[points])


def column(path: str, given: Sequence[Any]) -> Column:
    """Return a lever from its value at each point, None where a point has none.

    Numbers are ordered as such; switches and whatever has other values are categories.

    >>> one = column("machine.segments", [128, 64, None, 64])
    >>> one.values, one.codes.tolist(), one.is_number
    ((64, 128), [1, 0, 2, 0], True)
    """
    there = [value for value in given if value is not None]
    is_number = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in there)
    values = sorted(set(there)) if is_number else list(dict.fromkeys(map(str, there)))
    place = {value: k for k, value in enumerate(values)}
    codes = [len(values) if value is None else place[value if is_number else str(value)] for value in given]
    return Column(path, tuple(values), np.array(codes, np.int64), is_number)
