"""From counts to rows: what is one for each of several."""

from __future__ import annotations

import numpy as np


def spread(count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each place as often as its count says, with the turns 0, 1, 2, ... beside it: two int64[rows].

    >>> [column.tolist() for column in spread(np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [0, 1, 0, 1, 2]]
    """
    each = np.repeat(np.arange(count.size), count)
    return each, np.arange(each.size) - (np.cumsum(count) - count)[each]
