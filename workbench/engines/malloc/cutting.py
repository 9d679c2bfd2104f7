"""From calls to heap requests: the rows of one arrival and one warp are put to the policy together (spec 2, R1-R14)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import RAISED, by_reference, kernel, routine
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.engines.malloc.state import COUNT, FAULT, NOBODY_ASKS, NOTHING, Columns, Cuts
from workbench.policies.malloc.serve.question import SERVE, ReadyServe, ServeView

ask = SERVE.ask
MOST_PIECE = 1 << 42


@kernel
def cut(columns: Columns, unit: int, serve: ReadyServe, cuts: Cuts, scratch: np.ndarray, counters: np.ndarray) -> None:
    """Put every call to the policy; `scratch` is int64[4, unit + 1]."""
    _cut(by_reference(columns), unit, by_reference(serve), by_reference(cuts), scratch, counters)


@routine
def _cut(columns: Columns, unit: int, serve: ReadyServe, cuts: Cuts, scratch: np.ndarray, counters: np.ndarray) -> None:
    row, rows = 0, columns.arrival.size
    requests = placed = 0
    while row < rows and counters[STOP.fault] == FINE:
        arrival, group = columns.arrival[row], columns.thread[row] // unit
        end = row
        while end < rows and columns.arrival[end] == arrival and columns.thread[end] // unit == group:
            scratch[0, end - row] = columns.thread[end] - group * unit
            end += 1
        lanes, leader = scratch[0][: end - row], scratch[1][: end - row]
        part = cuts.request[row:end]
        parts = ask(
            serve.answer,
            ServeView(
                lanes,
                columns.asked[row:end],
                part,
                cuts.offset[row:end],
                cuts.size[row:end],
                leader,
                serve.params,
                serve.memory,
            ),
        )
        if _is_wrong(cuts, scratch, row, end, parts):
            fail(counters, FAULT.serve_raised if parts == RAISED else FAULT.serve_wrong, arrival, row, parts)
            return
        requests, placed = _enter(cuts, scratch, row, end, parts, requests, placed)
        row = end
    cuts.first[requests] = placed
    counters[COUNT.requests] = requests


@kernel
def _is_wrong(cuts: Cuts, scratch: np.ndarray, row: int, end: int, parts: int) -> bool:
    if parts < 0 or parts > end - row:
        return True
    wrong = False
    for k in range(row, end):
        part = cuts.request[k]
        wrong |= part < NOTHING or part >= parts
        wrong |= part >= 0 and not (0 <= cuts.size[k] <= MOST_PIECE and 0 <= cuts.offset[k] <= MOST_PIECE)
    for p in range(parts):
        asks = scratch[1, p]
        wrong |= asks < -1 or asks >= end - row
        wrong = wrong or (asks >= 0 and cuts.request[row + asks] != p)
    return wrong


@kernel
def _enter(
    cuts: Cuts, scratch: np.ndarray, row: int, end: int, parts: int, requests: int, placed: int
) -> tuple[int, int]:
    """Number the requests on, and list the rows of each; what nobody asks for is dropped."""
    for p in range(parts):
        scratch[2, p] = 0
    for k in range(row, end):
        if cuts.request[k] >= 0:
            scratch[2, cuts.request[k]] += 1
    for p in range(parts):
        count = scratch[2, p]
        if scratch[1, p] < 0 or count == 0:
            scratch[3, p] = NOBODY_ASKS
            continue
        scratch[3, p] = requests
        scratch[2, p] = placed
        cuts.first[requests], cuts.total[requests] = placed, 0
        cuts.leader[requests] = row + scratch[1, p]
        placed += count
        requests += 1
    for k in range(row, end):
        part = cuts.request[k]
        if part < 0:
            continue
        number = scratch[3, part]
        cuts.request[k] = number
        if number >= 0:
            cuts.order[scratch[2, part]] = k
            scratch[2, part] += 1
            cuts.total[number] += cuts.size[k]
    return requests, placed
