"""Which allocation does a release name? Handles that come again, as addresses do, get a number for each allocation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.workloads.pool_requests import ALLOC


def one_handle_each(app: np.ndarray, action: np.ndarray, handle: np.ndarray) -> np.ndarray:
    """Return handles of which no two allocations have the same: int64[requests].

    A release names the latest allocation of its application and handle, whether that is still live or not. Where no two
    allocations share a handle, all stay as they are; else allocations are numbered in their order, and a release that
    names nothing gets a number of its own.

    Parameters
    ----------
    app, handle : int64[requests]
    action : int8[requests]

    Examples
    --------
    >>> one_handle_each(np.array([0, 0, 0, 0]), np.array([0, 1, 0, 1], np.int8), np.array([7, 7, 7, 7]))
    array([0, 0, 1, 1])
    """
    made = handle[action == ALLOC]
    if len(np.unique(made)) == len(made):
        return handle.astype(np.int64)
    latest: dict[tuple[int, int], int] = {}
    handles, number, unknown = np.empty(len(handle), np.int64), 0, len(handle)
    for row, (who, what, name) in enumerate(zip(app.tolist(), action.tolist(), handle.tolist(), strict=True)):
        if what == ALLOC:
            latest[who, name] = number
            number += 1
        elif (who, name) not in latest:
            latest[who, name] = unknown
            unknown += 1
        handles[row] = latest[who, name]
    return handles


def sizes_of_releases(action: np.ndarray, handle: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the bytes of each request, a release having those of its allocation: int64[requests].

    A release that names nothing keeps what it says.

    >>> sizes_of_releases(np.array([0, 1], np.int8), np.array([5, 5]), np.array([64, 0]))
    array([64, 64])
    """
    rows = np.flatnonzero(action == ALLOC)
    if not len(rows):
        return size.astype(np.int64)
    order = rows[np.argsort(handle[rows], kind="stable")]
    names = handle[order]
    place = np.minimum(np.searchsorted(names, handle), len(names) - 1)
    named = names[place] == handle
    return np.where(named & (action != ALLOC), size[order[place]], size).astype(np.int64)


def matched_by_size(changes: Iterable[int], before: Iterable[int]) -> list[int]:
    """Return the block of each row where a trace holds no addresses: the latest live one of the size that is released.

    Blocks from before the trace have the first numbers, in their order; a release that no live block has the size of
    gets a number of its own, as a block from before the trace that was not known of.

    >>> matched_by_size([64, 64, -64, -32], before=[32])
    [1, 2, 2, 0]
    """
    live: dict[int, list[int]] = {}
    number = 0
    for size in before:
        live.setdefault(size, []).append(number)
        number += 1
    blocks = []
    for change in changes:
        if change < 0 and live.get(-change):
            blocks.append(live[-change].pop())
            continue
        if change > 0:
            live.setdefault(change, []).append(number)
        blocks.append(number)
        number += 1
    return blocks
