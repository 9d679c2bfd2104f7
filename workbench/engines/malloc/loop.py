"""The compiled loop of the engine `malloc`: requests wait for the locks of their arenas and are served one by one.

A cycle has four ranks: what is given up goes back, critical sections end, requests come to the lines, critical sections
start. What is due by then goes back before a section asks the heap. Nothing is done for cycles without an event. The
line in front of each arena's lock knows who comes, who is next, how often was tried in vain (spec 2, R15, R21).

Where the heap grows, a section that finds no space asks the pool for a chunk (spec 6, R14, E8). The lock is held until
the pool has answered; the section goes on then, and lasts as long as any other. A refused chunk leaves the decision to
the failure policy, which is null in the end. Chunks lie behind each other in the range of addresses that was set aside
for the arena.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import by_reference, inlined, kernel, leading_zeros, noinline
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import RANK, cycle_of, moment, rank_of
from workbench.engines.malloc.accesses import begin_accesses, end_accesses, next_admission
from workbench.engines.malloc.critical_section import ask_heap, enter_returns, note_answer, return_due, try_parts
from workbench.engines.malloc.heap import extend
from workbench.engines.malloc.state import COUNT, NEEDS, NONE, PARALLEL, SINCE, Columns, Cuts, Rules, Run, State
from workbench.policies.malloc.arenas import BY_HASH, BY_SIZE
from workbench.policies.malloc.lock import BACK_OFF, IN_LINE, NO_LOCK
from workbench.structures.rng import below
from workbench.structures.timetable import NEVER, first_place, set_time

# A prime near 2**32 over the golden ratio (Knuth).
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
        state.queue[request] = request
    state.counters[COUNT.queued] = state.counters[COUNT.requests]


@noinline
def let_happen(run: Run, until: int) -> None:
    """Let everything happen before a moment, or until a policy breaks its contract."""
    counters = run.state.counters
    comes = next_coming(run)
    while counters[STOP.fault] == FINE and min(comes, run.state.next_event[1]) < until:
        comes = let_one_happen(run, comes)
    if counters[STOP.fault] == FINE:
        # An empty timetable answers NEVER, so the limit must be below it. Otherwise the limit is the last cycle whose
        # returns, of rank `RETURNS`, precede the moment.
        return_due(run, NEVER - 1 if until == NEVER else cycle_of(until - RETURNS - 1))


ENDS, COMES, STARTS = RANK.malloc_answers, RANK.malloc_requests, RANK.services
"""Ranks of a cycle: sections end, requests come, sections start."""


@inlined
def let_one_happen(run: Run, comes: int) -> int:
    """Let the first event happen, given the moment at which the next request comes to its line; return it again."""
    counters, state = run.state.counters, run.state
    soonest = state.next_event[1]
    if not run.rules.skips:
        return_due(run, cycle_of(min(comes, soonest)))
    # The two are never equal, as arriving requests have a rank of their own.
    if comes < soonest:
        request = _to_int64(state.queue[counters[COUNT.arrived]])
        counters[COUNT.arrived] += 1
        counters[COUNT.now] = cycle_of(comes)
        if run.rules.heap == PARALLEL:
            # Blocks that are due go back before a request comes (R27).
            return_due(run, cycle_of(comes))
            begin_accesses(run, request, cycle_of(comes))
        else:
            come(run.rules, state, request, _home(run, request), cycle_of(comes))
        return next_coming(run)
    counters[COUNT.now] = cycle_of(soonest)
    at = first_place(state.next_event)
    if run.rules.heap == PARALLEL:
        # An answer may admit the next thread block (R31), so the next request is looked for again.
        end_accesses(run, cycle_of(soonest))
        return next_coming(run)
    if rank_of(soonest) == ENDS:
        _end(run, at, cycle_of(soonest))
    else:
        _start(run, at, cycle_of(soonest))
    return comes


@kernel
def next_coming(run: Run) -> int:
    """Return the moment at which the next request that was asked comes to its line, or `NEVER`."""
    if run.rules.heap == PARALLEL:
        return next_admission(run)
    arrived = run.state.counters[COUNT.arrived]
    if arrived == run.state.counters[COUNT.queued]:
        return NEVER
    arrival = run.columns.arrival[run.cuts.leader[run.state.queue[arrived]]]
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
        # `leading_zeros` of 0 is 64, so one granule is class 0.
        return min(64 - leading_zeros(np.uint64(granules - 1)), rules.arenas - 1)
    if rules.by == BY_HASH:
        # The product may wrap at 64 bits, which leaves its lower 32 bits unchanged. Their upper half is mixed best.
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
    # `_start` writes NONE if this arena refused and another one is asked next.
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
        # As in `end_section`: the section lasts longer while the sum is not ready.
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
    """Return the request that enters the section now; -1 where all that wait try later, which is planned."""
    if rules.lock != BACK_OFF:
        before = state.counters[COUNT.failures]
        request = next_in_line(rules, state, at)
        # Without a lock, each failed try is an atomic operation on the heap (E11).
        if rules.lock == NO_LOCK:
            state.counters[COUNT.atomics] += state.counters[COUNT.failures] - before
        return request
    return _enters_by_back_off(rules, state, at, now)


@noinline
def _enters_by_back_off(rules: Rules, state: State, at: int, now: int) -> int:
    """Return the request that tries now; -1 where all that wait try later, which is planned."""
    cycle, request, before = soonest_try(rules, state, at, now)
    if cycle > now:
        set_time(state.next_event, at, moment(cycle if rules.skips else now + 1, STARTS))
        return NONE
    leave_line(state, at, before, request)
    # Failed tries are counted here at once, when the request gets in.
    state.counters[COUNT.failures] += next_try(rules, now - state.entered[request])[1]
    return request


@kernel
def come(rules: Rules, state: State, request: int, at: int, now: int) -> None:
    """Let a request join the line of an arena; while the lock is held its first try is in vain.

    Without a lock that try is an atomic operation on the heap itself (spec 2, E11).
    """
    state.behind[request] = NONE
    state.entered[request] = now
    if state.waiting[at] == 0:
        state.head[at] = request
    else:
        state.behind[state.tail[at]] = np.int32(request)
    state.tail[at] = request
    state.waiting[at] += 1
    if state.busy[at]:
        if rules.retries and rules.lock != BACK_OFF:
            state.counters[COUNT.failures] += 1
            if rules.lock == NO_LOCK:
                state.counters[COUNT.atomics] += 1
        return
    # The second half of a tournament holds its leaves.
    planned = state.next_event[state.next_event.size // 2 + at]
    idle = state.waiting[at] == 1
    # In a line, the start of the requests in front is planned already. A request that backs off tries at once anyway.
    if (idle or rules.lock == BACK_OFF) and planned > moment(now, STARTS):
        set_time(state.next_event, at, moment(now, STARTS))


@kernel
def leave_line(state: State, at: int, before: int, request: int) -> None:
    """Move a request from the line to the critical section."""
    after = state.behind[request]
    if before == NONE:
        state.head[at] = after
    else:
        state.behind[before] = after
    if after == NONE:
        state.tail[at] = before
    state.waiting[at] -= 1


@kernel
def next_in_line(rules: Rules, state: State, at: int) -> int:
    """Take the longest waiting, or one of several, out of the line; those who compete with it try in vain."""
    before, request = NONE, state.head[at]
    if rules.among > 1:
        for _ in range(below(state.counters, COUNT.generator, min(rules.among, state.waiting[at]))):
            before, request = request, np.int64(state.behind[request])
    leave_line(state, at, before, request)
    # Every waiting request tries once per section: c contenders fail c (c - 1) / 2 times (section 4).
    if rules.retries:
        state.counters[COUNT.failures] += state.waiting[at]
    return request


@kernel
def soonest_try(rules: Rules, state: State, at: int, now: int) -> tuple[int, int, int]:
    """Return, of those who back off, the cycle of the first try from now on, who tries, and the request before it in
    line."""
    nobody: Any = np.int64(NONE)  # of a plain -1 Numba would compile everything once more
    soonest, winner, before, previous = nobody, nobody, nobody, nobody
    request = state.head[at]
    while request != NONE:
        cycle, _ = next_try(rules, now - state.entered[request])
        cycle += state.entered[request]
        # In a tie the request that waited longest wins, as the line is in the order of arrival.
        if winner == NONE or cycle < soonest:
            soonest, winner, before = cycle, request, previous
        previous, request = request, np.int64(state.behind[request])
    return soonest, winner, before


@kernel
def next_try(rules: Rules, waited: int) -> tuple[int, int]:
    """Return the first try that is not before so many cycles of waiting, and how many tries come before it.

    Tries come at 0, f, 3 f, 7 f, ... cycles until they are `most_back_off` apart, and at that distance from then on.
    """
    cycle, gap, tries = 0, rules.first_back_off, 0
    while cycle < waited and gap < rules.most_back_off:
        cycle, gap, tries = cycle + gap, min(2 * gap, rules.most_back_off), tries + 1
    while cycle < waited and not rules.skips:
        cycle, tries = cycle + gap, tries + 1
    if cycle < waited:
        further = (waited - cycle + gap - 1) // gap
        cycle, tries = cycle + further * gap, tries + further
    return cycle, tries


@kernel
def holds_for(run: Run, at: int) -> int:
    """Return the cycles of one operation on the heap, with those who wait now."""
    rules, waiting = run.rules, run.state.waiting[at]
    return rules.hold_cycles + rules.latency + rules.latency_a_waiter * min(rules.latency_waiters, waiting)


@inlined
def end_section(run: Run, request: int, at: int, now: int, ends: int) -> None:
    """Plan the end of a section after which a request is answered."""
    rules, state = run.rules, run.state
    # With `during_lock_wait` the sum is computed during the wait (R9). If it is not ready, the section lasts longer.
    ends += max(run.columns.arrival[run.cuts.leader[request]] + rules.during_cycles - now, 0)
    state.ready[request] = ends + rules.division_cycles
    enter_returns(run, request, state.ready[request])
    note_answer(state, request, state.ready[request], 0)
    # Without overlap the lock is held during the division too (R19).
    if not rules.overlaps:
        ends = state.ready[request]
    state.ended[request] = ends
    set_time(state.next_event, at, moment(ends, ENDS))


@noinline
def may_grow(run: Run, request: int, at: int) -> bool:
    """Return whether an arena has addresses for the chunk that a request needs."""
    return bool(run.arena.limit[at] + _wanted(run, request) <= run.rules.region)


@kernel
def _wanted(run: Run, request: int) -> int:
    """Return the granules of the chunk that a request needs: whole chunks in which it, or its size class, has space."""
    rules = run.rules
    granules = max((rules.header + run.cuts.total[request] + rules.granule - 1) // rules.granule, rules.chunk)
    return (granules + rules.grows - 1) // rules.grows * rules.grows


@noinline
def wait_for_chunk(run: Run, request: int, at: int, now: int) -> None:
    """Let the section of a request wait for a chunk, which is asked for; the lock is held."""
    run.state.growth[at, NEEDS], run.state.growth[at, SINCE] = request, now
    set_time(run.state.next_event, at, NEVER)
    note_answer(run.state, request, now, _wanted(run, request) * run.rules.granule)


@noinline
def arena_that_needs(run: Run, request: int) -> int:
    """Return the arena for which a request asked for a chunk, -1 = there is none."""
    for at in range(run.state.growth.shape[0]):
        if run.state.growth[at, NEEDS] == request:
            return at
    return NONE


@noinline
def grow(run: Run, at: int, granules: int, now: int) -> None:
    """Take the pool's answer for an arena: so many granules, 0 = refused; its section goes on."""
    state, request = run.state, run.state.growth[at, NEEDS]
    state.growth[at, NEEDS] = NONE
    state.counters[COUNT.now] = now
    state.held[request] += now - state.growth[at, SINCE]
    served, lasts = False, holds_for(run, at)
    # With the chunk refused, the whole request is not tried again, even if blocks went back meanwhile. Its parts may
    # be; what is still refused gets null (spec 6, E8).
    if granules > 0:
        extend(run.rules, run.arena, run.policies, state, at, granules, now)
        served = ask_heap(run, request, at, run.cuts.first[request], run.cuts.first[request + 1], now)
    if not served:
        lasts += lasts * try_parts(run, request, at, now)
    end_section(run, request, at, now, now + lasts)
