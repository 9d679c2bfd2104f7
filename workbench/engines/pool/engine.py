"""The engine `pool`: requests of applications to the memory of several cards, under six policies (spec 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit import Attempt, Simulator, Stop
from workbench.engines.pool.access import with_access_times
from workbench.engines.pool.beginning import Beginning, room_for
from workbench.engines.pool.checks import check_policies, check_requests
from workbench.engines.pool.deaths import reclaimed
from workbench.engines.pool.faults import words
from workbench.engines.pool.loop import simulate
from workbench.engines.pool.options import PoolOptions
from workbench.engines.pool.pointers import answered
from workbench.engines.pool.prepare import answering, columns_of, moves_expected, rules_of
from workbench.engines.pool.queue import Clients, Service, Waiting, new_clients, new_waiting
from workbench.engines.pool.slots import Case, Slots
from workbench.engines.pool.state import COUNT, FAULT, Columns, Policies, Rules, State, Tables
from workbench.engines.pool.waiting import simulate_waiting
from workbench.machine import Board
from workbench.machine.paths import Paths
from workbench.policies.policy import Policy
from workbench.records.pool import FilledRecord, PoolRecord
from workbench.structures.size_index import NONE
from workbench.workloads.pool_requests import ALLOC, PoolRequests, filled_of


class Run(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    requests: PoolRequests
    columns: Columns


class Play(NamedTuple):
    """The arguments of the loop, without a queue where nobody waits for memory; and the board's paths."""

    columns: Columns
    tables: Tables
    rules: Rules
    policies: Policies
    state: State
    paths: Paths
    waiting: Waiting | None = None
    clients: Clients | None = None


class Pool(Simulator[PoolRecord]):
    """A service that treats the memories of all cards of a board as one pool; its record always holds every event."""

    name = "pool"
    revision = 2
    decides = Slots
    options = PoolOptions
    machine = Board
    workload_kind = "pool_requests"
    state, counts, faults = State, COUNT, FAULT

    def check_levers(self, given: Case) -> None:
        check_policies(given)

    def read(self, given: Case) -> Run:
        self.check_levers(given)
        requests = given.setup.workload.pool_requests(given.machine, given.streams)
        check_requests(requests, given.machine)
        requests = reclaimed(requests)
        return Run(given, requests, columns_of(requests, given.slots.cache))

    def asked(self, run: Run) -> list[Policy]:
        return answering(run.given.slots)

    def room(self, run: Run) -> Mapping[str, int]:
        return {"moves": moves_expected(int((run.columns.names == NONE).sum()), rules_of(run.given))}

    def begin(self, run: Run, attempt: Attempt) -> Play:
        begun = Beginning(run.given, attempt.checked)
        state = begun.state(room_for(run.columns, begun.rules, attempt.room["moves"]))
        play = Play(run.columns, begun.tables, begun.rules, begun.policies, state, begun.paths)
        if begun.rules.waits:
            play = play._replace(waiting=new_waiting(run.columns), clients=new_clients(run.requests.app))
        return play

    def loop(self, play: Play) -> None:
        columns, tables, rules, policies, state, _, waiting, clients = play
        if waiting is None or clients is None:
            simulate(columns, tables, rules, policies, state)
        else:
            simulate_waiting(Service(columns, tables, rules, policies, state, waiting), clients)

    def words(self, run: Run, state: State, stop: Stop) -> Mapping[str, Any]:
        return words(run.columns, stop)

    def record(self, run: Run, play: Play) -> PoolRecord:
        (slots, options, board, _, _), state = run.given, play.state
        filled = filled_of(run.requests)
        requests, columns, waited = run.requests, play.columns, np.zeros(play.columns.time.size, np.int64)
        if play.waiting is not None:
            requests = PoolRequests(*(np.asarray(column)[play.waiting.row_of] for column in requests))
            columns, waited = play.waiting.asked, play.waiting.waited
            filled = None if filled is None else filled[play.waiting.row_of]
        nobody, nothing = np.zeros(columns.time.size), np.zeros(0)
        memories = zip(slots.target.terms(), state.target_memory, strict=True)
        record = PoolRecord(
            cards=board.ids,
            hosts=np.array([card.kind == "cpu" for card in board.cards]),
            capacity=np.array([card.free_bytes for card in board.cards]),
            gbps=play.paths.bottleneck_gbps,
            hops=play.paths.hops,
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
            calls=state.calls[: state.counters[COUNT.calls]].copy(),
            mappings=state.mappings,
            access_ns=nobody,
            access_alone_ns=nobody,
            moves=state.moves[: state.counters[COUNT.moves]].copy(),
            move_ns=nothing,
            move_alone_ns=nothing,
            fallbacks=sum(term.fallbacks(memory) for (term, _), memory in memories),
            peak_cached=state.peak,
            idle_limit=slots.idle_release.limit_bytes(),
        )
        record = with_access_times(record, board, play.paths, options.touches)
        return record if filled is None else FilledRecord.of(record, filled)
