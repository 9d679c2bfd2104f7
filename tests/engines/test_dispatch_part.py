"""The engine `dispatch` as a part: stepped by somebody else it does as in a whole run, and its ends may be asked."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.engines.dispatch_cases import Case, Row
from tests.engines.dispatch_policies import EVERY, ROUND, WARM
from tests.engines.dispatch_stepping import (
    Asked,
    End,
    Request,
    Told,
    advance,
    assert_same_record,
    assert_told,
    decided,
    finished,
    part_of,
    record_of,
    stepped,
)
from tests.engines.dispatch_strategies import cases
from tests.engines.dispatch_users import USERS
from tests.engines.stepping import REFUSED, ask, next_event
from tests.engines.test_dispatch import crowded
from tests.engines.test_dispatch_refusals import WRONG, Nobody
from tests.slow import examples, thinned
from workbench.engines.kit.order import RANK, moment
from workbench.errors import PolicyError
from workbench.machine.power import ClassPower, RcHeat
from workbench.policies.dispatch import Backfill, SplitWhenStuck
from workbench.structures.timetable import NEVER

EACH = [pytest.param(slot, policy) for listed in (EVERY, ROUND) for slot, found in listed.items() for policy in found]
HEATED: dict[str, Any] = {"power": ClassPower(), "heat": RcHeat(step_cycles=4, capacity_j_per_k=1e-9)}


def name_of(value: Any) -> str:
    return value if isinstance(value, str) else str(value.short())


def assert_the_same(case: Case) -> None:
    """Known ends in bites; asked ends, ahead and at their cycles."""
    record = case.engine()
    part = part_of(case, record)
    told = stepped(case, part, seed=len(record.cycle))
    assert_same_record(part, record)
    assert_told(told, record, record.duration)
    ahead = bool(record.cycle.sum() % 2)
    part = part_of(case, record, ends_on_request=1)
    assert_told(decided(case, part, record.duration.tolist(), ahead), record, record.duration)
    assert_same_record(part, record)


@pytest.mark.parametrize(("slot", "policy"), thinned(EACH, 9), ids=name_of)
def test_a_part_that_is_asked_group_by_group_does_as_a_whole_run(slot: str, policy: Any) -> None:
    case = crowded(len(policy.short()), policies={slot: policy}, options={"dispatches_a_round": 2})
    assert_the_same(dataclasses.replace(case, rows=case.rows[:14]))


@pytest.mark.parametrize("options", [{"round_cycles": 3}, {"module_tie": "random", "blocks_on_a_unit": "per_wave"}])
def test_levers_of_the_dispatcher(options: dict[str, Any]) -> None:
    assert_the_same(crowded(3, options=options))


@pytest.mark.parametrize(
    "stuck",
    [SplitWhenStuck(threshold=1), Backfill(depth=3, upstream=SplitWhenStuck(threshold=1, into="halves"))],
    ids=name_of,
)
def test_groups_that_are_asked_behind_sub_groups(stuck: Any) -> None:
    """Whatever of a channel is in front of it: a group, its parts put back into the queue, or nobody."""
    for seed in range(2):
        case = crowded(20 + seed, policies={"stuck": stuck})
        rows = [row._replace(arrival=3 * k, channel=k % 2, independent=True) for k, row in enumerate(case.rows[:16])]
        record = dataclasses.replace(case, rows=rows).engine()
        assert record.splits.size
        part = part_of(case := dataclasses.replace(case, rows=rows), record)
        assert_told(stepped(case, part, seed), record, record.duration)
        assert_same_record(part, record)


def test_what_is_asked_ahead_comes_at_its_cycle() -> None:
    part = part_of(Case([Row(channel=k % 3) for k in range(5)]))
    for group, cycle in ((1, 9), (0, 5), (4, 9), (2, 7), (3, 8)):
        ask(part, Request(cycle, group))
    advance(part, (NEVER, 0))
    begun = [(one.cycle, one.ticket) for one in finished(part) if not one.ended]
    assert begun == [(5, 0), (7, 2), (8, 3), (9, 1), (10, 4)]


def test_temperatures_that_a_choice_reads() -> None:
    assert_the_same(crowded(4, policies={"choice": WARM}, options=HEATED))


@pytest.mark.node
def test_policies_of_a_user() -> None:
    case = crowded(5, policies={**USERS, "probe": EVERY["probe"][0]})
    assert_the_same(dataclasses.replace(case, rows=case.rows[:10]))


@pytest.mark.slow
@examples(6, 150)
@given(cases())
def test_any_dispatcher(case: Case) -> None:
    if case.twin() is not None:
        assert_the_same(case)


def test_ends_that_are_later_than_the_durations() -> None:
    """As if the durations had been longer, where no policy reads what modules have executed."""
    chance = random.Random(7)
    for seed in range(3):
        case = crowded(seed)
        stays = [row.duration + chance.choice([0, 0, 1, 30, 2000]) for row in case.rows]
        longer = [row._replace(duration=n) for row, n in zip(case.rows, stays, strict=True)]
        record = dataclasses.replace(case, rows=longer).engine()
        part = part_of(case, record, ends_on_request=1)
        assert_told(decided(case, part, stays, ahead=bool(seed % 2)), record, record.duration)
        assert_same_record(part, record, "duration")


def test_a_group_executes_no_more_than_it_has() -> None:
    """Who stays after its duration holds its resources and executes nothing; what modules executed is what came."""
    case = crowded(2, policies={"choice": EVERY["choice"][2]})
    part = part_of(case, ends_on_request=1)
    decided(case, part, [row.duration + 500 for row in case.rows], ahead=False)
    record, state, rates = record_of(part.part), part.lent.state, part.lent.columns.rates
    assert rates.any()
    expected = np.zeros_like(state.issued)
    np.add.at(expected, record.module, rates[record.group] * record.duration[record.group, None])
    assert not state.rate.any()
    assert np.array_equal(state.issued, expected)


def four_groups() -> Case:
    """One module with room for two of four groups, each of which computes for 100 cycles."""
    return Case([Row(duration=100, need={"shared": 8})] * 4, options={"dispatches_a_round": 2})


def test_vector_one_of_the_whole_node() -> None:
    """Spec 6, V1: four groups of 100 cycles, two at a time, end at 200."""
    part = part_of(four_groups())
    for group in range(4):
        ask(part, Request(0, group))
    advance(part, (NEVER, 0))
    assert [(one.ticket, one.cycle) for one in finished(part) if one.ended] == [(0, 100), (1, 100), (2, 200), (3, 200)]


def test_vector_two_of_the_whole_node() -> None:
    """Spec 6, V2, one walker: the walks end at 500, 900, 1,300 and 1,700, and so do the groups."""
    part, walker, ends = part_of(four_groups(), ends_on_request=1), 0, list[int]()
    for group in range(4):
        ask(part, Request(0, group))
    while next_event(part)[0] != NEVER:
        cycle, rank = next_event(part)
        advance(part, (cycle, rank + 1))
        for one in finished(part):
            if one.ended:
                ends.append(one.cycle)
            else:
                walker = max(walker, one.cycle + 100) + 400
                ask(part, End(walker, one.dispatch))
    assert ends == [500, 900, 1300, 1700]
    assert record_of(part.part).cycle.tolist() == [0, 0, 500, 900]


def test_what_is_told_and_when() -> None:
    part = part_of(Case([Row(waves=2, duration=7), Row(duration=3)]))
    assert next_event(part) == (NEVER, 0)
    assert ask(part, Request(5, 1)) == 1
    assert next_event(part) == (5, RANK.rounds)
    advance(part, (5, RANK.rounds))
    assert finished(part) == []
    advance(part, (5, RANK.rounds + 1))
    assert finished(part) == [Told(ticket=1, cycle=5, module=0, dispatch=0, waves=1, ended=False)]
    assert ask(part, Request(5, 0)) == 0
    assert next_event(part) == (5, RANK.rounds)
    advance(part, (8, RANK.releases))
    assert finished(part) == [Told(ticket=0, cycle=6, module=0, dispatch=1, waves=2, ended=False)]
    assert next_event(part) == (8, RANK.releases)
    advance(part, (NEVER, 0))
    assert [(one.ticket, one.cycle, one.ended) for one in finished(part)] == [(1, 8, True), (0, 13, True)]
    assert finished(part) == []


def test_a_group_ends_behind_the_round_of_its_cycle() -> None:
    """An event caused at the present cycle with an earlier rank is taken next; the round is not played again."""
    part = part_of(Case([Row(duration=4, need={"shared": 16})] * 2), ends_on_request=1)
    ask(part, Request(0, 0))
    advance(part, (1, 0))
    ask(part, Request(9, 1))
    advance(part, (10, 0))
    assert record_of(part.part).failed_rounds == 1
    ask(part, End(9, 0))
    assert next_event(part) == (9, RANK.releases)
    advance(part, (NEVER, 0))
    assert [(one.ticket, one.cycle) for one in finished(part)] == [(0, 0), (0, 9), (1, 10)]
    assert record_of(part.part).rounds == 3


def test_looking_at_the_next_event_and_advancing_in_vain_change_nothing() -> None:
    case = crowded(6)
    record = case.engine()
    part = part_of(case, record)
    for row in sorted(range(len(case.rows)), key=lambda row: case.rows[row].arrival):
        ask(part, Request(case.rows[row].arrival, row))
    while (comes := next_event(part))[0] != NEVER:
        for until in (comes, (comes[0], 0), (0, 0)):
            advance(part, until)
            assert next_event(part) == comes
        advance(part, (comes[0], comes[1] + 1))
    assert_same_record(part, record)


def calls(part: Asked, *names: str) -> list[Callable[..., int]]:
    return [partial(part.called, name) for name in names]


@pytest.mark.node
def test_routines_that_a_compiled_calendar_calls_by_address() -> None:
    case = crowded(8)
    record = case.engine()
    part = part_of(case, record)
    comes, go, put = calls(part, "next_moment", "advance_to", "ask_group")
    for row in sorted(range(len(case.rows)), key=lambda row: case.rows[row].arrival):
        arrival = case.rows[row].arrival
        go(moment(arrival, RANK.steps))
        assert [put(row, arrival), put(row, arrival)] == [row, REFUSED]
    while comes() != NEVER:
        go(comes() + 1)
    assert go(NEVER) == 2 * record.cycle.size
    assert_same_record(part, record)
    part = part_of(case, ends_on_request=1)
    go, put, end = calls(part, "advance_to", "ask_group", "ask_end")
    put(0, case.rows[0].arrival)
    assert go(NEVER) == 1
    assert [end(0, 1 << 20), end(0, 1 << 20), go(NEVER)] == [0, REFUSED, 2]


def test_what_may_not_be_asked() -> None:
    part = part_of(Case([Row(duration=20)] * 6), ends_on_request=1)
    ask(part, Request(7, 0))
    ask(part, Request(30, 1))
    advance(part, (8, 0))
    for request, why in (
        (Request(6, 2), "it is cycle 7"),
        (Request(9, 0), "put forward before"),
        (Request(9, 6), "there are groups 0 to 5"),
        (Request(9, -1), "there are groups 0 to 5"),
        (Request(9, 3), "the last of its channel joins at 30"),
        (End(40, 1), "there is one dispatch so far"),
        (End(26, 0), "it computes until cycle 27"),
        (End(5, 0), "it is cycle 7"),
    ):
        assert ask(part, request) == REFUSED, why
    assert ask(part, End(27, 0)) == 0
    assert ask(part, End(28, 0)) == REFUSED, "its end was asked before"
    assert ask(part_of(Case([Row()])), End(3, 0)) == REFUSED, "groups end after their durations"


@pytest.mark.parametrize(("slot", "policy", "said"), thinned([pytest.param(*one) for one in WRONG], 4))
def test_a_wrong_answer_is_named_as_in_the_engine(slot: str, policy: Any, said: str) -> None:
    rows = [
        Row(waves=2, need={"vgpr": 4}, duration=30),
        Row(waves=2, need={"vgpr": 4}, duration=30),
        Row(arrival=1, channel=1, waves=2, independent=True, need={"vgpr": 8}, duration=30),
    ]
    assert_same_fault(Case(rows, policies={slot: policy}), said)


def test_who_refuses_for_ever_is_named_once_every_group_was_asked() -> None:
    rows = [Row(arrival=5, duration=10), Row(channel=1, priority=2)]
    assert_same_fault(Case(rows, policies={"selection": Nobody()}), "2 channels wait for ever")


def assert_same_fault(case: Case, said: str) -> None:
    with pytest.raises(PolicyError, match=said) as wrong:
        case.engine()
    with pytest.raises(PolicyError) as same:
        stepped(case, part_of(case), seed=1)
    assert str(same.value) == str(wrong.value)


def test_a_part_waits_while_groups_may_still_be_asked() -> None:
    """A policy that dispatches nothing is at fault only when nobody can come any more."""
    part = part_of(Case([Row(), Row(channel=1)], policies={"selection": Nobody()}))
    ask(part, Request(0, 0))
    advance(part, (1 << 18, 0))
    assert next_event(part)[0] > 1 << 16
    ask(part, Request(1 << 20, 1))
    with pytest.raises(PolicyError, match="2 channels wait for ever"):
        advance(part, (NEVER, 0))
