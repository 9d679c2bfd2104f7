"""The arrays of a service whose requests come one by one: who waits for memory, and the requests as they are served."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.pool.state import Columns, Policies, Rules, State, Tables
from workbench.structures.size_index import NONE
from workbench.structures.timetable import Turns, new_turns

LINE, HEAD, TAIL, ANSWERED, NOW, ROWS = range(6)
"""Counters: how many requests are answered; the first and the last that waits, -1 = none does; answers that nobody has
taken; when the latest request was asked, or gave up; rows of the table."""


class Waiting(NamedTuple):
    """Everything that changes beside the state of the pool."""

    counters: np.ndarray
    when: np.ndarray
    """int64[requests], nanoseconds, when each is asked."""
    since: np.ndarray
    """int64[requests], when it joined the queue."""
    behind: np.ndarray
    """int64[requests], which joined next, -1 = none."""
    asked: Columns
    """The requests in the order of serving, a line each; the line after the last one holds what is tried."""
    row_of: np.ndarray
    """int64[requests], the request of each line."""
    line_of: np.ndarray
    """int64[requests], the line of each request, -1 = it is not answered."""
    waited: np.ndarray
    """int64[requests], nanoseconds in the queue, by line."""
    answers: np.ndarray
    """int64[requests], the requests that were answered and that nobody has taken."""


class Service(NamedTuple):
    """What the compiled routines see, by reference."""

    columns: Columns
    """The table: what may be asked."""
    tables: Tables
    rules: Rules
    policies: Policies
    state: State
    waiting: Waiting


class Clients(NamedTuple):
    """The applications of a workload, each of which has one request at a time."""

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


def new_waiting(columns: Columns) -> Waiting:
    """Return an empty queue: nothing has been asked yet."""
    rows = columns.time.size
    return Waiting(
        counters=np.array([0, NONE, NONE, 0, 0, rows]),
        when=columns.time.copy(),
        since=np.zeros(rows, np.int64),
        behind=np.full(rows, NONE),
        asked=Columns(*(np.zeros_like(column) for column in columns)),
        row_of=np.full(rows, NONE),
        line_of=np.full(rows, NONE),
        waited=np.zeros(rows, np.int64),
        answers=np.zeros(rows, np.int64),
    )


def new_clients(apps: np.ndarray) -> Clients:
    """Return applications that have asked nothing yet.

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
    return Clients(app, each[begins], following, new_turns(count), np.zeros(count, np.int64))
