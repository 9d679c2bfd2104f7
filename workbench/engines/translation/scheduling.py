"""What may happen when: the kinds of events, their order at equal cycles, and how one is entered (spec 4, T1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import apart, kernel
from workbench.engines.kit import numbered
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.registers import CORE, KEY, ORDINAL
from workbench.engines.translation.state import MISS, Run
from workbench.structures import agenda as at

_RANKS: Any = tuple(np.int64(rank) for rank in range(5))
ENDS, ANSWERS, NEWS, REQUESTS, ISSUES = _RANKS
"""Ranks at equal cycles: ends of walks; answers and fills; news and shoot-downs; requests; issues."""
CORES = 1 << 12
"""More than there are cores: the order of an event is its rank times this, and its core."""
FIRST_OF_CORE: Any = np.int64(-1)
NOBODY: Any = np.int64(-1)
EMPTY: Any = np.int64(-1)


class Kinds(NamedTuple):
    """What an event is; those that travel are handled where they arrive."""

    walk_ends: int
    answer: int
    refusal: int
    copy: int
    news: int
    news_to_all: int
    shoot_down: int
    acknowledgement: int
    ballast: int
    """A message that only keeps links busy: what it says is known at once."""
    directory: int
    departure: int
    peer: int
    peer_port: int
    centre: int
    cluster: int
    shared: int
    shared_port: int
    walkers: int
    wake: int


KIND = numbered(Kinds)


@kernel
def order_of(rank: int, core: int) -> int:
    """Return the order of an event at its cycle, before page and row."""
    return rank * CORES + core


@apart
def schedule(run: Run, cycle: int, now: int, kind: int, rank: int, core: int, key: int, row: int, subject: int) -> int:
    """Enter an event that does not travel; return its place."""
    agenda = run.state.agenda
    place = at.take_place(agenda)
    events, here = agenda.events, place * at.EVENT
    events[here + at.CYCLE], events[here + at.ORDER] = cycle, order_of(rank, core)
    events[here + at.KEY], events[here + at.BY_ROW] = key, row
    events[here + at.WHAT], events[here + at.SUBJECT], events[here + at.PAGE] = kind, subject, NOBODY
    events[here + at.HERE], events[here + at.GOAL], events[here + at.NOTE] = NOBODY, NOBODY, 0
    at.enter(agenda, place, now)
    return place


@apart
def schedule_miss(run: Run, cycle: int, now: int, kind: int, rank: int, miss: int) -> None:
    """Let an event of a miss come: kept in hand, where nothing is, as it is likely to be the next of all."""
    counters, row = run.state.counters, miss * MISS
    if counters[COUNT.hand_kind] == EMPTY:
        counters[COUNT.hand_kind], counters[COUNT.hand_cycle], counters[COUNT.hand_miss] = kind, cycle, miss
        counters[COUNT.hand_order] = order_of(rank, run.state.misses[row + CORE])
    else:
        _enter_miss(run, cycle, now, kind, order_of(rank, run.state.misses[row + CORE]), miss)


@kernel
def _enter_miss(run: Run, cycle: int, now: int, kind: int, order: int, miss: int) -> None:
    """Enter an event of a miss."""
    agenda, row = run.state.agenda, miss * MISS
    place = at.take_place(agenda)
    events, here = agenda.events, place * at.EVENT
    events[here + at.CYCLE], events[here + at.ORDER] = cycle, order
    events[here + at.KEY], events[here + at.BY_ROW] = run.state.misses[row + KEY], run.state.misses[row + ORDINAL]
    events[here + at.WHAT], events[here + at.SUBJECT] = kind, miss
    events[here + at.HERE], events[here + at.GOAL] = NOBODY, NOBODY
    at.enter(agenda, place, now)


@kernel
def holds_event(run: Run) -> bool:
    """Return whether an event is in hand."""
    return bool(run.state.counters[COUNT.hand_kind] != EMPTY)


@kernel
def event_precedes(run: Run, cycle: int, order: int) -> bool:
    """Return whether the next event comes before an issue of a cycle and an order; one in hand that is not is entered.

    `cycle` is a cycle after all others where nothing will be issued any more.
    """
    if holds_event(run):
        if _is_first(run, cycle, order):
            return True
        _put_down(run)
    agenda = run.state.agenda
    soonest = agenda.counters[at.SOONEST]
    if soonest != cycle or cycle == at.NEVER:
        return bool(soonest < cycle)
    return bool(at.first_order(agenda) <= order)


@kernel
def _is_first(run: Run, cycle: int, order: int) -> bool:
    """Return whether the event in hand precedes all others, and an issue."""
    counters, agenda = run.state.counters, run.state.agenda
    own, soonest = counters[COUNT.hand_cycle], agenda.counters[at.SOONEST]
    if own > cycle or (own == cycle and counters[COUNT.hand_order] > order) or own > soonest:
        return False
    return bool(own < soonest) or bool(counters[COUNT.hand_order] < at.first_order(agenda))


@apart
def _put_down(run: Run) -> None:
    """Enter the event in hand after all."""
    counters = run.state.counters
    kind, cycle, order = counters[COUNT.hand_kind], counters[COUNT.hand_cycle], counters[COUNT.hand_order]
    counters[COUNT.hand_kind] = EMPTY
    _enter_miss(run, cycle, counters[COUNT.now], kind, order, counters[COUNT.hand_miss])


@kernel
def wake(run: Run, core: int, cycle: int, now: int) -> None:
    """Let a core that waits go on at a cycle, before its later rows."""
    schedule(run, cycle, now, KIND.wake, ISSUES, core, FIRST_OF_CORE, FIRST_OF_CORE, core)
