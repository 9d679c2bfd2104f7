"""A dispatcher's part driven as a calendar would: asked for each group at its cycle, moved on in bites of any size."""

from __future__ import annotations

import heapq
import random
from typing import Any
from unittest import mock

import numpy as np

from tests.engines.dispatch_cases import Case
from tests.oracles import dispatch as slow
from workbench.engines.dispatch import prepare
from workbench.engines.dispatch.part import (
    NEVER,
    End,
    Part,
    Request,
    Told,
    advance,
    ask,
    finished,
    new_part,
    next_event,
    record_of,
    take_next,
)
from workbench.engines.kit.order import RANK
from workbench.records.dispatch import DispatchRecord

BITES = (0, 0, 0, 1, 2, 5, 40)
"""Cycles from the next event, or the next group, to the end of a bite."""


def part_of(case: Case, record: DispatchRecord | None = None, **more: Any) -> Part:
    """A part of a case, with room for the logs of a record."""
    logs = record and {"takes": record.takes.shape[0], "failures": record.failures.shape[0]}
    with mock.patch.object(prepare, "MOST_TRIES", slow.TRIES):
        return new_part(case.setup(), case.seed, logs=logs, **more)


def stepped(case: Case, part: Part, seed: int) -> list[Told]:
    """Ask each group at its cycle and move on in random bites until nothing happens any more."""
    chance, told = random.Random(seed), list[Told]()
    rows = sorted(range(len(case.rows)), key=lambda row: case.rows[row].arrival)
    while rows or next_event(part)[0] != NEVER:
        soonest = min([next_event(part)[0], *(case.rows[row].arrival for row in rows[:1])])
        until = (soonest + chance.choice(BITES), chance.randrange(RANK.rounds + 2))
        while rows and (case.rows[rows[0]].arrival, RANK.steps) < until:
            _ask_at_its_cycle(case, part, rows.pop(0))
        advance(part, until)
        assert next_event(part) >= until
        told += finished(part)
    return told


def _ask_at_its_cycle(case: Case, part: Part, row: int) -> None:
    arrival = case.rows[row].arrival
    advance(part, (arrival, RANK.steps))
    assert ask(part, Request(arrival, row)) == row


def decided(case: Case, part: Part, stays: list[int], ahead: bool) -> list[Told]:
    """Take event by event, and ask every end: `stays` cycles after the grant of each group; either as soon as its grant
    is known or at its cycle."""
    told, ends = list[Told](), list[tuple[int, int]]()
    rows = sorted(range(len(case.rows)), key=lambda row: case.rows[row].arrival)
    while rows or ends or next_event(part)[0] != NEVER:
        comes = [(case.rows[row].arrival, RANK.steps) for row in rows[:1]]
        ripe = [(cycle, RANK.ends_of_compute) for cycle, _ in ends[:1]]
        until = min([next_event(part), *comes, *ripe])
        if until in ripe:
            ask(part, End(*heapq.heappop(ends)))
        elif until in comes:
            _ask_at_its_cycle(case, part, rows.pop(0))
        else:
            take_next(part)
        new = finished(part)
        assert_one_event(part, until, new)
        told += new
        for began in (one for one in new if not one.ended):
            end = (began.cycle + stays[began.ticket], began.dispatch)
            if ahead:
                ask(part, End(*end))
            else:
                heapq.heappush(ends, end)
    return told


def assert_one_event(part: Part, at: tuple[int, int], told: list[Told]) -> None:
    """What was told came of one event: of a release at most one end, of a round no more grants than it may."""
    ends, begins = ([one for one in told if one.ended is ended] for ended in (True, False))
    assert all(one.cycle == at[0] for one in told)
    if at[1] == RANK.releases:
        assert not begins and len(ends) <= 1
    else:
        assert not ends and len(begins) <= part.play.rules.dispatches_a_round


def differing(one: DispatchRecord, other: DispatchRecord) -> list[str]:
    """The fields in which two records differ."""
    return [k for k in one._fields if not np.array_equal(getattr(one, k), getattr(other, k))]


def assert_same_record(part: Part, record: DispatchRecord, *besides: str) -> None:
    result = [name for name in differing(record_of(part), record) if name not in besides]
    assert not result, result


def assert_told(told: list[Told], record: DispatchRecord, stays: np.ndarray) -> None:
    """Every dispatch of a record was told to begin and to end, when and where it did."""
    rows = range(record.group.size)
    begun = [(*_where(record, row), False) for row in rows]
    ended = [(*_where(record, row, int(stays[record.group[row]])), True) for row in rows]
    assert sorted(one._replace(wave=-1) for one in told) == sorted(Told(*one) for one in [*begun, *ended])
    assert_every_wave_once(told, record)
    assert [one.cycle for one in told] == sorted(one.cycle for one in told)


def _where(record: DispatchRecord, row: int, later: int = 0) -> tuple[int, int, int, int, int]:
    waves = int(record.sent[row].sum())
    return int(record.group[row]), int(record.cycle[row]) + later, int(record.module[row]), row, waves


def assert_every_wave_once(told: list[Told], record: DispatchRecord) -> None:
    """Groups that are granted as they came have all waves; of those that were split each sub-group has its own."""
    granted: dict[int, list[int]] = {}
    for one in (one for one in told if not one.ended):
        first = max(one.wave, 0)
        granted.setdefault(one.ticket, []).extend(range(first, first + one.waves))
        assert one.wave >= 0 or one.waves == record.waves[one.ticket]
    assert all(sorted(waves) == list(range(record.waves[group])) for group, waves in granted.items())
