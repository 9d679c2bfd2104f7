"""The pool's service driven request by request: its table is a workload's, a death being the releases of what is live.

The routines are what a node would be without a calendar of its own for the service (`node.pool_api`): an answer is
known when its request is asked, and lies ahead, unless the request waits for memory.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from tests.engines.stepping import REFUSED, Stepped
from workbench.compiled import routine
from workbench.engines.kit.engine import Setup
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import LAST_CYCLE, RANK, cycle_of, moment, rank_of
from workbench.engines.node import pool_api
from workbench.engines.node.pool_part import new_pool
from workbench.engines.pool.access_times import answered
from workbench.engines.pool.engine import Pool, reclaimed
from workbench.engines.pool.loop import end, give_up, head_gives_up, take
from workbench.engines.pool.prepare import columns_of
from workbench.engines.pool.state import ANSWERED, COUNT, HEAD, LINE, NOW, ROWS, Columns, Service
from workbench.policies.pool.cache import in_class
from workbench.records.pool import ADDRESS, BEGIN, LEFT, OUTCOMES, REGION, STITCHED, TO, PoolRecord
from workbench.structures import size_index
from workbench.structures.size_index import FIELDS, NONE, ORIGIN, SIZE
from workbench.structures.timetable import NEVER

append_row = pool_api.append


@routine
def next_moment(run: Service) -> int:
    """The moment at which somebody will have waited too long, `NEVER` where nobody will."""
    head = run.waiting.counters[HEAD]
    if head == NONE or run.rules.wait_ns == 0:
        return NEVER
    return moment(run.waiting.since[head] + run.rules.wait_ns, RANK.services)


@routine
def advance_to(run: Service, until: int) -> int:
    """Refuse who has waited too long before a moment; what went wrong, `FINE` = nothing."""
    counters, waiting = run.state.counters, run.waiting
    due = cycle_of(until) if rank_of(until) <= RANK.services else cycle_of(until) + 1
    while counters[STOP.fault] == FINE and head_gives_up(run, due):
        too_long = waiting.since[waiting.counters[HEAD]] + run.rules.wait_ns
        waiting.counters[NOW] = max(waiting.counters[NOW], min(too_long, due))
        give_up(run)
    return counters[STOP.fault]


@routine
def ask_row(run: Service, row: int, time: int) -> int:
    """Ask a request of the table at a time; it, which is the ticket, or `REFUSED`."""
    waiting, state = run.waiting, run.state
    over = row < 0 or row >= waiting.counters[ROWS] or time < waiting.counters[NOW] or time > LAST_CYCLE
    if over or waiting.since[row] != NONE:
        return REFUSED
    named = run.columns.names[row]
    if named >= 0 and waiting.line_of[named] == NONE:
        return REFUSED
    if advance_to(run, moment(time, RANK.pool_requests)) != FINE:
        return REFUSED
    waiting.counters[NOW] = waiting.since[row] = time
    take(run, row, time)
    while state.counters[STOP.fault] == FINE and head_gives_up(run, time):
        give_up(run)
    return row if state.counters[STOP.fault] == FINE else REFUSED


@routine
def end_waits(run: Service) -> int:
    """Refuse who waits, and close what was never asked; how many answers there are."""
    end(run)
    return run.waiting.counters[ANSWERED]


class Request(NamedTuple):
    """A request of the table, asked at a time in nanoseconds."""

    cycle: int
    row: int


class Piece(NamedTuple):
    """A part of a region whose addresses follow each other; -1 = the driver counts bytes."""

    address: int
    bytes: int
    physical: int


class Answer(NamedTuple):
    """What came of a request, when its application has the answer."""

    ticket: int
    time: int
    outcome: str
    card: int
    identifier: int
    bytes: int
    waited: int
    pieces: tuple[Piece, ...]
    """Of what was granted, as it lay when it was."""


class Move(NamedTuple):
    """A region was brought to another card, by the ticket of its allocation."""

    ticket: int
    left: int
    to: int
    time: int
    identifier: int


class Asked(Stepped):
    """A pool, and what it has answered."""

    def __init__(self, setup: Setup, seed: int, spare: int = 0) -> None:
        case, requests, count = Pool().given(setup, seed), None, 0
        if setup.workload is not None:
            requests = reclaimed(setup.workload.pool_requests(case.machine, case.streams))
            count = requests.time.size
        super().__init__(new_pool(setup, seed, 4 * (count + spare)), {Request: ("ask_row",)}, sys.modules[__name__])
        self.requests, self.case = self.part.run.requests, case
        self.answers, self.moves_seen, self._rules = list[Answer](), 0, case.slots.cache.rules()
        if requests is not None:
            for own, column in zip(self.requests, requests):
                own[:count] = column
            for row in np.stack(columns_of(requests, case.slots.cache)[1:], axis=1).tolist():
                self.called("append_row", *row)

    def call(self, name: str, *numbers: int) -> int:
        """Call a routine, and take what it answered before later events change the arrays."""
        result = super().call(name, *numbers)
        counters = self.lent.waiting.counters
        rows = self.lent.waiting.answers[: counters[ANSWERED]].tolist()
        self.answers += [self._answer(row) for row in rows if row < counters[ROWS]]
        counters[ANSWERED] = 0
        return result

    def _answer(self, row: int) -> Answer:
        now, waiting = self.lent.state, self.lent.waiting
        line = int(waiting.line_of[row])
        outcome, taken = int(now.outcome[line]), int(now.taken[line])
        (time,) = answered(self.case.options, now.outcome[line : line + 1], now.done[line : line + 1]).tolist()
        where = int(now.card[line]), int(now.identifier[line])
        pieces = self._pieces(int(now.block[line])) if outcome <= STITCHED else ()
        return Answer(row, time, OUTCOMES[outcome], *where, taken, int(waiting.waited[line]), pieces)

    def _pieces(self, block: int) -> tuple[Piece, ...]:
        pieces, now = list[Piece](), self.lent.state
        nodes, driver = now.blocks.nodes.reshape(-1, FIELDS), now.driver
        while block != NONE:
            address, origin = int(nodes[block, size_index.ADDRESS]), int(nodes[block, ORIGIN])
            inside = address - int(nodes[origin, size_index.ADDRESS])
            physical = int(driver.start[origin]) * driver.granule + inside if driver.granule else -1
            pieces.append(Piece(address, int(nodes[block, SIZE]), physical))
            block = int(now.piece[block])
        return tuple(pieces)


def append(state: Asked, card: int = 0, size: int = 0, frees: int | None = None) -> int:
    """Add a request to the table: bytes for an application on a card, or the free of what another request got."""
    rules, row = state._rules, int(state.lent.waiting.counters[ROWS])
    rounded = -(-size // rules.granule) * rules.granule
    need = in_class(rounded, rules.classes) if rules.classes else rounded
    for name, value in (("card", card), ("bytes", size), ("action", int(frees is not None)), ("handle", row)):
        getattr(state.requests, name)[row] = value
    return state.called("append_row", card, size, need, NONE if frees is None else frees)


def finished(state: Asked) -> list[Answer]:
    """What was answered since the last call, each once; its time may lie ahead."""
    answers, state.answers = state.answers, []
    return answers


def moved(state: Asked) -> list[Move]:
    """The moves since the last call."""
    count, row_of = int(state.lent.state.counters[COUNT.moves]), state.lent.waiting.row_of
    assert count <= len(state.lent.state.moves), "there is room for them"
    new, state.moves_seen = state.lent.state.moves[state.moves_seen : count].tolist(), count
    return [Move(int(row_of[move[REGION]]), move[LEFT], move[TO], move[BEGIN], move[ADDRESS]) for move in new]


def record_of(state: Any) -> PoolRecord:
    """What a pool has answered so far, as the engine has it."""
    own = state.part
    waiting, now = own.play.waiting, own.play.state
    lines = int(min(waiting.counters[LINE], waiting.counters[ROWS]))
    waiting = waiting._replace(
        requests=Columns(*(column[:lines] for column in waiting.requests)),
        row_of=waiting.row_of[:lines],
        waited=waiting.waited[:lines],
    )
    by_line = ("outcome", "card", "identifier", "taken", "done", "mappings")
    now = now._replace(**{name: getattr(now, name)[:lines] for name in by_line})
    record: PoolRecord = own.engine.record(own.run, own.play._replace(waiting=waiting, state=now))
    return record
