"""The arrays of a run in which requests wait: whose turn it is, who waits, and the requests as they are served."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.pool.state import Columns
from workbench.structures.size_index import NONE
from workbench.structures.turns import Turns, new_turns

LINE, HEAD, TAIL = range(3)
"""Counters: how many requests are answered, and the first and the last application in the queue, -1 = nobody waits."""


class Waiting(NamedTuple):
    """Everything that changes beside the state of the pool; an application has one request at a time."""

    counters: np.ndarray
    app: np.ndarray
    """int64[requests], whose each is: applications numbered from 0."""
    first: np.ndarray
    """int64[applications], the first request of each."""
    following: np.ndarray
    """int64[requests], the next one of the same application, -1 = it was the last."""
    turns: Turns
    """When each application asks next, and which request; of one that waits, never."""
    late: np.ndarray
    """int64[applications], nanoseconds by which its clock is behind the trace: as long as it has waited."""
    row: np.ndarray
    """int64[applications], the request that waits."""
    since: np.ndarray
    """int64[applications], when it joined the queue."""
    behind: np.ndarray
    """int64[applications], who joined next, -1 = nobody."""
    asked: Columns
    """The requests in the order of serving, a line each; the line after the last one holds what is tried."""
    row_of: np.ndarray
    """int64[requests], the request of each line."""
    line_of: np.ndarray
    """int64[requests], the line of each request, -1 = it is not answered."""
    waited: np.ndarray
    """int64[requests], nanoseconds in the queue, by line."""


def new_waiting(apps: np.ndarray, columns: Columns) -> Waiting:
    """Return an empty queue: nobody has asked yet.

    Parameters
    ----------
    apps : int64[requests]
        The application of each request, by any number.
    """
    names, app = np.unique(apps, return_inverse=True)
    app, count = app.reshape(-1).astype(np.int64), names.size
    each = np.argsort(app, kind="stable")
    begins = np.searchsorted(app[each], np.arange(count))
    following = np.full(app.size, NONE)
    following[each[:-1]] = np.where(np.diff(app[each]) == 0, each[1:], NONE)
    return Waiting(
        counters=np.array([0, NONE, NONE]),
        app=app,
        first=each[begins],
        following=following,
        turns=new_turns(count),
        late=np.zeros(count, np.int64),
        row=np.full(count, NONE),
        since=np.zeros(count, np.int64),
        behind=np.full(count, NONE),
        asked=Columns(*(np.zeros_like(column) for column in columns)),
        row_of=np.full(app.size, NONE),
        line_of=np.full(app.size, NONE),
        waited=np.zeros(app.size, np.int64),
    )
