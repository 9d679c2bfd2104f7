"""Requests for memory as they are gathered, one row after the other."""

from __future__ import annotations

import numpy as np

from workbench.workloads.pool_requests import ALLOC, FREE, FilledRequests, PoolRequests


class Rows:
    """The rows of one server, which runs on one card."""

    def __init__(self, app: int, card: int) -> None:
        self.app, self.card = app, card
        self._rows: list[tuple[int, int, int, int]] = []
        self._filled: list[float] = []
        self._handles = 0

    def take(self, now: int, size: int) -> int:
        """Ask for a region; return its row."""
        self._rows.append((now, ALLOC, self._handles, size))
        self._filled.append(0.0)
        self._handles += 1
        return len(self._rows) - 1

    def give(self, now: int, row: int, filled: float) -> None:
        """Give the region of a row back, with the bytes that held data, summed over the nanoseconds of its life."""
        _, _, handle, size = self._rows[row]
        self._rows.append((now, FREE, handle, size))
        self._filled[row] = filled
        self._filled.append(0.0)

    def requests(self) -> FilledRequests:
        """Return all rows as requests."""
        time, action, handle, size = np.array(self._rows, np.int64).reshape(-1, 4).T
        columns = (time, np.full(len(time), self.app), np.full(len(time), self.card), action.astype(np.int8))
        return FilledRequests.of(PoolRequests(*columns, handle, size), np.array(self._filled))


def merged(servers: list[FilledRequests]) -> FilledRequests:
    """Return the requests of several servers by time; at one time those of the lower number come first."""
    time = np.concatenate([one.time for one in servers])
    order = np.argsort(time, kind="stable")
    columns = (np.concatenate(parts)[order] for parts in zip(*servers, strict=True))
    requests = PoolRequests(*(np.ascontiguousarray(column) for column in columns))
    first = np.cumsum([0, *(int(one.handle.max(initial=-1)) + 1 for one in servers)])
    return FilledRequests.of(
        requests._replace(handle=requests.handle + first[requests.app]),
        np.concatenate([one.filled for one in servers])[order],
    )
