"""The engine `pool`: requests of applications to the memory of several cards, under five policies (spec 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.pool.access import with_access_times
from workbench.engines.pool.broken import broken
from workbench.engines.pool.deaths import reclaimed
from workbench.engines.pool.loop import simulate
from workbench.engines.pool.options import PoolOptions
from workbench.engines.pool.prepare import (
    blocks_needed,
    check_requests,
    columns_of,
    moves_expected,
    policies_of,
    rules_of,
    tables_of,
)
from workbench.engines.pool.state import CALLS, FINE, MOVES, NO_MORE_MOVES, STATUS, Columns, State, new_state
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
        "residency": "stay",
    }
    options: ClassVar[type[Spec]] = PoolOptions
    machine: ClassVar[type[Described]] = Board
    wants: ClassVar[str] = "pool_requests"

    def asks(self, slot: str) -> str:
        """The question that the policy of a slot answers: of the same name."""
        return slot

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
        options: Any = setup.options
        paths = setup.machine.paths(options.path_metric, options.max_hops, options.hop_factor)
        tables = tables_of(setup.machine, paths, options)
        checked = checked or not _proved.issuperset(_answers(setup))
        policies, *memories = policies_of(setup, tables.capacity.size, streams, checked)
        allocations = int((requests.action == ALLOC).sum())
        moves = moves_expected(allocations, rules)
        while True:
            blocks, (fit, target) = blocks_needed(columns, rules, moves), (memory.copy() for memory in memories)
            state = new_state(tables, columns.time.size, allocations, blocks, fit, target, moves)
            simulate(columns, tables, rules, policies, state)
            if state.counters[STATUS] != NO_MORE_MOVES:
                break
            moves *= 2
        if state.counters[STATUS] != FINE:
            raise broken(setup, columns, state)
        _proved.update(_answers(setup))
        return _record(setup, requests, paths, columns, state)

    def admit(self, setup: Setup, seed: int) -> None:
        """Refuse a setup with a request that makes no sense, or that is larger than every card."""
        self._requests(setup, Streams(seed))

    @staticmethod
    def _requests(setup: Setup, streams: Streams) -> PoolRequests:
        requests = setup.workload.pool_requests(setup.machine, streams)
        check_requests(requests, setup.machine)
        return reclaimed(requests)


def _answers(setup: Setup) -> list[Any]:
    """The answers of policies that are not part of this package."""
    target: Any = setup.policies["target"]
    asked = [setup.policies["cache_fit"], setup.policies["idle_release"], *(term for term, _ in target.terms())]
    return [policy.function() for policy in asked if not policy.built_in]


def _record(setup: Setup, requests: PoolRequests, paths: Paths, columns: Columns, state: State) -> PoolRecord:
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
        calls=state.calls[: state.counters[CALLS]].copy(),
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
