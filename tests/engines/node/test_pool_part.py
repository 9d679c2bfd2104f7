"""The pool as the node's part beside the twin's pool, and beside the engine `pool` (spec 6, R9, R17, R19)."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from tests.engines import pool_stepping
from tests.engines.node.pool_scripts import MIB, Ask, Play, Script, part_of, played_by_twin, script, setup_of
from tests.engines.pool_cases import Fixed
from tests.engines.pool_cases import Row as Asked
from tests.engines.stepping import advance, ask
from tests.engines.test_pool import EACH
from tests.oracles.node.description import Card, Machine, Policies
from tests.oracles.node.description import Pool as Service
from tests.slow import seeds, thinned
from workbench.engines.kit.order import RANK
from workbench.engines.node.pool_api import class_of
from workbench.engines.node.pool_jobs import COUNT
from workbench.engines.node.pool_part import PoolPart
from workbench.engines.pool import Pool
from workbench.policies.pool import MigrateBack
from workbench.policies.pool.cache import in_class
from workbench.records.pool import PoolRecord
from workbench.structures.timetable import NEVER
from workbench.workloads.pool_requests import ALLOC, FREE

pytestmark = pytest.mark.node


@pytest.mark.parametrize("by_links", [False, True], ids=["local", "links"])
@pytest.mark.parametrize("seed", seeds(7, 53))
def test_says_what_the_twin_says(seed: int, by_links: bool) -> None:
    one = script(seed)
    expected, played = played_by_twin(one, by_links), Play(one, part_of(one, by_links=by_links)).run()
    assert played.rows == expected.rows
    if one.pages != "neutral":
        assert played.runs == expected.runs


def neutral(seed: int, full: str) -> Script:
    """Return a script without couplings: whole nanoseconds, one time for all requests, one run of frames a region."""
    one = script(seed, cards=3)
    service = dataclasses.replace(one.machine.pool, when_full=full, request_ns=33, release_ns=33)
    cards = tuple(dataclasses.replace(card, memory_bytes=4 * card.memory_bytes) for card in one.machine.cards)
    machine = dataclasses.replace(one.machine, pool=service, cards=cards, clock_mhz=1000)
    asks = [ask._replace(size=ask.size * 4) for ask in one.asks]
    return Script(machine, "neutral", one.policies, asks)


def asked(part: PoolPart) -> list[Asked]:
    """Return what the part was asked, as a workload: each region has an application of its own."""
    columns, jobs = part.lent.service.columns, part.lent
    rows = range(int(part.lent.counters[COUNT.next_row]))
    ticket = jobs.ticket_of.tolist()
    action = [FREE if columns.names[row] >= 0 else ALLOC for row in rows]
    return [
        (
            int(jobs.arrived_at[row]),
            ticket[row],
            int(columns.borrower[row]),
            action[row],
            ticket[row],
            int(columns.size[row]),
        )
        for row in rows
    ]


def record_of(part: PoolPart) -> PoolRecord:
    """Return what was served, as the engine `pool` records it: each region has an application of its own."""
    rows, columns = asked(part), part.run.requests
    for name, column in zip(("time", "app", "card", "action", "handle", "bytes"), np.array(rows).T, strict=True):
        getattr(columns, name)[: len(rows)] = column
    columns.time[: len(rows)] = columns.time[: len(rows)] * 1000 // part.lent.rates.clock_mhz
    return pool_stepping.record_of(SimpleNamespace(part=part))


def assert_equal_records(one: PoolRecord, other: PoolRecord) -> None:
    for name in PoolRecord._fields:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("number", thinned(range(len(EACH)), 6), ids=lambda it: f"{EACH[it][0]}-{EACH[it][1].name}")
def test_what_it_is_asked_gives_the_record_of_the_engine(number: int) -> None:
    """R17, for every registered policy: the requests of the node, as a workload of the engine `pool`."""
    slot, policy = EACH[number]
    one = neutral(len(policy.short()), "refuse")
    policies = {"residency": MigrateBack()} | {slot: policy}
    setup = setup_of(one, **policies)
    play = Play(one, part_of(one, setup, release_ns=None))
    play.run()
    record, rows = record_of(play.part), asked(play.part)
    assert len(rows) > len(one.asks)
    assert_equal_records(record, Pool().simulate(setup._replace(workload=Fixed(rows)), 1))


@pytest.mark.parametrize("limit", [0, 700])
@pytest.mark.parametrize("order", ["first_come", "any_that_fits"])
@pytest.mark.parametrize("seed", seeds(3, 9))
def test_who_waits_is_told_when_the_single_part_says(seed: int, order: str, limit: int) -> None:
    """Requests that wait for memory: the engine's own part, asked row by row, answers at the same nanoseconds."""
    one = neutral(seed, "wait")
    options = setup_of(one).options.but(wait_order=order, wait_limit_ns=limit)
    setup = setup_of(one)._replace(options=options)
    play = Play(one, part_of(one, setup, release_ns=None))
    play.run()
    record, rows = record_of(play.part), asked(play.part)
    alone = pool_stepping.Asked(setup._replace(workload=Fixed(rows)), 1)
    for row, (time, *_) in enumerate(rows):
        advance(alone, (time, RANK.pool_requests))
        assert ask(alone, pool_stepping.Request(time, row)) == row
    advance(alone, (NEVER, 0))
    assert_equal_records(record, pool_stepping.record_of(alone))


def test_sizes_in_classes_are_those_of_the_cache() -> None:
    for classes in (1, 3, 4, 8):
        for size in (1, 2, 5, 64, 65, 81, 4096, 5000, 2**31 + 1):
            assert class_of(size, classes) == in_class(size, classes)


def test_who_has_waited_too_long_is_refused_while_the_service_is_busy() -> None:
    """The second waits from 200 on, at most 100 ns; the service takes the third until 350, and refuses it then."""
    card, service = Card(memory_bytes=4 * MIB), Service(when_full="wait", request_ns=100, release_ns=100)
    sizes = [(0, 4 * MIB), (100, 2 * MIB), (250, 2 * MIB), (250, 2 * MIB)]
    asks = [Ask(cycle, 0, size, -1) for cycle, size in sizes]
    one = Script(Machine((card,), (), service), "2m", Policies(), asks)
    options = setup_of(one).options.but(wait_limit_ns=100, wait_order="any_that_fits")
    rows = Play(one, part_of(one, setup_of(one)._replace(options=options))).run().rows
    answers = [(cycle, ticket, values) for cycle, _, _, kind, ticket, values in rows if kind == "answer"]
    refused = (("granted", False),)
    assert answers == [(100, 0, (("granted", True),)), (350, 1, refused), (450, 2, refused), (550, 3, refused)]
