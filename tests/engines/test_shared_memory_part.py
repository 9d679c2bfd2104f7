"""The engine `shared_memory` as a part: stepped by others it does as in a whole run, and its ends may be asked."""

from __future__ import annotations

import heapq
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.depth import deeper, long_where_compiled
from tests.engines.dispatch_policies import PLACEMENTS, ROUND
from tests.engines.dispatch_users import MiddleFirst
from tests.engines.test_dispatch_refusals import Anywhere, Nowhere
from tests.engines.test_shared_memory import Fixed, Memory
from workbench.compiled import bound
from workbench.engines.engine import Setup
from workbench.engines.kit.order import RANK, moment
from workbench.engines.shared_memory import (
    NEVER,
    End,
    Part,
    Request,
    SharedMemory,
    SharedMemoryOptions,
    Told,
    advance,
    ask,
    finished,
    new_part,
    next_event,
    record_of,
)
from workbench.engines.shared_memory_part_api import REFUSED, advance_to, ask_end, ask_workgroup, next_moment
from workbench.errors import InputError, PolicyError
from workbench.policies.catalogue import load_all
from workbench.policies.placement import Compaction, FirstFit
from workbench.policies.placement.queueing import AfterKCycles, FifoHeadOnly, FifoLookahead, NextCycle, OnRelease
from workbench.policies.policy import policies

EVERY = [*PLACEMENTS, *ROUND["placement"], Compaction(), Compaction(cycles_per_moved_segment=3), MiddleFirst()]
QUEUES = [FifoHeadOnly(), FifoLookahead(k=1), FifoLookahead(k=3)]
RETRIES = [NextCycle(), AfterKCycles(k=3), OnRelease()]
BITES = (0, 0, 0, 1, 2, 5, 40)
Rows = list[tuple[int, int, int]]


def drawn(seed: int, count: int = 30) -> Rows:
    """More workgroups than there is room for; arrival, length, duration."""
    chance = random.Random(seed)
    arrivals = sorted(chance.choice([0, chance.randint(0, 90)]) for _ in range(count))
    return [(arrival, chance.randint(1, 9), chance.randint(1, 25)) for arrival in arrivals]


def setup_of(rows: Rows, placement: Any = None, queue: Any = None, retry: Any = None, **options: Any) -> Setup:
    chosen = {"placement": placement or FirstFit(), "queue": queue or FifoHeadOnly(), "retry": retry or NextCycle()}
    return Setup("shared_memory", Memory(segments=16), Fixed(rows), chosen, SharedMemoryOptions(**options))


def joins(setup: Setup) -> int:
    """The rank before which a workgroup is asked: where grants come before releases, before them."""
    return 0 if setup.options.same_cycle_order == "allocate_first" else RANK.steps


def stepped(setup: Setup, part: Part, seed: int) -> list[Told]:
    """Ask each workgroup at its cycle and move on in random bites until nothing happens any more."""
    chance, told, rows = random.Random(seed), list[Told](), list(enumerate(setup.workload.rows))
    while rows or next_event(part)[0] != NEVER:
        soonest = min([next_event(part)[0], *(row[0] for _, row in rows[:1])])
        until = (soonest + chance.choice(BITES), chance.randrange(RANK.rounds + 2))
        while rows and (rows[0][1][0], joins(setup)) < until:
            row, (arrival, *_) = rows.pop(0)
            advance(part, (arrival, joins(setup)))
            assert ask(part, Request(arrival, row)) == row
        advance(part, until)
        assert next_event(part) >= until
        told += finished(part)
    return told


def decided(setup: Setup, part: Part, stays: list[int], ahead: bool) -> list[Told]:
    """Take event by event, and ask every end so many cycles after a start: at once, or at its cycle."""
    told, ends, rows = list[Told](), list[tuple[int, int, int]](), list(enumerate(setup.workload.rows))
    while rows or ends or next_event(part)[0] != NEVER:
        comes = [(row[0], joins(setup)) for _, row in rows[:1]]
        ripe = [(cycle, 0) for cycle, *_ in ends[:1]]
        until = min([next_event(part), *comes, *ripe])
        if until in ripe:
            cycle, _, row = heapq.heappop(ends)
            ask(part, End(cycle, row))
        elif until in comes:
            row, (arrival, *_) = rows.pop(0)
            ask(part, Request(arrival, row))
        else:
            advance(part, (until[0], until[1] + 1))
        new = finished(part)
        for one in (one for one in new if not one.ended):
            if ahead:
                ask(part, End(one.start + stays[one.ticket], one.ticket))
            else:
                heapq.heappush(ends, (one.start + stays[one.ticket], len(told), one.ticket))
            told.append(one)
        told += [one for one in new if one.ended]
    return told


def part_of(setup: Setup, record: Any = None, **more: Any) -> Part:
    logs = record and {"moves": record.moves.shape[0], "refusals": record.refusals.shape[0]}
    return new_part(setup, seed=1, logs=logs, **more)


def assert_same_record(part: Part, record: Any) -> None:
    result = record_of(part)
    differing = [k for k in record._fields if not np.array_equal(getattr(result, k), getattr(record, k))]
    assert not differing, differing


def assert_told(told: list[Told], record: Any) -> None:
    """Every workgroup was told to be granted and to end when it was; where it lay moves if live ranges do."""
    rows = range(record.grant.size)
    expected = [(row, int(record.grant[row]), False) for row in rows]
    expected += [(row, int(record.release[row]), True) for row in rows]
    assert sorted((one.ticket, one.cycle, one.ended) for one in told) == sorted(expected)
    assert {(one.ticket, one.start) for one in told} == set(enumerate(record.start.tolist()))


def assert_the_same(setup: Setup) -> None:
    """Known ends in bites; asked ends, ahead and at their cycles."""
    record = SharedMemory().simulate(setup, seed=1, events=True)
    part = part_of(setup, record)
    assert_told(stepped(setup, part, seed=int(record.attempts)), record)
    assert_same_record(part, record)
    stays = (record.release - record.start).tolist()
    part = part_of(setup, record, ends="asked")
    assert_told(decided(setup, part, stays, ahead=bool(record.attempts % 2)), record)
    assert_same_record(part, record)


@pytest.mark.parametrize("placement", EVERY, ids=lambda policy: policy.short())
def test_a_part_that_is_asked_row_by_row_does_as_a_whole_run(placement: Any) -> None:
    seed = len(placement.short())
    assert_the_same(setup_of(drawn(seed), placement, QUEUES[seed % 3], latency_cycles=seed % 2))


@pytest.mark.parametrize("retry", RETRIES, ids=lambda policy: policy.short())
@pytest.mark.parametrize("queue", QUEUES, ids=lambda policy: policy.short())
def test_queues_and_retries(queue: Any, retry: Any) -> None:
    for order in ("release_first", "allocate_first"):
        assert_the_same(setup_of(drawn(5), None, queue, retry, same_cycle_order=order, allocs_per_cycle=2))


ROW = st.tuples(st.integers(0, 30) | st.just(0), st.integers(1, 16), st.integers(1, 9) | st.integers(1, 60))


@deeper(25, 500)
@given(
    st.lists(ROW, max_size=12),
    st.sampled_from(EVERY[:4]),
    st.sampled_from(QUEUES),
    st.sampled_from(RETRIES),
    st.sampled_from(["release_first", "allocate_first"]),
    st.integers(1, 3),
    st.integers(0, 4),
)
def test_any_queue(rows: Rows, placement: Any, queue: Any, retry: Any, order: str, grants: int, latency: int) -> None:
    options = {"same_cycle_order": order, "allocs_per_cycle": grants, "latency_cycles": latency}
    assert_the_same(setup_of(sorted(rows, key=lambda row: row[0]), placement, queue, retry, **options))


def test_every_registered_placement_is_stepped() -> None:
    load_all()
    listed = {placement.name for placement in EVERY}
    assert {name for name, policy in policies("placement").items() if policy.built_in} <= listed


def test_ends_that_are_later_than_the_durations() -> None:
    chance = random.Random(3)
    for seed in range(4):
        rows = drawn(seed)
        stays = [duration + chance.choice([0, 1, 30, 2000]) for *_, duration in rows]
        longer = [(arrival, length, n) for (arrival, length, _), n in zip(rows, stays, strict=True)]
        retry = RETRIES[seed % 3]
        record = SharedMemory().simulate(setup_of(longer, None, QUEUES[1], retry), seed=1, events=True)
        setup = setup_of(rows, None, QUEUES[1], retry)
        part = part_of(setup, record, ends="asked")
        assert_told(decided(setup, part, stays, ahead=bool(seed % 2)), record)
        assert_same_record(part, record)


def test_an_end_that_is_asked_behind_the_attempt_of_its_cycle() -> None:
    part = part_of(setup_of([(0, 16, 3), (0, 16, 3)]), ends="asked")
    ask(part, Request(0, 0))
    ask(part, Request(0, 1))
    advance(part, (9, 0))
    assert next_event(part) == (NEVER, 0)
    ask(part, End(9, 0))
    assert next_event(part) == (9, RANK.releases)
    advance(part, (NEVER, 0))
    assert [(one.ticket, one.cycle) for one in finished(part)] == [(0, 0), (0, 9), (1, 9)]


@long_where_compiled
def test_routines_that_a_compiled_calendar_calls_by_address() -> None:
    setup = setup_of(drawn(2), None, QUEUES[1])
    record = SharedMemory().simulate(setup, seed=1, events=True)
    part = part_of(setup, record)
    comes, go, put = (bound(routine, part.play) for routine in (next_moment, advance_to, ask_workgroup))
    for row, (arrival, *_) in enumerate(setup.workload.rows):
        go(moment(arrival, RANK.steps))
        assert [put(row, arrival), put(row, arrival)] == [row, REFUSED]
    while comes() != NEVER:
        go(comes() + 1)
    assert go(NEVER) == 2 * record.grant.size
    assert_same_record(part, record)
    part = part_of(setup, ends="asked")
    go, put, end = (bound(routine, part.play) for routine in (advance_to, ask_workgroup, ask_end))
    put(0, 0)
    assert go(NEVER) == 1
    assert [end(0, 1 << 20), end(0, 1 << 20), go(NEVER)] == [0, REFUSED, 2]


def test_what_may_not_be_asked() -> None:
    part = part_of(setup_of([(0, 4, 20)] * 5), ends="asked")
    ask(part, Request(7, 0))
    ask(part, Request(30, 1))
    advance(part, (8, 0))
    for request, sentence in (
        (Request(6, 2), "a request is for cycle 6; it is cycle 7, and time does not go back."),
        (Request(9, 0), "workgroup 0 joined before, at cycle 7."),
        (Request(9, 5), "a request is for workgroup 5; the table has workgroups 0 to 4."),
        (Request(9, 3), "workgroup 3 is to join at cycle 9, but the last of the queue joins at 30."),
        (End(40, 1), "an end is asked of workgroup 1, which was not granted."),
        (End(40, -1), "an end is asked of workgroup -1, which was not granted."),
        (End(26, 0), "workgroup 0 is to end at cycle 26, but it runs until cycle 27."),
        (End(6, 0), "a request is for cycle 6; it is cycle 7, and time does not go back."),
    ):
        refuse(part, request, sentence)
    ask(part, End(27, 0))
    refuse(part, End(28, 0), "the end of workgroup 0 was asked before, for cycle 27.")
    known = part_of(setup_of([(0, 4, 20)]))
    refuse(
        known,
        End(3, 0),
        "an end is asked of a part whose workgroups end after their durations; make it with ends='asked'.",
    )


def refuse(part: Part, request: Any, sentence: str) -> None:
    with pytest.raises(InputError) as wrong:
        ask(part, request)
    assert str(wrong.value) == sentence


@pytest.mark.parametrize("placement", [Anywhere(), Nowhere()], ids=lambda policy: policy.name)
def test_a_wrong_answer_is_named_as_in_the_engine(placement: Any) -> None:
    setup = setup_of(drawn(1), placement)
    with pytest.raises(PolicyError) as wrong:
        SharedMemory().simulate(setup, seed=1)
    with pytest.raises(PolicyError) as same:
        stepped(setup, part_of(setup), seed=1)
    assert str(same.value) == str(wrong.value)
