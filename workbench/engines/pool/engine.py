"""The engine `pool`: requests of applications to the memory of several cards, under five policies (spec 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.pool.access import with_access_times
from workbench.engines.pool.broken import broken
from workbench.engines.pool.deaths import reclaimed
from workbench.engines.pool.driver import check_driver, new_driver
from workbench.engines.pool.loop import simulate
from workbench.engines.pool.options import PoolOptions
from workbench.engines.pool.pointers import answered
from workbench.engines.pool.prepare import (
    blocks_needed,
    calls_needed,
    check_named_cards,
    check_requests,
    check_waiting,
    columns_of,
    moves_expected,
    policies_of,
    rules_of,
    tables_of,
)
from workbench.engines.pool.queue import new_waiting
from workbench.engines.pool.state import CALLS, FINE, MOVES, NO_MORE_MOVES, STATUS, Columns, State, new_state
from workbench.engines.pool.waiting import simulate_waiting
from workbench.levers import Spec
from workbench.machine import Board, Described, Paths
from workbench.records.pool import PoolRecord
from workbench.streams import Streams
from workbench.workloads.pool_requests import ALLOC, PoolRequests

_proved: set[Any] = set()
"""The answers that have done a run without a fault."""


class Pool:
    """A service that treats the memories of all cards of a board as one pool."""

    name: ClassVar[str] = "pool"
    revision: ClassVar[int] = 1
    slots: ClassVar[Mapping[str, str]] = {
        "cache": "split_and_coalesce",
        "cache_fit": "best_fit",
        "target": "max_bandwidth",
        "idle_release": "keep_all",
        "driver": "byte_counter",
        "residency": "stay",
    }
    options: ClassVar[type[Spec]] = PoolOptions
    machine: ClassVar[type[Described]] = Board
    wants: ClassVar[str] = "pool_requests"

    def asks(self, slot: str) -> str:
        """The question that the policy of a slot answers: of the same name, the driver's that of any placement."""
        return "placement" if slot == "driver" else slot

    def simulate(self, setup: Setup, seed: int, events: bool = False, checked: bool = False) -> PoolRecord:
        """Serve the requests of one seed.

        Parameters
        ----------
        seed : int
            Names the workload's random streams and the policies' own.
        events : bool
            Makes no difference: the record always holds every event.
        checked : bool
            Test every array index of the policies' compiled answers; the first run of a user's policy in a process
            always does.

        Raises
        ------
        InputError
            A request makes no sense, or is larger than every card.
        PolicyError
            A policy raised, or gave an answer that its question does not allow.
        """
        streams = Streams(seed)
        requests = self._requests(setup, streams)
        cache: Any = setup.policies["cache"]
        columns, rules = columns_of(requests, cache), rules_of(setup)
        check_driver(setup)
        check_waiting(setup)
        options: Any = setup.options
        paths = setup.machine.paths(options.path_metric, options.max_hops, options.hop_factor)
        tables = tables_of(setup.machine, paths, options)
        checked = checked or not _proved.issuperset(_answers(setup))
        policies, *memories = policies_of(setup, streams, checked)
        allocations = int((requests.action == ALLOC).sum())
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
        _proved.update(_answers(setup))
        if waiting is None:
            return _record(setup, requests, paths, columns, state, np.zeros(columns.time.size, np.int64))
        served = PoolRequests(*(np.asarray(column)[waiting.row_of] for column in requests))
        return _record(setup, served, paths, waiting.asked, state, waiting.waited)

    def admit(self, setup: Setup, seed: int) -> None:
        """Refuse a setup with a request that makes no sense or is larger than every card, or with an unknown card."""
        check_named_cards(setup)
        check_driver(setup)
        check_waiting(setup)
        self._requests(setup, Streams(seed))

    @staticmethod
    def _requests(setup: Setup, streams: Streams) -> PoolRequests:
        requests = setup.workload.pool_requests(setup.machine, streams)
        check_requests(requests, setup.machine)
        return reclaimed(requests)


def _answers(setup: Setup) -> list[Any]:
    """The answers of policies that are not part of this package."""
    target: Any = setup.policies["target"]
    alone = [setup.policies[slot] for slot in ("cache_fit", "idle_release", "driver")]
    asked = [*alone, *(term for term, _ in target.terms())]
    return [policy.function() for policy in asked if not policy.built_in]


def _record(
    setup: Setup, requests: PoolRequests, paths: Paths, columns: Columns, state: State, waited: np.ndarray
) -> PoolRecord:
    board: Any = setup.machine
    options: Any = setup.options
    idle: Any = setup.policies["idle_release"]
    target: Any = setup.policies["target"]
    nobody, nothing = np.zeros(columns.time.size), np.zeros(0)
    memories = zip(target.terms(), state.target_memory, strict=True)
    record = PoolRecord(
        cards=board.ids,
        hosts=np.array([card.kind == "cpu" for card in board.cards]),
        capacity=np.array([card.free_bytes for card in board.cards]),
        gbps=paths.bottleneck_gbps,
        hops=paths.hops,
        time=columns.time,
        app=np.asarray(requests.app),
        borrower=columns.borrower,
        action=np.asarray(requests.action),
        handle=np.asarray(requests.handle),
        asked=columns.size,
        allocation=np.where(requests.action == ALLOC, np.arange(columns.time.size), np.maximum(columns.names, -1)),
        outcome=state.outcome,
        card=state.card,
        identifier=state.identifier,
        taken=state.taken,
        done=state.done,
        waited=waited,
        answered=answered(options, state.outcome, state.done),
        calls=state.calls[: state.counters[CALLS]].copy(),
        mappings=state.mappings,
        access_ns=nobody,
        access_alone_ns=nobody,
        moves=state.moves[: state.counters[MOVES]].copy(),
        move_ns=nothing,
        move_alone_ns=nothing,
        fallbacks=sum(term.fallbacks(memory) for (term, _), memory in memories),
        peak_cached=state.peak,
        idle_limit=idle.limit_bytes(),
    )
    return with_access_times(record, board, paths, options.touches)
