"""Which resource is probed in which period of a round? (spec 3, R51)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def pack(blocks: Sequence[int], width: int) -> np.ndarray:
    """The period of each resource by first-fit decreasing: int64[resources], periods numbered from 0.

    The largest resource chooses first, the earlier one of equals; each takes the first period that has room for it.
    Every period so holds at least one resource, and at most `width` blocks.

    Parameters
    ----------
    blocks : sequence of int
        Blocks of each resource, none above `width`.
    width : int
        Blocks that the probe looks at in a period.

    References
    ----------
    spec 3, R51; V17.

    Examples
    --------
    >>> pack([128, 64, 48], 128).tolist()
    [0, 1, 1]
    """
    period, room = np.zeros(len(blocks), np.int64), list[int]()
    for resource in sorted(range(len(blocks)), key=lambda k: -blocks[k]):
        fitting = (k for k, left in enumerate(room) if left >= blocks[resource])
        period[resource] = chosen = next(fitting, len(room))
        room[chosen:] = room[chosen:] or [width]
        room[chosen] -= blocks[resource]
    return period


def loads(period: Sequence[int], blocks: Sequence[int]) -> list[int]:
    """The blocks of each period together.

    >>> loads([0, 1, 1], [128, 64, 48])
    [128, 112]
    """
    total = [0] * (max(period, default=-1) + 1)
    for when, size in zip(period, blocks, strict=True):
        total[when] += size
    return total
