"""A pool as a part of a larger simulation: requests one by one, each when somebody else decides (spec 6, R2, R9).

What may be asked is known before, a table of requests: those of the workload, a death of an application being the
releases of all that it has by then, and as many others as `new_part` makes room for, which `append` adds. `ask` names a
row and a time. Who asks several things at a time may: a request that waits for memory holds back nobody but, with
`wait_order: first_come`, those that ask after it.

Times are nanoseconds here, as everywhere in this engine; cycles of a node become nanoseconds, and nanoseconds cycles
(by `clock_mhz`, rounded up: spec 6, R1), where the node asks and is answered.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.kit import frame as kit
from workbench.engines.kit.frame import NEVER, advance, next_event
from workbench.engines.kit.order import LAST_CYCLE
from workbench.engines.pool import part_api
from workbench.engines.pool.engine import Beginning, Play, Pool, Run, answered, reclaimed, room_for, rows_of
from workbench.engines.pool.live import carry
from workbench.engines.pool.options import Case, check_policies, check_requests
from workbench.engines.pool.part_api import BYTES, NEEDS_ROOM, PHYSICAL, REFUSED, WHERE
from workbench.engines.pool.prepare import answering, columns_of, moves_expected
from workbench.engines.pool.state import ANSWERED, COUNT, LINE, NOW, ROWS, Columns, Service, new_waiting
from workbench.errors import InputError
from workbench.policies.pool.cache import in_class
from workbench.records.pool import ADDRESS, BEGIN, LEFT, OUTCOMES, REGION, STITCHED, TO, PoolRecord
from workbench.structures.size_index import NONE
from workbench.workloads.pool_requests import ALLOC, FREE, PoolRequests

# fmt: off
__all__ = [
    "NEVER", "Answer", "Move", "Part", "Piece", "Request", "advance", "append", "ask", "end", "finished", "moved",
    "new_part", "next_event", "record_of", "rows",
]
# fmt: on


class Request(NamedTuple):
    """A request of the table, asked now."""

    time: int
    """Nanoseconds."""
    row: int
    """In the table: see `rows`; or as `append` returned it."""


class Piece(NamedTuple):
    """A part of a region whose addresses follow each other."""

    address: int
    bytes: int
    physical: int
    """The byte of the card's memory at which it begins; -1 where the driver counts bytes (`driver: byte_counter`)."""


class Answer(NamedTuple):
    """What came of a request."""

    ticket: int
    time: int
    """Nanoseconds, when its application has the answer."""
    outcome: str
    """One of `OUTCOMES`."""
    card: int
    """Whose memory was granted or released, -1 = none."""
    identifier: int
    """The address of the region on that card, -1 = none."""
    bytes: int
    """Of the region, which may be more than were asked for."""
    waited: int
    """Nanoseconds in the queue for memory."""
    pieces: tuple[Piece, ...]
    """Of what was granted, as it lay when it was."""


class Move(NamedTuple):
    """A region was brought to another card: translations of its addresses are void."""

    ticket: int
    """Of its allocation."""
    left: int
    to: int
    time: int
    """Nanoseconds, when its bytes begin to move."""
    identifier: int
    """The region's address on the new card."""


class Part(kit.Part):
    """The state of a pool, and what has been asked of it."""

    def __init__(self, setup: Setup, seed: int, spare: int) -> None:
        self.engine = Pool()
        self.case: Case = self.engine.given(setup, seed)
        self.requests, self.first_row = _table(self.case, spare)
        columns = Columns(*(np.array(column) for column in columns_of(self.requests, self.case.slots.cache)))
        self._begun = Beginning(self.case, not all(policy.built_in for policy in answering(self.case.slots)))
        self._bound_by = _with_sizes(columns, spare, int(self._begun.tables.capacity.max()))
        waiting = new_waiting(columns)
        waiting.counters[ROWS] -= spare
        waiting.since[:] = NONE
        begun, self.paths = self._begun, self._begun.paths
        state = begun.state(self._sizes(moves_expected(columns.time.size, begun.rules)))
        super().__init__(part_api, Service(columns, begun.tables, begun.rules, begun.policies, state, waiting))
        self.answers: list[Answer] = []
        self.moves_seen = 0

    @property
    def run(self) -> Service:
        """Return what the routines run on; with more room it is another."""
        return cast(Service, self.lent)

    def call(self, name: str, *numbers: int) -> int:
        """Call a routine, with more room for moves where that is wanting, and take what it answered, before later
        events change the arrays that an answer is read from."""
        while (result := self.called(name, *numbers)) == NEEDS_ROOM and name == "ask_row":
            self._make_room()
        self.check()
        _take_answers(self)
        return result

    def check(self) -> None:
        run = Run(self.case, self.requests, self.run.columns)
        self.engine.check(run, self.run.state.counters, self.run.state)

    def _make_room(self) -> None:
        """Make the arrays longer by which regions may move, with what they held before."""
        moves = int(self.run.state.counters[COUNT.moves] + self.run.waiting.counters[LINE] + 1)
        longer = self._begun.state(self._sizes(2 * max(moves, self.run.columns.time.size)))
        carry(self.run.state, longer)
        self.run_on(self.run._replace(state=longer))

    def _sizes(self, moves: int) -> dict[str, int]:
        sizes = room_for(self._bound_by, self._begun.rules, moves)
        return {**sizes, "requests": self.requests.time.size}


def new_part(setup: Setup, seed: int, spare: int = 0) -> Part:
    """Return the state of a pool that was asked for nothing yet.

    Parameters
    ----------
    setup : Setup
        Its workload is the table of requests.
    seed : int
    spare : int
        Upper bound on the requests that are appended.

    Raises
    ------
    InputError
        The requests or the policies do not go with the board.

    Examples
    --------
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.machine import Board
    >>> from workbench.policies.placement import ByteCounter
    >>> from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, SplitAndCoalesce, Stay
    >>> policies = {"cache": SplitAndCoalesce(), "cache_fit": BestFit(), "target": MaxBandwidth()}
    >>> policies |= {"idle_release": KeepAll(), "driver": ByteCounter(), "residency": Stay()}
    >>> state = new_part(Setup("pool", Board(), None, policies, PoolOptions(service_ns=30)), seed=1, spare=2)
    >>> ask(state, Request(100, append(state, card=1, size=96)))
    0
    >>> (answer,) = finished(state)
    >>> answer.time, answer.outcome, answer.card, answer.pieces
    (130, 'physical', 1, (Piece(address=0, bytes=96, physical=-1),))
    """
    return Part(setup, seed, spare)


def append(state: Part, *, card: int = 0, size: int = 0, frees: int | None = None) -> int:
    """Add a request to the table: bytes for an application on a card, or the free of what another request got.

    Raises
    ------
    InputError
        There is no room for more requests, or no card could ever serve it.
    """
    rules, named, row = state.case.slots.cache.rules(), NONE if frees is None else frees, _rows(state)
    if row == state.requests.time.size:
        raise InputError(f"the table has room for {row} requests; more room for appended ones is made by spare.")
    if frees is None:
        one = PoolRequests(*np.array([[0], [0], [card], [ALLOC], [0], [size]]))
        check_requests(one, state.case.machine)
    elif not 0 <= frees < row or state.run.columns.names[frees] != NONE:
        raise InputError(f"request {frees} is no allocation, so it cannot be freed.")
    rounded = -(-size // rules.granule) * rules.granule
    need = in_class(rounded, rules.classes) if rules.classes else rounded
    state.requests.card[row], state.requests.bytes[row] = card, size
    state.requests.action[row], state.requests.handle[row] = ALLOC if frees is None else FREE, row
    return state.call("append", card, size, need, named)


def rows(state: Part, request: int) -> range:
    """Return the rows of the table that a request of the workload is: one; of a death one for each region that goes
    back."""
    first = state.first_row
    return range(int(first[request]), int(first[request + 1]))


def ask(state: Part, request: Request) -> int:
    """Ask a request at a time, after all that precedes it, and return its ticket: the row.

    Raises
    ------
    InputError
        The time is over, or there is no such request to be asked.
    PolicyError
        A policy raised, or gave an answer that its question does not allow.
    """
    kit.refuse_past(request.time, int(state.run.waiting.counters[NOW]), "{} ns")
    if state.call("ask_row", request.row, request.time) == REFUSED:
        raise InputError(_why_refused(state, *request))
    return request.row


def finished(state: Part) -> list[Answer]:
    """Return what was answered since the last call, each once; its time may lie ahead."""
    answers, state.answers = state.answers, []
    return answers


def moved(state: Part) -> list[Move]:
    """Return the moves since the last call."""
    count, row_of = int(state.run.state.counters[COUNT.moves]), state.run.waiting.row_of
    new = state.run.state.moves[state.moves_seen : count].tolist()
    state.moves_seen = count
    return [Move(int(row_of[move[REGION]]), move[LEFT], move[TO], move[BEGIN], move[ADDRESS]) for move in new]


def end(state: Part) -> None:
    """Refuse who waits, because nobody asks any more; the rest of the table is never asked."""
    state.call("end_waits")


def record_of(state: Part) -> PoolRecord:
    """Return what was answered so far, as the engine has it."""
    run, lines = state.run, int(state.run.waiting.counters[LINE])
    waiting = run.waiting._replace(
        asked=Columns(*(column[:lines] for column in run.waiting.asked)),
        row_of=run.waiting.row_of[:lines],
        waited=run.waiting.waited[:lines],
    )
    by_line = {name: getattr(run.state, name)[:lines] for name in _BY_LINE}
    play = Play(*run[:4], run.state._replace(**by_line), state.paths, waiting)
    return state.engine.record(Run(state.case, state.requests, run.columns), play)


_BY_LINE = ("outcome", "card", "identifier", "taken", "done", "mappings")


def _table(case: Case, spare: int) -> tuple[PoolRequests, np.ndarray]:
    """Return the requests of the workload, each free of a death a row, room for more, and where each request begins."""
    check_policies(case)
    given, requests, first = case.setup.workload, PoolRequests(*np.zeros((6, 0), np.int64)), np.zeros(1, np.int64)
    if given is not None:
        all_requests = given.pool_requests(case.machine, case.streams)
        check_requests(all_requests, case.machine)
        requests, first = reclaimed(all_requests), rows_of(all_requests)
    if spare == 0:
        return requests, first
    nothing = np.zeros(spare, np.int64)
    return PoolRequests(*(np.concatenate([column, nothing]) for column in requests)), first


def _with_sizes(columns: Columns, spare: int, largest: int) -> Columns:
    """Return the columns by which arrays are sized: with the least and the largest request that may be appended."""
    if spare == 0:
        return columns
    extreme = np.array([1, largest])
    return columns._replace(need=np.r_[columns.need, extreme], names=np.r_[columns.names, extreme * 0 + NONE])


def _rows(state: Part) -> int:
    return int(state.run.waiting.counters[ROWS])


def _take_answers(state: Part) -> None:
    """Move what was answered from the arrays of the run to the list of answers."""
    counters = state.run.waiting.counters
    new = state.run.waiting.answers[: counters[ANSWERED]].tolist()
    counters[ANSWERED] = 0
    state.answers += [_answer(state, row) for row in new]


def _answer(state: Part, row: int) -> Answer:
    now, line = state.run.state, state.run.waiting.line_of[row]
    outcome, taken = int(now.outcome[line]), int(now.taken[line])
    time = answered(state.case.options, now.outcome[line : line + 1], now.done[line : line + 1])
    pieces = _pieces(state, row) if outcome <= STITCHED else ()
    card, identifier, waited = int(now.card[line]), int(now.identifier[line]), int(state.run.waiting.waited[line])
    return Answer(row, int(time[0]), OUTCOMES[outcome], card, identifier, taken, waited, pieces)


def _pieces(state: Part, row: int) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    while (address := state.called("piece", row, len(pieces), WHERE)) >= 0:
        size, physical = (state.called("piece", row, len(pieces), what) for what in (BYTES, PHYSICAL))
        pieces.append(Piece(address, size, physical))
    return tuple(pieces)


def _why_refused(state: Part, time: int, row: int) -> str:
    """Return the sentence for what cannot be asked for."""
    if time > LAST_CYCLE:
        return f"{time} ns is too late; times are below 2^56 ns."
    if not 0 <= row < _rows(state):
        return f"there is no request {row}; the table has {_rows(state)}, numbered from 0."
    if state.run.waiting.since[row] != NONE:
        return f"request {row} was asked before; each request of the table is asked once."
    return f"request {row} frees what request {state.run.columns.names[row]} asks for, which is not answered yet."
