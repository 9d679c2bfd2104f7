"""The compiled loop of the engine `malloc`: requests wait for the locks of their arenas and are served one by one.

A cycle has four ranks: what is given up goes back, critical sections end, requests come to the lines, critical sections
start. What is due by then goes back before a section asks the heap. Nothing is done for cycles without an event.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import by_reference, inlined, kernel, leading_zeros, noinline
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import RANK, cycle_of, moment, rank_of
from workbench.engines.malloc.growing import may_grow, wait_for_chunk
from workbench.engines.malloc.sections import end_section, holds_for
from workbench.engines.malloc.serving import ask_heap, return_due, try_parts
from workbench.engines.malloc.state import COUNT, NONE, Columns, Cuts, Rules, Run, State
from workbench.engines.malloc.waiting import (
    COMES,
    ENDS,
    STARTS,
    come,
    leave_line,
    next_in_line,
    next_try,
    soonest_try,
)
from workbench.policies.malloc.arenas import BY_HASH, BY_SIZE
from workbench.policies.malloc.lock import BACK_OFF, IN_LINE, NO_LOCK
from workbench.structures.timetable import NEVER, first_place, set_time

HASH = 2_654_435_761
_to_int64: Any = np.int64
RETURNS = RANK.frees


@kernel
def simulate(run: Run) -> None:
    """Ask every request of the table at its arrival, and let happen what follows from that."""
    _ask_all(run.state)
    let_happen(by_reference(run), NEVER)


@kernel
def _ask_all(state: State) -> None:
    """Ask every request; they stand in the order of their arrivals."""
    for request in range(state.counters[COUNT.requests]):
        state.asked[request] = request
    state.counters[COUNT.asked] = state.counters[COUNT.requests]


@noinline
def let_happen(run: Run, until: int) -> None:
    """Let everything happen before a moment, or until a policy breaks its contract."""
    counters = run.state.counters
    comes = next_coming(run)
    while counters[STOP.fault] == FINE and min(comes, run.state.next_event[1]) < until:
        comes = let_one_happen(run, comes)
    if counters[STOP.fault] == FINE:
        return_due(run, NEVER - 1 if until == NEVER else cycle_of(until - RETURNS - 1))


@inlined
def let_one_happen(run: Run, comes: int) -> int:
    """Let the first event happen, given the moment at which the next request comes to its line; return it anew."""
    counters, state = run.state.counters, run.state
    soonest = state.next_event[1]
    if not run.rules.skips:
        return_due(run, cycle_of(min(comes, soonest)))
    if comes < soonest:
        request = _to_int64(state.asked[counters[COUNT.arrived]])
        counters[COUNT.arrived] += 1
        counters[COUNT.now] = cycle_of(comes)
        come(run.rules, state, request, _home(run, request), cycle_of(comes))
        return next_coming(run)
    counters[COUNT.now] = cycle_of(soonest)
    at = first_place(state.next_event)
    if rank_of(soonest) == ENDS:
        _end(run, at, cycle_of(soonest))
    else:
        _start(run, at, cycle_of(soonest))
    return comes


@kernel
def next_coming(run: Run) -> int:
    """Return the moment at which the next request that was asked comes to its line, or `NEVER`."""
    arrived = run.state.counters[COUNT.arrived]
    if arrived == run.state.counters[COUNT.asked]:
        return NEVER
    arrival = run.columns.arrival[run.cuts.leader[run.state.asked[arrived]]]
    return moment(arrival + run.rules.before_cycles, COMES)


@inlined
def _home(run: Run, request: int) -> int:
    return 0 if run.rules.arenas == 1 else _home_among(run.rules, run.columns, run.cuts, request)


@noinline
def _home_among(rules: Rules, columns: Columns, cuts: Cuts, request: int) -> int:
    """Return the arena that a request asks first; by size, the class of the granules that its block takes, header
    included."""
    warp, size = columns.thread[cuts.leader[request]] // rules.unit, cuts.total[request]
    if rules.by == BY_SIZE:
        granules = max((rules.header + size + rules.granule - 1) // rules.granule, 1)
        return min(64 - leading_zeros(np.uint64(granules - 1)), rules.arenas - 1)
    if rules.by == BY_HASH:
        return ((((7 * warp + size) * HASH) & 0xFFFF_FFFF) >> 16) % rules.arenas
    return warp % rules.arenas


@inlined
def _end(run: Run, at: int, now: int) -> None:
    """End a section: a request that was refused goes on to the next arena, and the next section is planned."""
    rules, state = run.rules, run.state
    request = state.current[at]
    state.busy[at] = False
    set_time(state.next_event, at, NEVER)
    if state.waiting[at] > 0:
        starts = now
        if rules.lock == IN_LINE:
            starts += rules.handoff_cycles + rules.handoff_a_waiter * state.waiting[at]
            state.counters[COUNT.rereads] += rules.rereads * state.waiting[at]
        set_time(state.next_event, at, moment(starts, STARTS))
    if state.ready[request] == NONE:
        state.tried[request] += 1
        come(rules, state, request, (at + 1) % rules.arenas, now)


@inlined
def _start(run: Run, at: int, now: int) -> None:
    """Start a section: somebody leaves the line, asks the heap, and holds the lock as long as that takes."""
    rules, state, cuts = run.rules, run.state, run.cuts
    request = _enters(rules, state, at, now)
    if request == NONE:
        return
    counters = state.counters
    state.busy[at], state.current[at], state.acquired[request] = True, request, now
    if rules.lock != NO_LOCK:
        counters[COUNT.acquisitions] += 1
    log = counters[COUNT.taken]
    if log < state.taken_log.shape[0]:
        state.taken_log[log, 0], state.taken_log[log, 1], state.taken_log[log, 2] = now, request, at
    counters[COUNT.taken] += 1
    return_due(run, now)
    first, end = _to_int64(cuts.first[request]), _to_int64(cuts.first[request + 1])
    holds = holds_for(run, at)
    lasts = holds
    served = ask_heap(run, request, at, first, end, now)
    goes_on = not served and state.tried[request] + 1 < rules.tries
    if goes_on:
        ends = now + lasts + max(run.columns.arrival[cuts.leader[request]] + rules.during_cycles - now, 0)
        state.ready[request], state.ended[request] = NONE, ends
        set_time(state.next_event, at, moment(ends, ENDS))
        return
    if rules.grows > 0 and not served and may_grow(run, request, at):
        wait_for_chunk(run, request, at, now)
        return
    if not served:
        lasts += holds * try_parts(run, request, at, now)
    end_section(run, request, at, now, now + lasts)


@inlined
def _enters(rules: Rules, state: State, at: int, now: int) -> int:
    """Return who enters the section now; -1 where all who wait try later, which is planned."""
    if rules.lock != BACK_OFF:
        before = state.counters[COUNT.failures]
        request = next_in_line(rules, state, at)
        if rules.lock == NO_LOCK:
            state.counters[COUNT.atomics] += state.counters[COUNT.failures] - before
        return request
    return _enters_by_back_off(rules, state, at, now)


@noinline
def _enters_by_back_off(rules: Rules, state: State, at: int, now: int) -> int:
    """Return who tries now; -1 where all who wait try later, which is planned."""
    cycle, request, before = soonest_try(rules, state, at, now)
    if cycle > now:
        set_time(state.next_event, at, moment(cycle if rules.skips else now + 1, STARTS))
        return NONE
    leave_line(state, at, before, request)
    state.counters[COUNT.failures] += next_try(rules, now - state.entered[request])[1]
    return request
