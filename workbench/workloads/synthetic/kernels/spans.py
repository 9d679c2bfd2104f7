"""What instructions of warps touch, as spans of bytes: the formula of a kernel in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Spans(NamedTuple):
    """Bytes that instructions of warps touch, one row a span; the spans of an instruction may be many and overlap."""

    workgroup: np.ndarray
    """int64[spans], the place of each workgroup among those that were asked for."""
    warp: np.ndarray
    """int64[spans], of its workgroup."""
    step: np.ndarray
    """int64[spans], the how-manieth instruction of its warp; not every number need come."""
    first: np.ndarray
    """int64[spans], address of the first byte."""
    last: np.ndarray
    """int64[spans], address of the last byte."""

    def pages(self, page_bytes: int) -> tuple[np.ndarray, np.ndarray]:
        """Return every page of every span: int64[pages], the row of its span, and the page."""
        low, high = self.first // page_bytes, self.last // page_bytes
        if (low == high).all():
            return np.arange(len(low)), low
        row = np.repeat(np.arange(len(low)), high - low + 1)
        start = np.cumsum(high - low + 1) - (high - low + 1)
        return row, low[row] + np.arange(len(row)) - start[row]


def spans(workgroup: np.ndarray, warp: Any, step: Any, first: np.ndarray, length: Any) -> Spans:
    """Return the spans of so many bytes from an address on, of columns that NumPy broadcasts; those of 0 bytes are
    none.

    >>> spans(np.arange(2)[:, None], 0, np.arange(2), np.array([[0, 8], [16, 24]]), np.array([8, 0])).first.tolist()
    [0, 16]
    """
    columns = np.broadcast_arrays(workgroup, warp, step, first, length)
    flat = [np.ascontiguousarray(column, np.int64).ravel() for column in columns]
    some = flat[4] > 0
    if not some.all():
        flat = [column[some] for column in flat]
    place, number, turn, begin, size = flat
    return Spans(place, number, turn, begin, begin + size - 1)


def joined(parts: Sequence[Spans]) -> Spans:
    """Return the spans of several instructions together."""
    return Spans(*(np.concatenate(columns) for columns in zip(*parts)))
