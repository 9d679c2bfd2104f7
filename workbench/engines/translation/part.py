"""Translation as a part of a larger simulation: its events are taken as far as another clock allows (spec 6, R2).

What translates beside other mechanisms on one calendar asks for accesses itself, when its own events say so; a core
model has no say here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import by_reference, kernel, noinline
from workbench.engines.engine import Setup
from workbench.engines.kit import FINE, STOP, Attempt
from workbench.engines.translation.counters import COUNT, FAULT
from workbench.engines.translation.engine import Translation
from workbench.engines.translation.handling import let_next_happen
from workbench.engines.translation.open_loop import begin, issue_row
from workbench.engines.translation.playing import Play
from workbench.engines.translation.room import has_room
from workbench.engines.translation.scheduling import CORES, ISSUES, event_precedes, next_cycle, next_order, order_of
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import Run
from workbench.engines.translation.trace import no_rows
from workbench.errors import InputError
from workbench.structures import agenda as at
from workbench.workloads.accesses import Accesses

NEVER = at.NEVER
"""The cycle of the next event where there is none."""


class Request(NamedTuple):
    """An access, or an unmapping, that a core asks for."""

    cycle: int
    core: int
    page: int
    unmaps: bool = False


def new_part(setup: Setup, seed: int) -> Play:
    """Return the state of a translation hierarchy in which nothing has happened yet.

    Examples
    --------
    >>> from workbench.engines.translation import Translation, TranslationOptions
    >>> from workbench.machine import TranslationMachine
    >>> from workbench.policies.policy import read_policy
    >>> from workbench.engines.engine import Setup
    >>> slots = {**Translation.slots, "locate": "no_directory", "fill": "demand_always"}
    >>> policies = {slot: read_policy(Translation().question_of(slot), name, slot) for slot, name in slots.items()}
    >>> setup = Setup("translation", TranslationMachine(cores=2), None, policies, TranslationOptions())
    >>> state = new_part(setup, seed=1)
    >>> ticket = ask(state, Request(cycle=5, core=1, page=7))
    >>> next_event(state)
    (6, 3)
    >>> advance(state, (NEVER, 0))
    >>> finished(state)
    [(0, 418)]
    """
    engine = Translation()
    return Play(engine.read(engine.given(setup, seed)), Attempt({"logged": 0}, events=False, checked=False), part=True)


def next_event(state: Play) -> tuple[int, int]:
    """Return the cycle and the rank of what happens next: `NEVER` and 0 where nothing will."""
    cycle, order = _next(state.run(no_rows()))
    return int(cycle), int(order) // CORES


def advance(state: Play, until: tuple[int, int]) -> None:
    """Let everything happen that precedes a cycle and a rank, both exclusive.

    Raises
    ------
    PolicyError
        A policy raised, or gave an answer that its question does not allow.
    """
    cycle, rank = until
    state.play(lambda: _advance(state.run(no_rows()), cycle, rank * CORES - 1))


def ask(state: Play, request: Request) -> int:
    """Issue an access or an unmapping, and return its ticket; while its core waits it waits behind it.

    Whatever precedes the request happens first. None is refused.

    Raises
    ------
    InputError
        The request's core or page does not exist, or its cycle is over.
    PolicyError
        A policy raised, or gave an answer that its question does not allow.
    """
    if request.cycle < state.state.counters[COUNT.now] and state.state.counters[COUNT.started]:
        now = state.state.counters[COUNT.now]
        raise InputError(f"a request is for cycle {request.cycle}; it is cycle {now}, and time does not go back.")
    column = np.array([request.cycle, request.core, request.page])[:, None]
    block = Accesses(column[0], column[1].astype(np.int32), column[2], np.array([request.unmaps]))
    rows = state.trace.taken(block)
    state.grow()
    state.play(lambda: _ask(state.run(rows)))
    return rows.first


def finished(state: Play) -> list[tuple[int, int]]:
    """Return the ticket of every access that was answered since the last call, with the cycle of its answer.

    A hit is known when it is issued; its cycle may lie ahead. An unmapping has no answer.
    """
    counters = state.state.counters
    answers = state.state.answers[: 2 * counters[COUNT.answered]].reshape(-1, 2)
    counters[COUNT.answered] = 0
    return [(ticket, cycle) for ticket, cycle in answers.tolist()]


@kernel
def _next(run: Run) -> tuple[int, int]:
    return _next_of(by_reference(run))


@noinline
def _next_of(run: Run) -> tuple[int, int]:
    cycle = next_cycle(run)
    return cycle, next_order(run) if cycle < at.NEVER else 0


@kernel
def _advance(run: Run, cycle: int, order: int) -> None:
    _advance_to(by_reference(run), cycle, order)


@noinline
def _advance_to(run: Run, cycle: int, order: int) -> None:
    counters = run.state.counters
    while counters[STOP.fault] == FINE and event_precedes(run, cycle, order):
        let_next_happen(run)


@kernel
def _ask(run: Run) -> None:
    _ask_of(by_reference(run))


@noinline
def _ask_of(run: Run) -> None:
    """Issue the one row after what precedes it; where room is wanting, all that is left is done anew."""
    counters, cycle = run.state.counters, run.rows.cycle[0]
    begin(run, cycle)
    _advance_to(run, cycle, order_of(ISSUES, to_int64(run.rows.core[0])))
    if counters[STOP.fault] == FINE and not has_room(run):
        counters[STOP.fault] = FAULT.needs_room
    if counters[STOP.fault] == FINE:
        counters[COUNT.last_start] = cycle
        issue_row(run, 0)
