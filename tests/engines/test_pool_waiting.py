"""Requests that wait for memory: the worked example by hand, what is decided, and the slow twin (spec 5, E16)."""

from __future__ import annotations

import random
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.pool_cases import Case, Row, assert_same, line
from tests.engines.test_pool import EVERY, LARGE, assert_lawful
from tests.engines.test_pool_vectors import Ghost
from tests.oracles.pool_waiting import WaitingService
from tests.slow import examples
from workbench.engines.pool import Pool
from workbench.errors import InputError, PolicyError
from workbench.machine import Board, Card
from workbench.metrics.pool import measure
from workbench.policies.pool import BestFit, LimitedFit, ManagedMemory, NoCache, SplitAndCoalesce, WeightedCards
from workbench.records.pool import OUTCOMES, PoolRecord, events

ALLOC, FREE, DIE = 0, 1, 2
WAIT = {"when_full": "wait"}


def one_card(rows: list[Row], size: int = 100, **options: Any) -> PoolRecord:
    return assert_same(Case(rows, Board(cards=(Card(id="gpu0", memory_bytes=size),), links=()), {}, WAIT | options))


def served(record: PoolRecord) -> list[tuple[Any, ...]]:
    """Of each request in the order of serving: application, handle, when asked, what came of it, when, how long it
    waited."""
    columns = (record.app, record.handle, record.time, record.outcome, record.done, record.waited)
    return [(a, h, t, OUTCOMES[o], d, w) for a, h, t, o, d, w in zip(*(it.tolist() for it in columns), strict=True)]


TWO = [
    (0, 0, 0, ALLOC, 1, 60),
    (10, 1, 0, ALLOC, 1, 60),
    (20, 1, 0, ALLOC, 2, 10),
    (25, 0, 0, ALLOC, 2, 30),
    (30, 0, 0, FREE, 1, 0),
    (35, 1, 0, FREE, 2, 0),
    (50, 0, 0, FREE, 2, 0),
    (90, 1, 0, FREE, 1, 0),
]
"""Two applications on a card of 100 bytes: 1 has to wait for 60; what 0 asks then, 30, would fit."""
BEGIN = [(0, 1, 0, "physical", 0, 0)]


def test_e16_who_fits_goes_before_who_waits():
    """1 waits from 10 to 30, so all that it asks later comes 20 later."""
    assert served(one_card(TWO, wait_order="any_that_fits")) == [
        *BEGIN,
        (0, 2, 25, "physical", 25, 0),
        (0, 1, 30, "released", 30, 0),
        (1, 1, 10, "cached", 30, 20),
        (1, 2, 40, "physical", 40, 0),
        (0, 2, 50, "released", 50, 0),
        (1, 2, 55, "released", 55, 0),
        (1, 1, 110, "released", 110, 0),
    ]


def test_e16_who_came_first_blocks_those_behind():
    """0, which alone could make room, waits behind 1: both wait for ever, and what they had in mind is never asked."""
    record = one_card(TWO)
    assert served(record) == [
        *BEGIN,
        (1, 1, 10, "refused", 25, 15),
        (0, 2, 25, "refused", 25, 0),
        (1, 2, 20, "never_asked", 25, 0),
        (0, 1, 30, "never_asked", 25, 0),
        (1, 2, 35, "never_asked", 25, 0),
        (0, 2, 50, "never_asked", 25, 0),
        (1, 1, 90, "never_asked", 25, 0),
    ]
    assert record.allocation.tolist() == [0, 1, 2, 3, 0, 3, 2, 1]
    measures = measure(record)
    assert (measures["completed_rate"], measures["never_asked_rate"], measures["waited_rate"]) == (1 / 4, 5 / 8, 0)
    assert measures["latency_mean_ns"] == (0 + 15 + 0) / 3, "what is never asked has no latency"
    assert events(record)["kind"].tolist() == ["grant", "refuse", "refuse"]


def test_e16_who_waited_too_long_is_refused_and_those_behind_are_tried():
    """1 is refused at 22, before 0 asks; its clock is 12 late from then on, and its free of what it never got too."""
    record = one_card(TWO, wait_limit_ns=12)
    assert served(record) == [
        *BEGIN,
        (1, 1, 10, "refused", 22, 12),
        (0, 2, 25, "physical", 25, 0),
        (0, 1, 30, "released", 30, 0),
        (1, 2, 32, "cached", 32, 0),
        (1, 2, 47, "released", 47, 0),
        (0, 2, 50, "released", 50, 0),
        (1, 1, 102, "free_of_refused", 102, 0),
    ]
    measures = measure(record)
    assert (measures["waited_rate"], measures["waited_in_vain_rate"], measures["wait_mean_ns"]) == (0, 1 / 4, 12)


def test_e16_who_waits_behind_one_that_gives_up_is_tried_at_once():
    rows = [(0, 0, 0, ALLOC, 1, 60), (10, 1, 0, ALLOC, 1, 60), (15, 2, 0, ALLOC, 1, 30), (99, 0, 0, FREE, 1, 0)]
    assert served(one_card(rows, wait_limit_ns=12))[1:3] == [
        (1, 1, 10, "refused", 22, 12),
        (2, 1, 15, "physical", 22, 7),
    ]


def test_e16_what_asks_after_a_free_of_a_dead_application():
    """All regions of an application that dies go back, one after another; each time who waits is tried."""
    rows = [(0, 0, 0, ALLOC, 1, 50), (1, 0, 0, ALLOC, 2, 50), (2, 1, 0, ALLOC, 1, 50), (3, 2, 0, ALLOC, 1, 50)]
    result = served(one_card([*rows, (9, 0, 0, DIE, 0, 0)]))
    assert [it[:2] + it[3:] for it in result[2:]] == [
        (0, 1, "released", 9, 0),
        (1, 1, "cached", 9, 7),
        (0, 2, "released", 9, 0),
        (2, 1, "cached", 9, 6),
    ]


def test_e16_who_waits_dies_as_late_as_it_asks():
    rows = [(0, 0, 0, ALLOC, 1, 60), (1, 1, 0, ALLOC, 1, 60), (5, 1, 0, DIE, 0, 0), (9, 0, 0, FREE, 1, 0)]
    assert served(one_card(rows))[-1] == (1, 1, 13, "released", 13, 0)


def test_e16_the_service_works_on_a_request_once():
    """3 ns a request, 10 a driver call: the wait begins when the service has found nothing, and ends at the grant."""
    rows = [(0, 0, 0, ALLOC, 1, 60), (0, 1, 0, ALLOC, 1, 60), (50, 0, 0, FREE, 1, 0)]
    board = Board(cards=(Card(id="gpu0", memory_bytes=100),), links=())
    case = Case(rows, board, {"cache": NoCache()}, {**WAIT, "ipc_ns": 3, "driver_alloc_ns": 10, "driver_free_ns": 10})
    assert served(assert_same(case)) == [
        (0, 1, 0, "physical", 13, 0),
        (0, 1, 50, "released", 63, 0),
        (1, 1, 0, "physical", 73, 73 - 16),
    ]


@pytest.mark.parametrize("order", ["first_come", "any_that_fits"])
def test_e16_what_the_chosen_card_misjudged_does_not_wait(order):
    """By the sum of its cached bytes card 0 has room for 35, but no single region: a wrong choice, not want of room."""
    rows = [(0, 0, 0, ALLOC, 1, 20), (1, 0, 0, ALLOC, 2, 20), (2, 0, 0, ALLOC, 3, 30), (3, 0, 0, FREE, 1, 0)]
    rows += [(4, 0, 0, FREE, 2, 0), (5, 0, 0, ALLOC, 4, 35), (6, 0, 0, FREE, 3, 0)]
    sums = {**WAIT, "wait_order": order, "free_metric": "sum_cached_or_physical"}
    assert served(assert_same(Case(rows, line(70, 70), {}, sums)))[5] == (0, 4, 5, "misjudged", 5, 0)
    literal = {"target": WeightedCards(filtered=False)}
    rows = [(0, 0, 0, ALLOC, 1, 60), (1, 0, 0, ALLOC, 2, 60), (2, 0, 0, ALLOC, 3, 60), (3, 0, 0, FREE, 1, 0)]
    assert served(assert_same(Case(rows, line(70, 70), literal, {**WAIT, "wait_order": order})))[2][3] == "misjudged"


def test_e16_who_waits_is_tried_when_a_card_gives_back_what_it_had_cached():
    """Card 1 has 30, 30 and 30 cached and 10 at its driver: nothing for a guest, until its own newcomer flushes it."""
    rows = [(0, 0, 0, ALLOC, 1, 100), *((1, 1, 1, ALLOC, k, 30) for k in range(3))]
    rows += [*((2, 1, 1, FREE, k, 0) for k in range(3)), (3, 2, 0, ALLOC, 1, 60), (9, 1, 1, ALLOC, 4, 40)]
    flushes = {"cache": SplitAndCoalesce(flush_before_remote=True)}
    record = assert_same(Case(rows, line(100, 100), flushes, {**WAIT, "wait_order": "any_that_fits"}))
    assert served(record)[7:] == [(1, 4, 9, "physical", 9, 0), (2, 1, 3, "physical", 9, 6)]
    assert record.card[7:].tolist() == [1, 1]


def test_e16_a_rest_that_a_grant_leaves_cached_is_no_reason_to_try():
    """81 cached bytes are too many for 12; 69 of them are granted at 4, the 12 that are left at the next release."""
    rows = [(0, 0, 0, ALLOC, 1, 81), (1, 1, 0, ALLOC, 1, 19), (2, 0, 0, FREE, 1, 0), (3, 2, 0, ALLOC, 1, 12)]
    rows += [(4, 3, 0, ALLOC, 1, 69), (9, 1, 0, FREE, 1, 0)]
    board, fit = Board(cards=(Card(id="gpu0", memory_bytes=100),), links=()), {"cache_fit": LimitedFit(waste=0.25)}
    record = assert_same(Case(rows, board, fit, {**WAIT, "wait_order": "any_that_fits"}))
    assert served(record)[3:] == [(3, 1, 4, "cached", 4, 0), (1, 1, 9, "released", 9, 0), (2, 1, 3, "cached", 9, 6)]


def test_a_policy_that_breaks_its_contract_is_named_with_the_request_of_the_trace():
    """The free is the third request, and the second to be served."""
    rows = [(0, 0, 0, ALLOC, 1, 60), (1, 1, 0, ALLOC, 1, 60), (2, 0, 0, FREE, 1, 0)]
    case = Case(rows, Board(cards=(Card(id="gpu0", memory_bytes=100),), links=()), {"idle_release": Ghost()}, WAIT)
    with pytest.raises(PolicyError, match=r"ghost .* at request 2"):
        case.simulate()


def test_with_room_for_all_waiting_changes_nothing():
    """Requests of the same time are served in the order of the trace."""
    rows, board = queues(3, 6, 80, 20), line(10_000, 10_000)
    refuses, waits = (Case(rows, board, {}, options).simulate() for options in ({}, WAIT))
    for name, column in refuses._asdict().items():
        np.testing.assert_array_equal(column, getattr(waits, name), err_msg=name)


def test_who_moves_others_away_does_not_wait():
    case = Case(TWO, line(100, 100), {"residency": ManagedMemory(back=True)}, WAIT)
    for refused in (case.simulate, lambda: Pool().validate(case.setup(), 0)):
        with pytest.raises(InputError, match=r"managed_memory moves others away.* use refuse, or migrate_back"):
            refused()


def queues(seed: int, apps: int, count: int, largest: int) -> list[Row]:
    """Applications that take a few regions one after another and give them back, times often the same."""
    chance = random.Random(seed)
    rows: list[Row] = []
    held: dict[int, list[int]] = {app: [] for app in range(apps)}
    time = 0
    for handle in range(count):
        time += chance.choice([0, 0, 1, 9])
        app = chance.randrange(apps)
        if chance.random() < 0.03:
            rows.append((time, app, app % 2, DIE, 0, 0))
        elif held[app] and chance.random() < 0.2 + 0.3 * len(held[app]):
            rows.append((time, app, app % 2, FREE, held[app].pop(), 0))
        else:
            rows.append((time, app, app % 2, ALLOC, handle, chance.randint(1, largest)))
            held[app].append(handle)
    return rows


@st.composite
def crowded(draw: Any) -> Case:
    """Many applications on two small cards, whatever the policies; half the time they only wait for a while, and a
    third of the time cached memory goes back before a neighbour is asked."""
    chance = random.Random(draw(st.integers(0, 1 << 20)))
    unfit = (*LARGE, "managed_memory", "preferred", "bind")  # the cards of `line` have other names
    policies = {slot: draw(st.sampled_from([it for it in EVERY[slot] if it.name not in unfit])) for slot in EVERY}
    if chance.random() < 1 / 3:
        policies["cache"] = SplitAndCoalesce(flush_before_remote=True)
    options = {
        **WAIT,
        "driver_granule": chance.choice([1, 16]),
        "wait_order": draw(st.sampled_from(["first_come", "any_that_fits"])),
        "wait_limit_ns": draw(st.sampled_from([0, 0, 5, 60])),
        "free_metric": chance.choice(["largest_cached_or_physical"] * 2 + ["sum_cached_or_physical", "sum_all"]),
        "history_window": chance.choice([0, 5]),
        "ipc_ns": chance.choice([0, 0, 3]),
        "driver_alloc_ns": chance.choice([0, 11]),
        "driver_free_ns": chance.choice([0, 7]),
        "zero_gbps": chance.choice([0, 0.5]),
    }
    rows = queues(chance.randrange(1 << 30), draw(st.integers(1, 9)), draw(st.integers(1, 70)), 90)
    return Case(rows, line(100, 120), policies, options, seed=chance.randrange(1 << 20))


@examples(26, 1000)
@given(crowded())
def test_skipping_changes_nothing(case: Case) -> None:
    """Who waits may be tried after every request, whatever came of it. A fit that leaves a block alone which is too
    large is another matter: see the rest above."""
    if case.policies["cache_fit"].name == "limited_fit":
        case.policies["cache_fit"] = BestFit()
    with mock.patch.object(WaitingService, "eager", True):
        assert_same(case)


@examples(13, 200)
@given(crowded())
def test_equals_the_slow_twin(case: Case) -> None:
    record = assert_same(case)
    assert_lawful(record)
    assert (np.diff(record.done) >= 0).all()
    assert (record.waited <= record.done - record.time)[record.outcome < 9].all()
