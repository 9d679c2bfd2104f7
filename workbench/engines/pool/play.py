"""One run of the engine `pool`: its arrays made, its requests served, and once more where too little room was made."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.pool.broken import broken
from workbench.engines.pool.driver import new_driver
from workbench.engines.pool.loop import simulate
from workbench.engines.pool.prepare import (
    blocks_needed,
    calls_needed,
    columns_of,
    moves_expected,
    policies_of,
    rules_of,
    tables_of,
)
from workbench.engines.pool.queue import new_waiting
from workbench.engines.pool.state import FINE, NO_MORE_MOVES, STATUS, Columns, State, new_state
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
    options: Any = setup.options
    cache: Any = setup.policies["cache"]
    columns, rules = columns_of(requests, cache), rules_of(setup)
    paths = setup.machine.paths(options.path_metric, options.max_hops, options.hop_factor)
    tables = tables_of(setup.machine, paths, options)
    policies, *memories = policies_of(setup, streams, checked)
    allocations = int((columns.names == NONE).sum())
    moves = moves_expected(allocations, rules)
    while True:
        blocks, calls = blocks_needed(columns, rules, moves), calls_needed(allocations + moves, rules)
        driver = new_driver(setup, tables.capacity, blocks, streams, checked)
        fit, target = (memory.copy() for memory in memories)
        state = new_state(tables, columns.time.size, allocations, blocks, calls, driver, fit, target, moves)
        waiting = new_waiting(requests.app, columns) if options.when_full == "wait" else None
        if waiting is None:
            simulate(columns, tables, rules, policies, state)
        else:
            simulate_waiting(columns, tables, rules, policies, state, waiting)
        if state.counters[STATUS] != NO_MORE_MOVES:
            break
        moves *= 2
    if state.counters[STATUS] != FINE:
        raise broken(setup, columns, state)
    if waiting is None:
        return Played(requests, columns, np.zeros(columns.time.size, np.int64), paths, state)
    served = PoolRequests(*(np.asarray(column)[waiting.row_of] for column in requests))
    return Played(served, waiting.asked, waiting.waited, paths, state)
