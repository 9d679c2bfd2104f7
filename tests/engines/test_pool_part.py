"""The pool as a part of a larger simulation: asked one by one it does as a whole run (spec 6, R2, R9, R17)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from tests.engines.pool_cases import Case, crowd, line
from tests.engines.pool_stepping import Answer, Asked, Move, Piece, Request, append, finished, moved, record_of
from tests.engines.stepping import REFUSED, advance, ask, next_event
from tests.engines.test_pool import EACH, LARGE, MIB, RING, cases, scaled
from tests.engines.test_pool_vectors import Ghost
from tests.engines.test_pool_waiting import WAIT, crowded
from tests.slow import examples, thinned
from workbench.compiled import INTERPRETED
from workbench.engines.kit import RANK
from workbench.engines.pool import Pool
from workbench.engines.pool.state import NOW, ROWS
from workbench.errors import PolicyError
from workbench.machine import Board, Card
from workbench.policies import placement
from workbench.policies.pool import MigrateBack, Stitching
from workbench.records.pool import PoolRecord, was_asked
from workbench.structures.timetable import NEVER


class ClockGoesBack(Exception):
    """An application goes on before another asked or was refused: a trace's clock leaves out what the service takes,
    that of a node does not."""


class Clients:
    """Applications that ask one thing after another, each as late as it has waited, and all that they are told."""

    def __init__(self, state: Asked) -> None:
        apps = state.requests.app[: state.lent.waiting.counters[ROWS]].tolist()
        self.state, self.late = state, dict.fromkeys(apps, 0)
        self.left = {app: [row for row, its in enumerate(apps) if its == app] for app in self.late}
        self.idle, self.answers = set(self.late), list[Answer]()

    def due(self) -> tuple[int, int]:
        """When who asks next does so, and which row."""
        asks = [self.left[app][0] for app in self.idle if self.left[app]]
        times = [(int(self.state.requests.time[row]) + self.late[self.app(row)], row) for row in asks]
        return min(times, default=(NEVER, -1))

    def ask(self) -> None:
        """Ask what is due."""
        time, row = self.due()
        if time < self.state.lent.waiting.counters[NOW]:
            raise ClockGoesBack
        self.idle.remove(self.app(row))
        self.left[self.app(row)].pop(0)
        assert ask(self.state, Request(time, row)) == row

    def listen(self) -> None:
        for answer in finished(self.state):
            self.late[self.app(answer.ticket)] += answer.waited
            self.idle.add(self.app(answer.ticket))
            self.answers.append(answer)

    def app(self, row: int) -> int:
        return int(self.state.requests.app[row])


def stepped(case: Case, chance: random.Random) -> tuple[PoolRecord, list[Answer], list[Move]]:
    """A part whose clients ask when the applications of the workload would, with bites of time between."""
    state = Asked(case.setup(), case.seed)
    clients, moves = Clients(state), list[Move]()
    while True:
        time, row = clients.due()
        when, rank = next_event(state)
        if when < time:
            if chance.random() < 0.5:
                advance(state, (when, rank))
            advance(state, (when, rank + 1))
            if sum(answer.outcome == "refused" for answer in state.answers) > 1:
                raise ClockGoesBack  # all of one moment are refused before an application of one of them goes on
        elif row >= 0:
            if chance.random() < 0.3:
                advance(state, (time, chance.randrange(RANK.pool_requests + 1)))
            clients.ask()
        else:
            break
        clients.listen()
        moves += moved(state)
    state.call("end_waits")
    clients.listen()
    return record_of(state), clients.answers, moves + moved(state)


def assert_as_the_engine(case: Case, seed: int) -> None:
    expected = case.simulate()
    result, answers, moves = stepped(case, random.Random(seed))
    asked = was_asked(expected)  # when an application would have asked the rest is its own affair
    for name, column in result._replace(time=np.where(asked, result.time, expected.time))._asdict().items():
        np.testing.assert_array_equal(column, getattr(expected, name), err_msg=name)
    assert [answer.time for answer in answers] == expected.answered.tolist()
    assert [answer.identifier for answer in answers] == expected.identifier.tolist()
    assert [sum(piece.bytes for piece in answer.pieces) for answer in answers] == [
        taken if outcome <= 2 else 0 for taken, outcome in zip(expected.taken, expected.outcome, strict=True)
    ]
    assert [(it.left, it.to, it.time) for it in moves] == [(it[2], it[3], it[7]) for it in expected.moves.tolist()]


@pytest.mark.slow
@examples(12, 400)
@given(cases(), st.integers(0, 1 << 20))
def test_a_part_that_is_asked_one_by_one_does_as_a_whole_run(case, seed):
    assert_as_the_engine(case, seed)


@pytest.mark.slow
@settings(max_examples=10 if INTERPRETED else 40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(crowded(), st.integers(0, 1 << 20))
def test_also_where_requests_wait(case, seed):
    try:
        assert_as_the_engine(case, seed)
    except ClockGoesBack:
        reject()


@pytest.mark.parametrize(
    ("slot", "policy"), thinned([pytest.param(*case) for case in EACH], 4), ids=lambda it: getattr(it, "name", it)
)
def test_under_every_policy(slot, policy):
    factor = MIB // 2 if policy.name in LARGE else 1
    options = {"driver_granule": factor, "ipc_ns": 3, "driver_alloc_ns": 50}
    assert_as_the_engine(Case(crowd(11, 3, 60, 110 * factor), scaled(RING, factor), {slot: policy}, options), 5)


def small(options: dict[str, Any] | None = None, spare: int = 9, board: Board | None = None, **policies: Any) -> Asked:
    """A card of 100 bytes, of which nothing has been asked."""
    board = board or Board(cards=(Card(id="gpu0", memory_bytes=100),), links=())
    return Asked(Case([], board, policies, options or {}).setup(), 1, spare)


def told(state: Asked) -> list[tuple[int, int, str]]:
    return [(answer.ticket, answer.time, answer.outcome) for answer in finished(state)]


def test_an_answer_is_known_at_once_and_lies_ahead_of_the_service():
    """The service takes one thing after another; what is asked at 10 is begun when what was asked at 0 is done."""
    state = small({"service_ns": 30, "driver_alloc_ns": 5})
    for time in (0, 10):
        ask(state, Request(time, append(state, size=40)))
    assert told(state) == [(0, 35, "physical"), (1, 70, "physical")] and finished(state) == []
    assert next_event(state) == (NEVER, 0)


def test_who_waits_too_long_is_refused_when_nobody_came_before():
    state = small({**WAIT, "wait_limit_ns": 50})
    ask(state, Request(0, append(state, size=60)))
    ask(state, Request(10, append(state, size=60)))
    assert told(state) == [(0, 0, "physical")]
    assert next_event(state) == (60, RANK.services)
    advance(state, next_event(state))
    assert told(state) == []
    advance(state, (60, RANK.services + 1))
    assert told(state) == [(1, 60, "refused")]
    late = Request(55, append(state, size=40))
    assert ask(state, late) == REFUSED, "it is 60 ns, and time does not go back"


def test_who_waits_is_granted_by_a_release_in_the_last_nanosecond():
    state = small({**WAIT, "wait_limit_ns": 50})
    first = ask(state, Request(0, append(state, size=60)))
    ask(state, Request(10, append(state, size=60)))
    ask(state, Request(60, append(state, frees=first)))
    assert told(state) == [(0, 0, "physical"), (2, 60, "released"), (1, 60, "cached")]


def test_who_came_first_is_refused_and_the_next_is_tried_at_once():
    state = small({**WAIT, "wait_limit_ns": 50})
    for time, size in ((0, 60), (10, 60), (20, 30)):
        ask(state, Request(time, append(state, size=size)))
    advance(state, (60, RANK.services + 1))
    assert told(state) == [(0, 0, "physical"), (1, 60, "refused"), (2, 60, "physical")]


def test_who_has_waited_too_long_when_the_service_is_free_again_is_told_at_once():
    state = small({**WAIT, "wait_order": "any_that_fits", "wait_limit_ns": 50, "driver_alloc_ns": 100})
    for time, size in ((0, 60), (10, 60), (20, 30)):
        ask(state, Request(time, append(state, size=size)))
    assert told(state) == [(0, 100, "physical"), (2, 200, "physical"), (1, 200, "refused")]
    assert next_event(state) == (NEVER, 0)


def test_one_application_may_ask_while_another_of_its_requests_waits():
    state = small({**WAIT, "wait_order": "any_that_fits"})
    for size in (60, 60, 30):
        ask(state, Request(0, append(state, size=size)))
    assert told(state) == [(0, 0, "physical"), (2, 0, "physical")]
    state.call("end_waits")
    assert [it for it in told(state) if it[0] == 1] == [(1, 0, "refused")]


def test_a_death_is_a_release_of_each_region_that_its_application_has():
    death = [(0, 0, 0, 0, 1, 30), (1, 0, 0, 0, 2, 30), (2, 0, 0, 1, 1, 0), (3, 0, 0, 0, 3, 30), (4, 0, 0, 2, 0, 0)]
    state = Asked(Case(death, line(100)).setup(), 1)
    for time, row in enumerate((0, 1, 2, 3, 4, 5)):
        ask(state, Request(time, row))
    assert [it[2] for it in told(state)] == ["physical", "physical", "released", "cached", "released", "released"]


def test_pieces_lie_where_the_driver_put_them():
    """Of runs of granules the physical byte is known; a cached part of one lies inside it."""
    state = small({"driver_granule": 8}, driver=placement.LastFit())
    first = ask(state, Request(0, append(state, size=40)))
    ask(state, Request(1, append(state, frees=first)))
    ask(state, Request(2, append(state, size=16)))
    ask(state, Request(3, append(state, size=24)))
    assert [answer.pieces for answer in finished(state)] == [
        (Piece(0, 40, 56),),
        (),
        (Piece(0, 16, 56),),
        (Piece(16, 24, 72),),
    ]


def test_a_stitched_region_has_several_pieces():
    board = Board(cards=(Card(id="gpu0", memory_bytes=16 * MIB),), links=())
    state = small(board=board, cache=Stitching(least_piece=MIB, chunk=MIB))
    regions = [ask(state, Request(0, append(state, size=4 * MIB))) for _ in range(4)]
    for region in (0, 2):
        ask(state, Request(1, append(state, frees=regions[region])))
    ask(state, Request(2, append(state, size=8 * MIB)))
    answer = finished(state)[-1]
    assert (answer.outcome, answer.bytes) == ("stitched", 8 * MIB)
    assert sorted(answer.pieces) == [Piece(0, 4 * MIB, -1), Piece(8 * MIB, 4 * MIB, -1)]


def test_moves_are_told_once():
    state = small(board=line(100, 100), residency=MigrateBack(), options={"driver_alloc_ns": 7})
    one, other = (ask(state, Request(0, append(state, size=60))) for _ in range(2))
    assert moved(state) == []
    ask(state, Request(50, append(state, frees=one)))
    (move,) = moved(state)
    assert move._replace(identifier=0) == Move(ticket=other, left=1, to=0, time=50, identifier=0)
    assert moved(state) == []


@pytest.mark.parametrize(
    "asked",
    [
        [Request(9, 0), Request(8, 1)],
        [Request(9, 5)],
        [Request(9, 0), Request(9, 0)],
        [Request(9, 2)],
        [Request(1 << 56, 0)],
    ],
    ids=["in the past", "no such request", "asked before", "frees what is not answered", "too late"],
)
def test_what_cannot_be_asked_for_is_refused(asked):
    state = small()
    append(state, size=40), append(state, size=40), append(state, frees=1)
    for request in asked[:-1]:
        ask(state, request)
    assert ask(state, asked[-1]) == REFUSED


def test_the_table_is_full_in_the_end():
    state = small(spare=1)
    assert [append(state, size=size) for size in (1, 2, 3, 4)] == [0, 1, 2, 3]
    assert state.called("append_row", 0, 1, 1, -1) == REFUSED


def test_a_fault_of_a_users_policy_is_named_as_in_the_engine():
    case = Case([(0, 0, 0, 0, 1, 30), (5, 0, 0, 1, 1, 0), (7, 0, 0, 0, 2, 30)], line(100), {"idle_release": Ghost()})
    with pytest.raises(PolicyError) as expected:
        Pool().simulate(case.setup(), case.seed)
    state = Asked(case.setup(), case.seed)
    ask(state, Request(0, 0))
    with pytest.raises(PolicyError) as result:
        ask(state, Request(5, 1))
    assert str(result.value) == str(expected.value)
