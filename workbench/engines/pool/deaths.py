"""Applications that die: the service frees what they had (spec 5, E18)."""

from __future__ import annotations

import numpy as np

from workbench.workloads.pool_requests import ALLOC, DIE, FREE, PoolRequests


def reclaimed(requests: PoolRequests) -> PoolRequests:
    """Return the requests with a free of each region that a dying application has, in the order of allocation, for its
    death.

    What was freed already, or allocated again under the same handle, is not freed once more.

    >>> columns = np.array([[0, 1, 2, 3], [7, 7, 7, 7], [0] * 4, [ALLOC, ALLOC, FREE, DIE], [1, 2, 1, 0], [8, 9, 0, 0]])
    >>> found = reclaimed(PoolRequests(*columns))
    >>> found.action.tolist(), found.handle.tolist(), found.bytes.tolist(), found.time.tolist()
    ([0, 0, 1, 1], [1, 2, 1, 2], [8, 9, 0, 9], [0, 1, 2, 3])
    """
    return requests if not (requests.action == DIE).any() else _with_frees(requests, *_expanded(requests))


def rows_of(requests: PoolRequests) -> np.ndarray:
    """Return where the rows of each request begin in `reclaimed`, and where the last one's end: int64[requests + 1].

    >>> columns = np.array([[0, 1, 2, 3], [7, 7, 7, 7], [0] * 4, [ALLOC, ALLOC, DIE, DIE], [1, 2, 0, 0], [8, 9, 0, 0]])
    >>> rows_of(PoolRequests(*columns)).tolist()
    [0, 1, 2, 4, 4]
    """
    rows, deaths = _expanded(requests)
    return np.searchsorted(np.where(deaths >= 0, deaths, rows), np.arange(requests.time.size + 1))


def _expanded(requests: PoolRequests) -> tuple[np.ndarray, np.ndarray]:
    """Return the request whose region each row is about, and the death that frees it, -1 = none."""
    live: dict[int, dict[int, int]] = {}
    rows: list[int] = []
    deaths: list[int] = []
    for row, (app, action, handle) in enumerate(zip(requests.app, requests.action, requests.handle, strict=True)):
        had = live.setdefault(int(app), {})
        if action == DIE:
            rows += had.values()
            deaths += [row] * len(had)
            had.clear()
            continue
        rows.append(row)
        deaths.append(-1)
        had.pop(int(handle), None)
        if action == ALLOC:
            had[int(handle)] = row
    return np.array(rows, np.int64), np.array(deaths, np.int64)


def _with_frees(requests: PoolRequests, rows: np.ndarray, deaths: np.ndarray) -> PoolRequests:
    """Return the rows as they are where no death is named; else a free of the row's region by that death."""
    dying, at = deaths >= 0, np.where(deaths >= 0, deaths, rows)
    taken = PoolRequests(*(np.asarray(column)[rows] for column in requests))
    return taken._replace(
        time=requests.time[at], card=requests.card[at], action=np.where(dying, FREE, taken.action).astype(np.int8)
    )
