"""The engine `pool`: requests of applications to the memory of several cards, under six policies (spec 5).

First the regions of applications that die are freed for them (E18). Then the state of a run in which nothing has
happened is made, and the loop plays it. Last the record learns how long data of regions on other cards, and of moves,
are under way, sharing links (E9, E14, E17, H5.5). It also learns when each application has its region: an identifier,
or a pointer that its client maps (R25-R27).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit import Attempt, Simulator, Stop, made
from workbench.engines.pool.access_times import answered, with_access_times
from workbench.engines.pool.driver import new_driver
from workbench.engines.pool.loop import simulate, simulate_waiting
from workbench.engines.pool.options import Case, PoolOptions, Slots, check_policies, check_requests
from workbench.engines.pool.prepare import (
    answering,
    blocks_needed,
    calls_needed,
    columns_of,
    moves_expected,
    policies_of,
    rules_of,
    tables_of,
)
from workbench.engines.pool.state import (
    COUNT,
    FAULT,
    POOLS,
    Clients,
    Columns,
    Places,
    Policies,
    Rules,
    Service,
    State,
    Tables,
    Waiting,
    new_clients,
    new_waiting,
    words,
)
from workbench.machine.board import Board
from workbench.machine.paths import Paths
from workbench.policies.policy import Policy
from workbench.records.pool import FilledRecord, PoolRecord
from workbench.structures.size_index import NONE, new_size_index
from workbench.workloads.pool_requests import ALLOC, DIE, FREE, PoolRequests, filled_of


class Run(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    requests: PoolRequests
    columns: Columns


class Play(NamedTuple):
    """The arguments of the loop, without a queue where no request waits for memory; and the board's paths."""

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
    revision = 3
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

    def compiled_policies(self, run: Run) -> list[Policy]:
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
            columns, waited = play.waiting.requests, play.waiting.waited
            filled = None if filled is None else filled[play.waiting.row_of]
        nobody, nothing = np.zeros(columns.time.size), np.zeros(0)
        memories = zip(slots.target.terms(), state.target_memory, strict=True)
        record = PoolRecord(
            cards=board.ids,
            hosts=np.array([card.kind == "cpu" for card in board.cards]),
            capacity=np.array([card.free_bytes for card in board.cards]),
            gbps=play.paths.bottleneck_gbps.copy(),
            hops=play.paths.hops.copy(),
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


def room_for(columns: Columns, rules: Rules, moves: int) -> dict[str, int]:
    """Return the sizes of a state for these requests, whatever becomes of them, and for so many moves."""
    allocations = int((columns.names == NONE).sum())
    blocks, calls = blocks_needed(columns, rules, moves), calls_needed(allocations + moves, rules)
    lendings, requests = allocations + moves, columns.time.size
    return {"requests": requests, "lendings": lendings, "blocks": blocks, "calls": calls, "moves": moves}


class Beginning:
    """What every run of a setup begins with: its board, its levers and its policies as the kernels read them.

    Parameters
    ----------
    case : Case
        The board, the policies, the options, and what the policies draw from; the workload does not matter.
    checked : bool
        Test every array index of the policies' compiled answers.

    Examples
    --------
    >>> from workbench.engines.kit.engine import Setup
    >>> from workbench.engines.kit import given
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.engines.pool.options import Slots
    >>> from workbench.machine import Board
    >>> from workbench.policies.placement import ByteCounter
    >>> from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, SplitAndCoalesce, Stay
    >>> policies = {"cache": SplitAndCoalesce(), "cache_fit": BestFit(), "target": MaxBandwidth()}
    >>> policies |= {"idle_release": KeepAll(), "driver": ByteCounter(), "residency": Stay()}
    >>> setup = Setup("pool", Board(), None, policies, PoolOptions())
    >>> begun = Beginning(given(Slots, setup, seed=0), checked=False)
    >>> state = begun.state({"requests": 2, "lendings": 2, "blocks": 4, "calls": 4, "moves": 0})
    >>> bool((state.physical == begun.tables.capacity).all()), int(state.held.sum())
    (True, 0)

    References
    ----------
    spec 5, sections 2 and 3.
    """

    def __init__(self, case: Case, checked: bool) -> None:
        self.paths = case.machine.paths(case.options.path_metric, case.options.max_hops, case.options.hop_factor)
        self.tables, self.rules = tables_of(case.machine, case.options), rules_of(case)
        self.policies, *self._memories = policies_of(case, checked)
        self._case, self._checked = case, checked

    def state(self, sizes: Mapping[str, int]) -> State:
        """Return a state in which nothing is allocated, and the policies remember what they do at the start of a
        run."""
        capacity, (fit, target) = self.tables.capacity, (memory.copy() for memory in self._memories)
        driver = new_driver(self._case, capacity, sizes["blocks"], self._checked)
        sizes = {**sizes, "cards": capacity.size, "placed": sizes["requests"] if sizes["moves"] else 0}
        return made(
            State,
            sizes,
            blocks=new_size_index(POOLS * capacity.size, sizes["blocks"]),
            physical=driver.granules * driver.granule if driver.granule else capacity.copy(),
            fit_memory=fit,
            target_memory=target,
            driver=driver,
            places=made(Places, sizes),
        )


def reclaimed(requests: PoolRequests) -> PoolRequests:
    """Return the requests with a free of each region that a dying application has, in the order of allocation, for its
    death.

    What was freed already, or allocated again under the same handle, is not freed once more.

    >>> columns = np.array([[0, 1, 2, 3], [7, 7, 7, 7], [0] * 4, [ALLOC, ALLOC, FREE, DIE], [1, 2, 1, 0], [8, 9, 0, 0]])
    >>> result = reclaimed(PoolRequests(*columns))
    >>> result.action.tolist(), result.handle.tolist(), result.bytes.tolist(), result.time.tolist()
    ([0, 0, 1, 1], [1, 2, 1, 2], [8, 9, 0, 9], [0, 1, 2, 3])
    """
    return requests if not (requests.action == DIE).any() else _with_frees(requests, *_expanded(requests))


def _expanded(requests: PoolRequests) -> tuple[np.ndarray, np.ndarray]:
    """Return the request whose region each row is about, and the death that frees it, -1 = none."""
    live: dict[int, dict[int, int]] = {}
    rows: list[int] = []
    deaths: list[int] = []
    for row, (app, action, handle) in enumerate(zip(requests.app, requests.action, requests.handle, strict=True)):
        had = live.setdefault(int(app), {})
        if action == DIE:
            # A dictionary keeps the order of entry, which is that of allocation.
            rows += had.values()
            deaths += [row] * len(had)
            had.clear()
            continue
        rows.append(row)
        deaths.append(-1)
        had.pop(int(handle), None)
        if action == ALLOC:
            had[int(handle)] = row
    return np.array(rows, np.int64), np.array(deaths, np.int64)


def _with_frees(requests: PoolRequests, rows: np.ndarray, deaths: np.ndarray) -> PoolRequests:
    """Return the rows as they are where no death is named; else a free of the row's region by that death."""
    dying, at = deaths >= 0, np.where(deaths >= 0, deaths, rows)
    taken = PoolRequests(*(np.asarray(column)[rows] for column in requests))
    return taken._replace(
        time=requests.time[at], card=requests.card[at], action=np.where(dying, FREE, taken.action).astype(np.int8)
    )
