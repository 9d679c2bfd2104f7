"""One run of the engine `pool`: its arrays made, its requests served, and once more where too little room was made."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.pool.beginning import Beginning, room_for
from workbench.engines.pool.broken import broken
from workbench.engines.pool.loop import simulate
from workbench.engines.pool.prepare import columns_of, moves_expected
from workbench.engines.pool.queue import Waiting, new_waiting
from workbench.engines.pool.state import FINE, NO_MORE_MOVES, STATUS, Columns, State
from workbench.engines.pool.waiting import simulate_waiting
from workbench.machine import Paths
from workbench.streams import Streams
from workbench.structures.size_index import NONE
from workbench.workloads.pool_requests import PoolRequests


class Played(NamedTuple):
    """A run that has ended, its requests in the order in which they were served."""

    requests: PoolRequests
    columns: Columns
    waited: np.ndarray
    """int64[requests], nanoseconds in the queue for memory."""
    paths: Paths
    state: State


def play(setup: Setup, requests: PoolRequests, streams: Streams, checked: bool) -> Played:
    """Serve the requests.

    Raises
    ------
    PolicyError
        A policy raised, or gave an answer that its question does not allow.
    """
    cache: Any = setup.policies["cache"]
    columns, begun = columns_of(requests, cache), Beginning(setup, streams, checked)
    moves = moves_expected(int((columns.names == NONE).sum()), begun.rules)
    while True:
        state = begun.state(room_for(columns, begun.rules, moves))
        waiting = _serve(setup, requests, columns, begun, state)
        if state.counters[STATUS] != NO_MORE_MOVES:
            break
        moves *= 2
    if state.counters[STATUS] != FINE:
        raise broken(setup, columns, state)
    if waiting is None:
        return Played(requests, columns, np.zeros(columns.time.size, np.int64), begun.paths, state)
    served = PoolRequests(*(np.asarray(column)[waiting.row_of] for column in requests))
    return Played(served, waiting.asked, waiting.waited, begun.paths, state)


def _serve(setup: Setup, requests: PoolRequests, columns: Columns, begun: Beginning, state: State) -> Waiting | None:
    """Run the loop; None where nobody waits for memory."""
    options: Any = setup.options
    if options.when_full != "wait":
        simulate(columns, begun.tables, begun.rules, begun.policies, state)
        return None
    waiting = new_waiting(requests.app, columns)
    simulate_waiting(columns, begun.tables, begun.rules, begun.policies, state, waiting)
    return waiting
