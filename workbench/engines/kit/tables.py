"""Rows of different lengths as one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return rows one below the other, each filled up with zeros: at least one column.

    Examples
    --------
    >>> padded([np.array([1.0, 2.0]), np.array([3.0])]).tolist()
    [[1.0, 2.0], [3.0, 0.0]]
    """
    table = np.zeros((len(rows), max([row.size for row in rows], default=0) or 1), rows[0].dtype if rows else np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: row.size] = row
    return table
