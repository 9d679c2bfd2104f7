"""Which resource is probed in which period of a round? (spec 3, R51)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import wrong_value


def pack(blocks: Sequence[int], width: int) -> np.ndarray:
    """Return the period of each resource by first-fit decreasing: int64[resources], periods numbered from 0.

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
        fitting = (p for p, left in enumerate(room) if left >= blocks[resource])
        chosen = next(fitting, len(room))
        if chosen == len(room):
            room.append(width)
        room[chosen] -= blocks[resource]
        period[resource] = chosen
    return period


def given(periods: Sequence[int], blocks: Sequence[int], width: int) -> np.ndarray:
    """Return the period of each resource as somebody chose it: int64[resources].

    Raises
    ------
    InputError
        Another number of resources is named, a period has none, or one has more blocks than the probe is wide.

    Examples
    --------
    >>> given([1, 0, 0], [128, 64, 48], 128).tolist()
    [1, 0, 0]
    """
    wrong = _what_is_wrong(periods, blocks, width)
    if wrong:
        raise wrong_value("", "shared_run.periods", wrong, list(periods), pack(blocks, width).tolist())
    return np.array(periods, np.int64)


def loads(period: Sequence[int], blocks: Sequence[int]) -> list[int]:
    """Return the blocks of each period together.

    >>> loads([0, 1, 1], [128, 64, 48])
    [128, 112]
    """
    total = [0] * (max(period, default=-1) + 1)
    for when, size in zip(period, blocks, strict=True):
        total[when] += size
    return total


def _what_is_wrong(periods: Sequence[int], blocks: Sequence[int], width: int) -> str:
    """Return what is wrong in words that follow the lever's name; empty where nothing is."""
    if len(periods) != len(blocks):
        return f"must name a period for each of the {len(blocks)} resources"
    for when, together in enumerate(loads(periods, blocks)):
        if when not in periods:
            return f"must give every period a resource; {when} has none"
        if together > width:
            return f"must put at most {width} blocks into a period; {when} has {together}"
    return ""
