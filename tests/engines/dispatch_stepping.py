"""A dispatcher's part driven as a calendar would: asked for each group at its cycle, moved on in bites of any size."""

from __future__ import annotations

import heapq
import random
import sys
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from tests.engines import stepping
from tests.engines.dispatch_cases import Case
from tests.engines.stepping import Stepped, ask, next_event
from tests.oracles import dispatch as slow
from workbench.compiled import entry_point
from workbench.engines.dispatch import part as routines
from workbench.engines.dispatch import prepare
from workbench.engines.dispatch.channels import CANCELLED, ENDED, GRANTED, VERDICTS
from workbench.engines.dispatch.part import next_moment
from workbench.engines.dispatch.part import take_next as take
from workbench.engines.dispatch.state import COUNT, Play
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import RANK
from workbench.engines.node.parts import new_dispatcher
from workbench.records.dispatch import DispatchRecord
from workbench.structures.timetable import NEVER

BITES = (0, 0, 0, 1, 2, 5, 40)
"""Cycles from the next event, or the next group, to the end of a bite."""


@entry_point
def advance_to(play: Play, until: int) -> int:
    """Take every event that precedes a moment, while its answers have room; how many answers there are to be taken."""
    counters = play.state.counters
    while counters[STOP.fault] == FINE and next_moment(play) < until:
        if counters[COUNT.answered] > play.rules.most_answers or counters[COUNT.verdicts] > VERDICTS:
            break
        take(play)
    return counters[COUNT.answered]


class Request(NamedTuple):
    """A group of the table that joins the queue of its channel."""

    cycle: int
    group: int


class End(NamedTuple):
    """The end of a group, or sub-group, that was granted and stays, by the number of its dispatch."""

    cycle: int
    dispatch: int


class Cancel(NamedTuple):
    """A group that shall wait no longer: it leaves its queue now, with all its parts that wait."""

    cycle: int
    group: int


class Told(NamedTuple):
    """A group, the ticket, began on a module, ended, or left its queue; of a sub-group its first wave is named."""

    ticket: int
    cycle: int
    module: int
    dispatch: int
    waves: int
    ended: bool
    wave: int = -1
    cancelled: bool = False


class Asked(Stepped):
    """A dispatcher, and what it has answered."""

    def __init__(self, part: Any) -> None:
        asked = {Request: ("ask_group",), End: ("ask_end",), Cancel: ("ask_cancel_range",)}
        super().__init__(part, asked, routines, sys.modules[__name__])
        self.unread = list[list[int]]()

    def numbers(self, request: Any) -> list[int]:
        return [request.group, request.group] if isinstance(request, Cancel) else super().numbers(request)

    def keep(self) -> None:
        """Take the answers out of the state, so that there is room for others."""
        self.unread += self.lent.state.answers[: self.lent.state.counters[COUNT.answered]].tolist()
        self.called("forget_answers")


def part_of(case: Case, record: DispatchRecord | None = None, **more: Any) -> Asked:
    """A part of a case whose groups end after their durations, with room for the logs of a record."""
    logs = record and {"takes": record.takes.shape[0], "failures": record.failures.shape[0]}
    with mock.patch.object(prepare, "MOST_TRIES", slow.TRIES):
        return Asked(
            new_dispatcher(case.setup(), case.seed, logs=logs, **{"ends_on_request": 0, "tells_all": 0, **more})
        )


def advance(part: Asked, until: tuple[int, int]) -> None:
    """Let everything happen that precedes a cycle and a rank, both exclusive; until `(NEVER, 0)` all that will."""
    stepping.advance(part, until)
    while next_event(part) < until:  # its answers had no more room
        part.keep()
        stepping.advance(part, until)


def take_next(part: Asked) -> None:
    """Let the next event happen and no other, if there is one; a round is one event."""
    part.keep()
    part.call("take_next")


def finished(part: Asked) -> list[Told]:
    """What began, ended and left since the last call, in the order in which it happened."""
    part.keep()
    rows, part.unread = part.unread, []
    return [
        Told(group, cycle, module, dispatch, waves, kind == ENDED, wave, kind == CANCELLED)
        for kind, group, cycle, module, dispatch, wave, waves in rows
        if kind in (GRANTED, ENDED, CANCELLED)
    ]


def record_of(part: Any) -> DispatchRecord:
    """What has happened so far, as the engine has it; who was not put forward has arrival -1."""
    record: DispatchRecord = part.engine.record(part.run, part.play)
    return record


def stepped(case: Case, part: Asked, seed: int) -> list[Told]:
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


def _ask_at_its_cycle(case: Case, part: Asked, row: int) -> None:
    arrival = case.rows[row].arrival
    advance(part, (arrival, RANK.steps))
    assert ask(part, Request(arrival, row)) == row


def decided(case: Case, part: Asked, stays: list[int], ahead: bool) -> list[Told]:
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


def assert_one_event(part: Asked, at: tuple[int, int], told: list[Told]) -> None:
    """What was told came of one event: of a release at most one end, of a round no more grants than it may."""
    ends, begins = ([one for one in told if one.ended is ended] for ended in (True, False))
    assert all(one.cycle == at[0] for one in told)
    if at[1] == RANK.releases:
        assert not begins and len(ends) <= 1
    else:
        assert not ends and len(begins) <= part.lent.rules.dispatches_a_round


def differing(one: DispatchRecord, other: DispatchRecord) -> list[str]:
    """The fields in which two records differ."""
    return [k for k in one._fields if not np.array_equal(getattr(one, k), getattr(other, k))]


def assert_same_record(part: Asked, record: DispatchRecord, *besides: str) -> None:
    result = [name for name in differing(record_of(part.part), record) if name not in besides]
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
