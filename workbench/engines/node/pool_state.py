"""The pool as the node's part: the jobs of its service, what each comes to, and what is told of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.kit.names import numbered
from workbench.engines.node.frames import FrameMap
from workbench.engines.pool.queue import Service

NONE = -1


class Counters(NamedTuple):
    """Where the service stands."""

    next_row: int
    """The row of the table that is served next: rows are entered as they are asked."""
    begun: int
    """The cycle at which the service began with a job, or gave somebody up."""
    base: int
    """The same in nanoseconds, from which the steps of the job are counted."""
    shift: int
    """Nanoseconds of its steps before `begun`: what follows an answer is a job of its own, rounded by itself."""
    late: int
    """Cycles that copies of this job have taken over the links."""
    step: int
    steps: int
    """Which step of the job comes next, and how many it has; equal = the service is idle."""
    copying: int
    """1 = the service waits for a copy over the links."""
    copy_begun: int
    """The cycle at which that began."""
    answers: int
    runs: int
    rows: int
    """Answers, runs of frames and rows of the log that nobody has taken."""
    calls: int
    """Calls of the driver whose frames are written down."""
    moves: int
    """Moves that belong to a job's steps by now."""
    live: int
    """Bytes of the regions in use, as they were asked for."""


class Rates(NamedTuple):
    """The levers as whole numbers."""

    clock_mhz: int
    request_ns: int
    release_ns: int
    by_links: int
    """1 = copies are transfers of the links; 0 = they take what the path takes that is alone."""
    granule: int
    """Requests are rounded up to a multiple of it: whole pages."""
    cache_granule: int
    cache_classes: int
    framed: int
    """1 = the driver's allocations have frames by the policy `frames`."""
    placed: int
    """1 = a placement policy of the driver says where each allocation lies."""
    logs: int


class Answer(NamedTuple):
    """The fields of an answer."""

    kind: int
    ticket: int
    card: int
    bytes: int
    address: int
    runs: int
    other: int
    first_run: int


class LogRow(NamedTuple):
    """The fields of a row of the log."""

    kind: int
    ticket: int
    card: int
    address: int
    bytes: int
    source: int
    """Of a grant `CACHED`, `PHYSICAL` or `STITCHED`; of a move the card that it leaves; of an answer whether it was
    granted."""
    borrower: int


COUNT, OF, ROW = numbered(Counters), numbered(Answer), numbered(LogRow)
GRANTED, REFUSED_, RELEASED_, COPY, MOVED = range(5)
"""Kinds of answers: memory is granted, refused, taken back; a copy has to pass the links; a region has moved."""
REQUEST, GRANT, REFUSE, ANSWER, RELEASE, TAKEN_BACK, TO_DRIVER, MOVE, HAS_MOVED = range(9)
"""Kinds of rows of the log."""
NS, WHAT, SUBJECT = range(3)
"""Of a step of a job: nanoseconds since its beginning without copies over links, what happens, to which row or move."""
ENDS, LEAVES, ARRIVES, IDLES = range(4)
"""What happens: a request is answered; a region begins to move, and has moved; the service is free again."""


class Jobs(NamedTuple):
    """The service, and what it works on."""

    service: Service
    frames: FrameMap
    rates: Rates
    counters: np.ndarray
    row_of: np.ndarray
    """int64[tickets, 2], the rows of each ticket's allocation and of its release, -1 = not asked for."""
    size_of: np.ndarray
    """int64[tickets], bytes as they were asked for."""
    ticket_of: np.ndarray
    """int64[rows]."""
    asked: np.ndarray
    """int64[rows], the cycle at which each was asked."""
    steps: np.ndarray
    """int64[steps, 3], those of the job under way."""
    answers: np.ndarray
    """int64[answers, fields]."""
    runs: np.ndarray
    """int64[runs, 2], first byte and bytes of each run of frames of the granted regions among the answers."""
    rows: np.ndarray
    """int64[rows, fields], the log."""
