"""The compiled loop of the engine `malloc`: requests wait for the locks of their arenas and are served one by one.

A cycle has three phases: critical sections end, requests come to the lines, critical sections start. Before a section
asks the heap, everything that is due by then has been given back. Nothing is done for cycles without an event.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import by_reference, kernel, leading_zeros, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import cycle_of, moment, phase_of
from workbench.engines.malloc.serving import ask_heap, enter_returns, return_due, try_parts
from workbench.engines.malloc.state import COUNT, NONE, Arena, Columns, Cuts, Policies, Rules, State
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
from workbench.structures.tournament import NEVER, first_place, set_time

HASH = 2_654_435_761


@kernel
def simulate(rules: Rules, columns: Columns, cuts: Cuts, arena: Arena, policies: Policies, state: State) -> None:
    """Run until every request has been served or refused, or until a policy breaks its contract."""
    _run(
        by_reference(rules),
        by_reference(columns),
        by_reference(cuts),
        by_reference(arena),
        by_reference(policies),
        by_reference(state),
    )


@routine
def _run(rules: Rules, columns: Columns, cuts: Cuts, arena: Arena, policies: Policies, state: State) -> None:
    counters = state.counters
    while counters[STOP.fault] == FINE:
        comes = NEVER
        if counters[COUNT.arrived] < counters[COUNT.requests]:
            comes = moment(_first_try(rules, columns, cuts, counters[COUNT.arrived]), COMES)
        soonest = state.next_event[1]
        if comes == NEVER and soonest == NEVER:
            break
        if comes < soonest:
            request = counters[COUNT.arrived]
            counters[COUNT.arrived] += 1
            home = 0 if rules.arenas == 1 else _home(rules, columns, cuts, request)
            come(rules, state, request, home, cycle_of(comes))
            continue
        at = first_place(state.next_event)
        if phase_of(soonest) == ENDS:
            _end(rules, state, at, cycle_of(soonest))
        else:
            _start(rules, columns, cuts, arena, policies, state, at, cycle_of(soonest))
    if counters[STOP.fault] == FINE:
        return_due(rules, arena, policies, state, NEVER - 1)


@kernel
def _first_try(rules: Rules, columns: Columns, cuts: Cuts, request: int) -> int:
    return columns.arrival[cuts.leader[request]] + rules.before_cycles


@kernel
def _home(rules: Rules, columns: Columns, cuts: Cuts, request: int) -> int:
    """Return the arena that a request asks first; by size, the class of the granules that its block takes, header
    included."""
    warp, size = columns.thread[cuts.leader[request]] // rules.unit, cuts.total[request]
    if rules.by == BY_SIZE:
        granules = max((rules.header + size + rules.granule - 1) // rules.granule, 1)
        return min(64 - leading_zeros(np.uint64(granules - 1)), rules.arenas - 1)
    if rules.by == BY_HASH:
        return ((((7 * warp + size) * HASH) & 0xFFFF_FFFF) >> 16) % rules.arenas
    return warp % rules.arenas


@kernel
def _end(rules: Rules, state: State, at: int, now: int) -> None:
    """End a section: a request that was refused goes on to the next arena, and the next section is planned."""
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


@kernel
def _start(
    rules: Rules, columns: Columns, cuts: Cuts, arena: Arena, policies: Policies, state: State, at: int, now: int
) -> None:
    """Start a section: somebody leaves the line, asks the heap, and holds the lock as long as that takes."""
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
    return_due(rules, arena, policies, state, now)
    first, end = int(cuts.first[request]), int(cuts.first[request + 1])
    holds = rules.hold_cycles + rules.latency + rules.latency_a_waiter * min(rules.latency_waiters, state.waiting[at])
    lasts = holds
    served = ask_heap(rules, cuts, arena, policies, state, request, at, first, end, now)
    goes_on = not served and state.tried[request] + 1 < rules.tries
    if not served and not goes_on:
        lasts += holds * try_parts(rules, cuts, arena, policies, state, request, at, now)
    lasts += max(columns.arrival[cuts.leader[request]] + rules.during_cycles - now, 0)
    ends = now + lasts
    state.ready[request] = NONE
    if not goes_on:
        state.ready[request] = ends + rules.division_cycles
        enter_returns(rules, columns, cuts, state, request, state.ready[request])
        if not rules.overlaps:
            ends = state.ready[request]
    state.ended[request] = ends
    set_time(state.next_event, at, moment(ends, ENDS))


@kernel
def _enters(rules: Rules, state: State, at: int, now: int) -> int:
    """Return who enters the section now; -1 where all who wait try later, which is planned."""
    if rules.lock != BACK_OFF:
        before = state.counters[COUNT.failures]
        request = next_in_line(rules, state, at)
        if rules.lock == NO_LOCK:
            state.counters[COUNT.atomics] += state.counters[COUNT.failures] - before
        return request
    cycle, request, before = soonest_try(rules, state, at, now)
    if cycle > now:
        set_time(state.next_event, at, moment(cycle, STARTS))
        return NONE
    leave_line(state, at, before, request)
    state.counters[COUNT.failures] += next_try(rules, now - state.entered[request])[1]
    return request
