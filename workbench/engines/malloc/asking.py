"""A heap as a part of a larger simulation: what is asked when is decided from outside (spec 6, R2).

Each routine takes the run by reference and whole numbers, and returns one whole number, so that a compiled calendar can
call it by its address. What a routine is asked for at a cycle comes after all that precedes it there (spec 6, R3).
Answers stand in `state.answers`, counted by `COUNT.answered`, until who asked takes them and sets the counter to 0.
"""

from __future__ import annotations

from typing import Any

from workbench.compiled import routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import LAST_CYCLE, RANK, moment, rank_of
from workbench.engines.malloc.giving_up import give_up, settle
from workbench.engines.malloc.growing import arena_that_needs, grow
from workbench.engines.malloc.loop import let_happen, let_one_happen, next_coming
from workbench.engines.malloc.state import BUMP, COUNT, NONE
from workbench.structures.timetable import NEVER, next_due

REFUSED = NONE
"""Instead of a ticket: the cycle is over, or there is no such thing to be asked for."""


@routine
def next_moment(run: Any) -> int:
    """Return the moment of what happens next, `NEVER` where nothing will; answers that were given may lie ahead."""
    state = run.state
    soonest = min(next_coming(run), state.next_event[1])
    if state.counters[COUNT.late] > 0:
        soonest = min(soonest, moment(state.counters[COUNT.late_cycle], RANK.frees))
    if next_due(state.due) <= LAST_CYCLE:
        soonest = min(soonest, moment(next_due(state.due), RANK.frees))
    return soonest


@routine
def advance_to(run: Any, until: int) -> int:
    """Let everything happen before a moment; return what went wrong, `FINE` = nothing."""
    counters = run.state.counters
    if counters[COUNT.late] > 0 and moment(counters[COUNT.late_cycle], RANK.frees) < until:
        settle(run.state)
    let_happen(run, until)
    return counters[STOP.fault]


@routine
def take_next(run: Any) -> int:
    """Take the one next event; return how many answers wait, `REFUSED` where something went wrong."""
    counters, comes = run.state.counters, next_moment(run)
    if comes < NEVER and rank_of(comes) == RANK.frees:
        advance_to(run, comes + 1)
    elif comes < NEVER:
        let_one_happen(run, next_coming(run))
    return counters[COUNT.answered] if counters[STOP.fault] == FINE else REFUSED


@routine
def answer_of(run: Any, at: int, field: int) -> int:
    """Return a number of an answer, the oldest being 0: request, cycle, bytes of the chunk that it needs first."""
    return run.state.answers[at, field]


@routine
def forget_answers(run: Any) -> int:
    """Forget the answers, which were read; return 0."""
    run.state.counters[COUNT.answered] = 0
    return 0


@routine
def was_served(run: Any, request: int) -> int:
    """Return whether a call of a request got something: 0 or 1."""
    for place in range(run.cuts.first[request], run.cuts.first[request + 1]):
        if run.state.block[run.cuts.order[place]] >= 0:
            return 1
    return 0


@routine
def time_of(run: Any, request: int, which: int) -> int:
    """Return when a request came to its line, `which` = 0, or entered the critical section, 1; or for how many cycles
    it waited for a chunk, 2."""
    if which == 2:
        return run.state.held[request] if run.rules.grows > 0 else 0
    return run.state.acquired[request] if which else run.state.entered[request]


@routine
def ask_request(run: Any, request: int, cycle: int) -> int:
    """Let the calls of a request be made at a cycle; return the request, which is the ticket, or `REFUSED`."""
    counters, cuts = run.state.counters, run.cuts
    over = request < 0 or request >= counters[COUNT.requests] or cycle < counters[COUNT.now] or cycle > LAST_CYCLE
    if over or run.state.entered[request] != NONE:
        return REFUSED
    if advance_to(run, moment(cycle, RANK.malloc_requests)) != FINE:
        return REFUSED
    for place in range(cuts.first[request], cuts.first[request + 1]):
        run.columns.arrival[cuts.order[place]] = cycle
    counters[COUNT.now] = cycle
    run.state.entered[request] = cycle
    run.state.asked[counters[COUNT.asked]] = request
    counters[COUNT.asked] += 1
    return request


@routine
def ask_free(run: Any, row: int, cycle: int) -> int:
    """Give up what a call got, or will get, at a cycle; return the call, or `REFUSED`."""
    counters, free_at = run.state.counters, run.columns.free_at
    if row < 0 or row >= free_at.size or cycle < counters[COUNT.now] or cycle > LAST_CYCLE or free_at[row] >= 0:
        return REFUSED
    request = run.cuts.request[row]
    if request >= 0 and run.state.entered[request] == NONE:
        return REFUSED
    if advance_to(run, moment(cycle, RANK.frees)) != FINE:
        return REFUSED
    free_at[row] = counters[COUNT.now] = counters[COUNT.late_cycle] = cycle
    if run.state.block[row] != NONE and run.rules.heap != BUMP:
        give_up(run, row, cycle)
    return row


@routine
def ask_chunk(run: Any, request: int, granules: int, cycle: int) -> int:
    """Take the pool's answer to a request that needs a chunk: so many granules, 0 = refused; return the request, or
    `REFUSED`."""
    at = arena_that_needs(run, request)
    if at == NONE or cycle < run.state.counters[COUNT.now] or cycle > LAST_CYCLE or granules < 0:
        return REFUSED
    if advance_to(run, moment(cycle, RANK.pool_answers)) != FINE:
        return REFUSED
    grow(run, at, min(granules, run.rules.region - run.arena.limit[at]), cycle)
    return request if run.state.counters[STOP.fault] == FINE else REFUSED
