"""What may happen when: the kinds of events, their order at equal cycles, and how one is entered (spec 4, T1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import apart, kernel
from workbench.engines.kit import numbered
from workbench.engines.translation.registers import CORE, KEY, ORDINAL
from workbench.engines.translation.state import MISS, Run
from workbench.structures import agenda as at

ENDS, ANSWERS, NEWS, REQUESTS, ISSUES = range(5)
"""Ranks at equal cycles: ends of walks; answers and fills; news and shoot-downs; requests; issues."""
CORES = 1 << 12
"""More than there are cores: the order of an event is its rank times this, and its core."""
FIRST_OF_CORE: Any = np.int64(-1)
NOBODY: Any = np.int64(-1)


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


@kernel
def schedule_miss(run: Run, cycle: int, now: int, kind: int, rank: int, miss: int) -> None:
    """Enter an event of a miss."""
    misses, row = run.state.misses, miss * MISS
    schedule(run, cycle, now, kind, rank, misses[row + CORE], misses[row + KEY], misses[row + ORDINAL], miss)


@kernel
def wake(run: Run, core: int, cycle: int, now: int) -> None:
    """Let a core that waits go on at a cycle, before its later rows."""
    schedule(run, cycle, now, KIND.wake, ISSUES, core, FIRST_OF_CORE, FIRST_OF_CORE, core)
