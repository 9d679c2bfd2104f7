"""The engine `pool`: requests of applications to the memory of several cards, under six policies (spec 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.first_runs import FirstRuns
from workbench.engines.pool.access import with_access_times
from workbench.engines.pool.checks import check_policies, check_requests
from workbench.engines.pool.deaths import reclaimed
from workbench.engines.pool.options import PoolOptions
from workbench.engines.pool.play import Played, play
from workbench.engines.pool.pointers import answered
from workbench.engines.pool.prepare import answering
from workbench.engines.pool.state import CALLS, MOVES
from workbench.levers import Spec
from workbench.machine import Board, Described
from workbench.records.pool import PoolRecord
from workbench.streams import Streams
from workbench.workloads.pool_requests import ALLOC, PoolRequests

_first_runs = FirstRuns()


class Pool:
    """A service that treats the memories of all cards of a board as one pool."""

    name: ClassVar[str] = "pool"
    revision: ClassVar[int] = 2
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
        check_policies(setup)
        streams = Streams(seed)
        requests = self._requests(setup, streams)
        with _first_runs.watched(answering(setup), checked) as checked:
            played = play(setup, requests, streams, checked)
        return _record(setup, played)

    def admit(self, setup: Setup, seed: int) -> None:
        """Refuse a setup with a request that makes no sense or is larger than every card, or with an unknown card."""
        check_policies(setup)
        self._requests(setup, Streams(seed))

    @staticmethod
    def _requests(setup: Setup, streams: Streams) -> PoolRequests:
        requests = setup.workload.pool_requests(setup.machine, streams)
        check_requests(requests, setup.machine)
        return reclaimed(requests)


def _record(setup: Setup, played: Played) -> PoolRecord:
    requests, columns, waited, paths, state = played
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
