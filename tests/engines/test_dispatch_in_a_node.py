"""The dispatcher's part under a node's load does as that of the node's twin (spec 6, E2, R15, R16, N1-N12)."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.engines.dispatch_cases import Case, Row
from tests.engines.dispatch_in_a_node import Played, Twin, drawn_plan
from tests.engines.dispatch_policies import EVERY
from tests.engines.dispatch_stepping import (
    Asked,
    Cancel,
    End,
    Request,
    Told,
    advance,
    finished,
    part_of,
    record_of,
    take_next,
)
from tests.engines.stepping import REFUSED, ask, next_event
from tests.engines.test_dispatch import crowded
from tests.slow import compiled_only, thinned
from workbench.compiled.memory_access import call, entry_of
from workbench.engines.dispatch import part as routines
from workbench.engines.dispatch.channels import CANCELLED, CYCLE, DISPATCH, ENDED, GRANTED, KIND, TICKET
from workbench.engines.kit.order import RANK, moment
from workbench.policies.dispatch import Backfill, LeastRecentEnergy, SplitWhenStuck
from workbench.structures.timetable import NEVER

CHOICES = ("first_module", "balanced", "least_energy", "affinity")


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("seed", range(37))
def test_it_says_what_the_twin_says(seed: int, choice: str) -> None:
    plan = drawn_plan(seed, choice)
    assert Played(plan, alone=not seed % 2, live=bool(seed // 2 % 2)).run() == Twin(plan).run()


def test_the_plans_hold_what_they_are_for() -> None:
    """Groups are split, cancelled before and after that, dispatched wave by wave, and rounds fail."""
    kinds = Counter[tuple[str, bool]]()
    for seed in range(16):
        kinds.update((message[1], message[3] >= 0) for message in Played(drawn_plan(seed, "affinity")).run())
    wanted = [("left", False), ("left", True), ("dispatch", True), ("held", True), ("split", False)]
    assert min(kinds[one] for one in [*wanted, ("round_failed", False)]) > 1, kinds


def test_what_was_entered_makes_room_once_it_is_over() -> None:
    """A window of 16 cycles reaches far less than all that is entered; what it reaches stays."""
    plan = drawn_plan(4, "least_energy")._replace(window=16)
    played = Played(plan, entries=60)
    assert played.run() == Twin(plan).run()
    assert played.entered > 3 * 60


QUEUES = [pytest.param(slot, policy) for slot in ("stuck", "selection") for policy in EVERY[slot]]


@pytest.mark.parametrize(("slot", "policy"), thinned(QUEUES, 4))
def test_every_wave_is_dispatched_or_cancelled_once(slot: str, policy: Any) -> None:
    """Whatever stands in a channel: a head, groups looked ahead at, sub-groups; cancelled alone or with others."""
    case, random = crowded(3, policies={slot: policy}), Random(policy.short())
    rows = [row._replace(channel=k % 2, independent=k % 3 > 0) for k, row in enumerate(case.rows)]
    part = part_of(Case(**{**vars(case), "rows": rows}), tells_all=1)
    told, comes = list[Told](), sorted(range(len(rows)), key=lambda row: rows[row].arrival)
    while comes or next_event(part)[0] != NEVER:
        if comes and (rows[comes[0]].arrival, RANK.steps) < next_event(part):
            ask(part, Request(rows[comes[0]].arrival, comes.pop(0)))
        else:
            at = next_event(part)[0]
            told += cancelled(part, random, len(rows), at)
            take_next(part)
            assert next_event(part) >= (at, 0)
        told += finished(part)
    assert_every_wave(told, [row.waves for row in rows])
    assert any(one.cancelled for one in told)
    assert not waiting(part)


def cancelled(part: Asked, random: Random, groups: int, cycle: int) -> list[Told]:
    """Cancel a group, or some in a row, now and then; what left and is told is what the routines say."""
    told = finished(part)
    if random.random() < 0.8:
        return told
    group = random.randrange(groups)
    left = part.called("ask_cancel_range", group, min(group + random.choice([0, 1]), groups - 1), cycle)
    gone = finished(part)
    assert [one.cancelled for one in gone] == [True] * left
    assert all(one.cycle == cycle and one.module == one.dispatch == -1 for one in gone)
    assert ask(part, Cancel(cycle, group)) == 0, "nothing of it waits any more"
    return told + gone


def assert_every_wave(told: list[Told], waves: list[int]) -> None:
    """Each wave of each group began once or left once; what began has ended."""
    gone = [one for one in told if not one.ended]
    every = [(one.ticket, wave) for one in gone for wave in range(max(one.wave, 0), max(one.wave, 0) + one.waves)]
    assert sorted(every) == [(group, wave) for group, count in enumerate(waves) for wave in range(count)]
    began = sorted(one.dispatch for one in gone if not one.cancelled)
    assert began == sorted(one.dispatch for one in told if one.ended)


def waiting(part: Asked) -> int:
    """Return how many entries stand in the channels."""
    state = part.lent.state
    return int(state.offered.sum()) + int((state.upcoming >= 0).sum())


def three_in_a_row() -> Asked:
    """One module with room for one group at a time, and three that wait for it; the first has it."""
    part = part_of(Case([Row(duration=50, waves=2, need={"shared": 16})] * 5), ends_on_request=1)
    for group in range(4):
        ask(part, Request(2, group))
    advance(part, (4, 0))
    assert [one.ticket for one in finished(part)] == [0]
    return part


@pytest.mark.parametrize("gone", [(1,), (2,), (3,), (1, 2), (2, 3), (3, 1), (1, 2, 3)])
def test_whoever_is_left_goes_in_order(gone: tuple[int, ...]) -> None:
    """The head leaves, or one behind it, or the last; who joins afterwards stands behind them."""
    part = three_in_a_row()
    assert [ask(part, Cancel(9, group)) for group in gone] == [1] * len(gone)
    left = [(one.ticket, one.cycle, one.waves, one.module) for one in finished(part) if one.cancelled]
    assert left == [(group, 9, 2, -1) for group in gone]
    ask(part, Request(9, 4))
    assert served(part) == [0, *(group for group in (1, 2, 3) if group not in gone), 4]


def served(part: Asked) -> list[int]:
    """End one group after another; return who had the module."""
    order, dispatch, cycle = [0], 0, 100
    while True:
        ask(part, End(cycle, dispatch))
        advance(part, (cycle + 9, 0))
        began = [one for one in finished(part) if not one.ended]
        if not began:
            return order
        order.append(began[0].ticket)
        dispatch, cycle = began[0].dispatch, cycle + 100


def test_failed_rounds_are_counted_up_to_a_cancellation() -> None:
    """A head waits from cycle 3 on; it leaves at 9, whose round nobody waits for any more."""
    part = three_in_a_row()
    for group in (1, 2, 3):
        ask(part, Cancel(9, group))
    advance(part, (20, 0))
    counters = part.lent.state.counters
    assert next_event(part) == (NEVER, 0)
    assert record_of(part.part).failed_rounds == 9 - 3, counters


def test_what_may_not_be_cancelled() -> None:
    part = three_in_a_row()
    ask(part, Request(30, 4))
    assert ask(part, Cancel(1, 1)) == REFUSED, "it is cycle 3"
    assert [ask(part, Cancel(9, group)) for group in (5, -1, 0)] == [0, 0, 0], "no such groups; it runs"
    assert ask(part, Cancel(9, 4)) == 1, "one that has not come yet may leave, too"
    assert ask(part, Cancel(9, 4)) == 0
    assert finished(part)[0].cancelled
    other = part_of(Case([Row()]))
    ask(other, Request(2, 0))
    assert ask(other, Cancel(9, 0)) == REFUSED, "something happens before, at cycle 2"
    assert ask(other, Cancel(2, 0)) == 1


def test_one_event_and_no_other() -> None:
    """Two groups come at one cycle to two modules, two end at one: a round, two releases, a round that is none."""
    case = Case([Row(duration=4)] * 2, modules=2, options={"dispatches_a_round": 2})
    part, seen = part_of(case), list[tuple[tuple[int, int], list[tuple[int, bool]]]]()
    for group in (0, 1):
        ask(part, Request(7, group))
    while (comes := next_event(part))[0] != NEVER:
        take_next(part)
        seen.append((comes, [(one.ticket, one.ended) for one in finished(part)]))
    assert seen[:3] == [
        ((7, RANK.rounds), [(0, False), (1, False)]),
        ((11, RANK.releases), [(0, True)]),
        ((11, RANK.releases), [(1, True)]),
    ]
    assert all(told == [] for _, told in seen[3:])
    take_next(part)
    assert finished(part) == []


def test_it_stops_while_its_answers_have_no_room() -> None:
    """A part that may keep the answers of one event alone tells the same as one that may keep all."""
    case = crowded(7, options={"dispatches_a_round": 2})
    parts = part_of(case), part_of(case)
    play = parts[1].lent
    parts[1].part.kept.renew(play._replace(rules=play.rules._replace(most_answers=0)))
    for row in sorted(range(len(case.rows)), key=lambda row: case.rows[row].arrival):
        for part in parts:
            ask(part, Request(case.rows[row].arrival, row))
    assert parts[1].called("advance_to", NEVER) <= 2
    assert next_event(parts[1])[0] < NEVER
    for part in parts:
        advance(part, (NEVER, 0))
    every, bit_by_bit = (finished(part) for part in parts)
    assert every == bit_by_bit
    assert len(every) == 2 * len(case.rows)


def test_who_left_behind_a_look_ahead_does_not_come_back_with_a_split() -> None:
    """Group 1 is split while 2 is looked at ahead of its turn; 3, which stood behind them, has left before."""
    stuck = Backfill(depth=1, upstream=SplitWhenStuck(threshold=5))
    rows = [Row(duration=90, waves=2, independent=True, need={"shared": 16})] * 5
    part = part_of(Case(rows, policies={"stuck": stuck}))
    for group in range(5):
        ask(part, Request(0, group))
    advance(part, (3, 0))
    assert ask(part, Cancel(3, 3)) == 1
    advance(part, (NEVER, 0))
    told = finished(part)
    assert [one.ticket for one in told if one.cancelled] == [3]
    assert [(one.ticket, one.wave) for one in told if not one.cancelled and not one.ended] == [
        *((group, wave) for group in (0,) for wave in (-1,)),
        *((group, wave) for group in (1, 2, 4) for wave in (0, 1)),
    ]


def test_what_is_live_alone_does_not_grow_with_the_table() -> None:
    sizes = []
    for count in (200, 2000):
        case = Case([Row(duration=3, need={"shared": 4})] * count, modules=2)
        part = part_of(case, ends_on_request=1, tells_all=1, entries=4096, live=True)
        arrays = [array for array in part.lent.state if hasattr(array, "nbytes")]
        sizes.append(sum(array.nbytes for array in arrays))
    assert sizes[0] == sizes[1]


def test_numbers_of_dispatches_are_used_again() -> None:
    part = part_of(Case([Row(duration=3, need={"shared": 16})] * 300), live=True)
    for group in range(300):
        ask(part, Request(0, group))
    advance(part, (NEVER, 0))
    told = finished(part)
    assert [one.ticket for one in told if one.ended] == list(range(300))
    assert max(one.dispatch for one in told) < 8


@pytest.mark.slow
@compiled_only
def test_a_calendar_calls_all_of_it_by_address() -> None:
    part = part_of(Case([Row(need={"shared": 16})] * 3, policies={"choice": LeastRecentEnergy()}), entries=4096)
    lent = part.part.kept
    names = (
        "ask_group",
        "next_moment",
        "take_next",
        "answer_of",
        "forget_answers",
        "ask_cancel_range",
        "enter_history",
    )
    group, comes, take, answer, forget, cancel, enter = (entry_of(getattr(routines, name), lent) for name in names)
    assert [call(*group, (k, 4)) for k in range(3)] == [0, 1, 2]
    assert call(*enter, (0, 5, 1, 2, 9)) == 0
    assert call(*comes, ()) == moment(4, RANK.rounds)
    assert call(*cancel, (1, 1, 4)) == 1
    assert call(*take, ()) == 2
    assert [call(*answer, (at, field)) for at in range(2) for field in (KIND, TICKET)] == [CANCELLED, 1, GRANTED, 0]
    assert call(*forget, ()) == 0
    assert call(*take, ()) == 1
    assert [call(*answer, (0, field)) for field in (KIND, CYCLE, DISPATCH)] == [ENDED, 5, 0]
    assert [call(*cancel, (1, 1, 4)), call(*enter, (9, 0, 0, 0, 1))] == [REFUSED] * 2
