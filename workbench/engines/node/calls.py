"""The calls of malloc of a run: of every wave of every group, phase by phase, and the requests that they are.

Applications share no heap, so rows and requests are numbered in each application from 0, whatever the card.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.node.plan import Plan
from workbench.workloads.workload import Mallocs


class Calls(NamedTuple):
    """The columns, a row a call."""

    application: np.ndarray
    phase: np.ndarray
    group: np.ndarray
    """In its kernel."""
    wave: np.ndarray
    first_row: np.ndarray
    """Of its lanes, among its application's."""
    rows: np.ndarray
    first_request: np.ndarray
    """Among its application's."""
    requests: np.ndarray
    first_of: np.ndarray
    """Of each application, where its requests begin in `of_request`."""
    of_request: np.ndarray
    """The call of each request."""


def calls_of(plan: Plan) -> Calls:
    """Return the calls of a plan; no requests yet."""
    phases = np.flatnonzero(np.diff(plan.first_malloc) > 0)
    kernel = plan.of_kernel[phases]
    each = plan.groups[kernel] * plan.waves[kernel]
    phase = np.repeat(phases, each)
    place = np.arange(phase.size) - plan.first_call[phase]
    waves = plan.waves[plan.of_kernel[phase]]
    application = plan.application_of[plan.stream_of[plan.step_of[plan.of_kernel[phase]]]]
    rows = np.diff(plan.first_malloc)[phase]
    first_row = np.zeros(phase.size, np.int64)
    for one in np.unique(application):
        own = application == one
        first_row[own] = np.cumsum(rows[own]) - rows[own]
    none = np.zeros(phase.size, np.int64)
    first_of = np.zeros(plan.home.size + 1, np.int64)
    return Calls(
        application, phase, place // waves, place % waves, first_row, rows, none, none.copy(), first_of, none[:0]
    )


def mallocs_of(plan: Plan, calls: Calls, application: int, warp_size: int) -> Mallocs:
    """Return the table of an application's calls, as its heaps take it: each call a warp of its own."""
    own = np.flatnonzero(calls.application == application)
    warp = np.repeat(np.arange(own.size), calls.rows[own])
    lane = np.arange(warp.size) - calls.first_row[own][warp]
    sizes = plan.malloc[plan.first_malloc[calls.phase[own]][warp] + lane]
    return Mallocs(arrival=warp, thread=warp * warp_size + lane, bytes=sizes, free_at=np.full(warp.size, -1))


def with_requests(calls: Calls, request_of: dict[int, np.ndarray]) -> Calls:
    """Return the calls with their requests; of each application that has calls, the request of each of its rows."""
    first, count = calls.first_request.copy(), calls.requests.copy()
    first_of, pieces = calls.first_of.copy(), [np.zeros(0, np.int64)]
    for application in range(first_of.size - 1):
        request = request_of.get(application, np.zeros(0, np.int64))
        own = np.flatnonzero(calls.application == application)
        call_of_row = np.repeat(own, calls.rows[own])
        numbers, row = np.unique(request, return_index=True)
        numbers, row = numbers[numbers >= 0], row[numbers >= 0]
        of_request = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
        of_request[numbers] = call_of_row[row]
        first[own] = 0
        first[of_request[numbers[::-1]]] = numbers[::-1]
        count[own] = np.bincount(of_request[numbers], minlength=calls.application.size)[own]
        pieces.append(of_request)
        first_of[application + 1] = first_of[application] + of_request.size
    return calls._replace(first_request=first, requests=count, first_of=first_of, of_request=np.concatenate(pieces))
