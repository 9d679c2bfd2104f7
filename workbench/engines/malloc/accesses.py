"""Requests that go through a parallel heap access by access (spec 2, R23-R30).

The timetable holds the accesses under way, each at its end. Requests that follow one another and whose accesses end at
one cycle are one entry, which carries the first of them. Their accesses take effect one after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import RAISED, kernel, noinline, routine
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.engines.kit.order import RANK, moment
from workbench.engines.malloc.critical_section import book, enter_returns, note_answer, return_due
from workbench.engines.malloc.state import (
    ALL_NULL,
    ASKED,
    BLOCK,
    COUNT,
    FAULT,
    HALVE,
    HIGH,
    LOW,
    NONE,
    REMEMBERED,
    TOGETHER,
    TURN,
    UNIT,
    Run,
)
from workbench.policies.malloc.parallel.access import (
    ACCESS,
    ADD,
    CYCLES,
    GRANT,
    GRANULES,
    HOLD,
    NULL,
    OWN,
    START,
    SWAP,
    WAIT,
    WORD,
    AccessView,
)
from workbench.structures.timetable import NEVER, next_due, put, set_time, take

ask_heap_policy = ACCESS.ask
_to_int64: Any = np.int64
LEFT, UNDER_WAY = range(2)
"""Of each thread block: requests that have come and are not answered, and whether there are any."""
FREE_AT, ADDED_AT, ADDED_BY = range(3)
"""Of each word: when all its accesses have ended; the cycle after that at which the latest was issued, if that was an
`add`, and its group."""


@noinline
def next_admission(run: Run) -> int:
    """Return the moment at which the next request comes, or `NEVER`; its thread block must be held by the card."""
    state, counters = run.state, run.state.counters
    if counters[COUNT.arrived] < counters[COUNT.admitted]:
        return moment(counters[COUNT.admitted_at], RANK.malloc_requests)
    if counters[COUNT.arrived] == counters[COUNT.queued]:
        return NEVER
    request = state.queue[counters[COUNT.arrived]]
    if not _has_room(run, state.walks[request, BLOCK]):
        return NEVER
    comes = run.columns.arrival[run.cuts.leader[request]] + run.rules.before_cycles
    return moment(max(comes, counters[COUNT.freed_at]), RANK.malloc_requests)


@kernel
def _has_room(run: Run, block: int) -> bool:
    """Return whether a thread block is under way, or may be."""
    resident = run.rules.resident
    return bool(
        run.state.blocks_left[block, UNDER_WAY] or resident == 0 or run.state.counters[COUNT.running] < resident
    )


@kernel
def _admit(run: Run, now: int) -> None:
    """Admit all requests that come now."""
    state, counters = run.state, run.state.counters
    while counters[COUNT.admitted] < counters[COUNT.queued]:
        request = state.queue[counters[COUNT.admitted]]
        block = state.walks[request, BLOCK]
        comes = run.columns.arrival[run.cuts.leader[request]] + run.rules.before_cycles
        if comes > now or not _has_room(run, block):
            # Later requests wait as well, even if their thread blocks would fit (R31).
            return
        counters[COUNT.running] += not state.blocks_left[block, UNDER_WAY]
        state.blocks_left[block, UNDER_WAY] = 1
        state.blocks_left[block, LEFT] += 1
        counters[COUNT.admitted] += 1
        counters[COUNT.admitted_at] = now


@noinline
def begin_accesses(run: Run, request: int, now: int) -> None:
    """Let a request that comes now make its first access."""
    state = run.state
    # All requests that can come now count as under way before the first of them issues an access (R24).
    if state.counters[COUNT.arrived] > state.counters[COUNT.admitted]:
        _admit(run, now)
    state.walks[request, TURN] = state.counters[COUNT.arrived] - 1
    state.entered[request] = state.acquired[request] = now
    _go_on(run, request, now)
    _plan(run)


@noinline
def end_accesses(run: Run, now: int) -> None:
    """Let the accesses of the first entry of the timetable, which is due now, take effect."""
    state = run.state
    first = take(state.accesses, now)
    # Accesses issued from here on must not join the entry that was taken.
    state.counters[COUNT.together] = NONE
    for request in range(first, first + _to_int64(state.walks[first, TOGETHER])):
        if state.counters[STOP.fault] == FINE:
            return_due(run, now)
            _go_on(run, request, now)
    _plan(run)


@kernel
def _plan(run: Run) -> None:
    """Enter when the next access ends where the loop looks for the next event of the heap."""
    due = next_due(run.state.accesses)
    set_time(run.state.next_event, 0, NEVER if due == NEVER else moment(due, RANK.malloc_answers))


@kernel
def _bytes(run: Run, request: int) -> int:
    """Return the bytes that a request asks for now, header included."""
    cuts, low, high = run.cuts, _to_int64(run.state.walks[request, LOW]), _to_int64(run.state.walks[request, HIGH])
    size = _to_int64(run.rules.header)
    # Most requests ask for all their rows, whose total is known.
    if high - low == cuts.first[request + 1] - cuts.first[request]:
        return size + cuts.total[request]
    for place in range(low, high):
        size += cuts.size[cuts.order[place]]
    return size


@kernel
def _ask_for(run: Run, request: int, low: int, high: int) -> None:
    """Let a request ask for the rows at the places [low, high), from its first access on."""
    rules, walk = run.rules, run.state.walks
    walk[request, LOW], walk[request, HIGH] = low, high
    granules = max((_bytes(run, request) + rules.granule - 1) // rules.granule, 1)
    walk[request, ASKED] = min(granules, rules.region + 1)
    for k in range(OWN):
        walk[request, REMEMBERED + k] = 0


@routine
def _go_on(run: Run, request: int, now: int) -> None:
    """Ask the heap what a request does next, until it accesses something or is answered."""
    state, walk, own = run.state, run.state.walks, run.state.own
    while True:
        for k in range(OWN):
            own[k] = walk[request, REMEMBERED + k]
        size, group = _bytes(run, request), state.group[request]
        granules, unit = _to_int64(walk[request, ASKED]), _to_int64(walk[request, UNIT])
        turn = _to_int64(walk[request, TURN])
        view = AccessView(size, granules, turn, group, unit, own, state.out, run.policies.params, run.arena.words)
        kind = ask_heap_policy(run.policies.place, view)
        if kind == RAISED or kind < 0 or kind > NULL:
            fail(state.counters, FAULT.heap_raised if kind == RAISED else FAULT.heap_wrong, now, request, kind)
            return
        # A request keeps what it remembers until its series of accesses ends; its next part begins with zeros.
        if kind < GRANT:
            for k in range(OWN):
                walk[request, REMEMBERED + k] = own[k]
            _issue(run, request, kind, group, now)
            return
        if not _end_series(run, request, kind, size, now):
            return


@noinline
def _end_series(run: Run, request: int, kind: int, size: int, now: int) -> bool:
    """Book what the heap granted, or note that it refused; return whether the request asks on, for its next part."""
    state, walk = run.state, run.state.walks
    low, high = _to_int64(walk[request, LOW]), _to_int64(walk[request, HIGH])
    if kind == GRANT:
        if not _is_block(run):
            fail(state.counters, FAULT.heap_wrong, now, request, kind)
            return False
        book(run.cuts, state, request, low, high, state.out[START], state.out[GRANULES], size, now)
    else:
        count = state.counters[COUNT.refusals]
        if count < state.refusals.shape[0]:
            state.refusals[count, 0], state.refusals[count, 1], state.refusals[count, 2] = now, request, size
        state.counters[COUNT.refusals] += 1
    if _has_part(run, request, low, high, kind == NULL):
        return True
    _answer(run, request, now)
    return False


@kernel
def _is_block(run: Run) -> bool:
    """Return whether what the heap grants lies in it."""
    start, granules = run.state.out[START], run.state.out[GRANULES]
    return start >= 0 and granules > 0 and start + granules <= run.rules.region


@kernel
def _issue(run: Run, request: int, kind: int, group: int, now: int) -> None:
    """Issue an access of a request."""
    rules, state, counters = run.rules, run.state, run.state.counters
    cycles = _to_int64(state.out[CYCLES])
    if kind == WAIT:
        ends = now + max(cycles, 0)
    else:
        word = _to_int64(state.out[WORD])
        if word < 0 or word >= state.words.shape[0] or (kind == HOLD and cycles < 0):
            fail(counters, FAULT.heap_wrong, now, request, kind)
            return
        merged = (
            kind == ADD
            and rules.merges
            # Stored as the cycle plus 1: 0 means that the latest access was no `add`, or that there was none.
            and state.words[word, ADDED_AT] == now + 1
            and state.words[word, ADDED_BY] == group
        )
        # Requests under way, this one among them, poll the same memory, which slows the section (R24).
        if kind == HOLD:
            under_way = counters[COUNT.admitted] - counters[COUNT.answered_requests]
            cycles += under_way // rules.polls if rules.polls > 0 else 0
        else:
            cycles = rules.swap_cycles if kind == SWAP else rules.hold_cycles
        reaches, free = now + rules.travel_cycles, state.words[word, FREE_AT]
        starts = max(reaches, free)
        ends = free if merged else starts + cycles
        if not merged:
            state.words[word, FREE_AT] = ends
            state.words[word, ADDED_AT], state.words[word, ADDED_BY] = (now + 1 if kind == ADD else 0), group
            counters[COUNT.failures] += free > reaches and kind in (SWAP, HOLD)
            if kind == HOLD:
                _note_section(run, request, starts)
            else:
                counters[COUNT.atomics] += 1
        # A merged access starts with the one before it (R26), which takes as many cycles.
        state.acquired[request] = ends - cycles
    together = counters[COUNT.together]
    if (
        together != NONE
        and together + _to_int64(state.walks[together, TOGETHER]) == request
        and counters[COUNT.until] == ends
    ):
        state.walks[together, TOGETHER] += 1
        return
    state.walks[request, TOGETHER] = 1
    counters[COUNT.together], counters[COUNT.until] = request, ends
    put(state.accesses, ends, request)


@kernel
def _note_section(run: Run, request: int, starts: int) -> None:
    """Count a section, and log it where events are asked for."""
    state, log = run.state, run.state.counters[COUNT.taken]
    run.state.counters[COUNT.acquisitions] += 1
    if log < state.taken_log.shape[0]:
        state.taken_log[log, 0], state.taken_log[log, 1], state.taken_log[log, 2] = starts, request, 0
    state.counters[COUNT.taken] += 1


@kernel
def _has_part(run: Run, request: int, low: int, high: int, refused: bool) -> bool:
    """Let a request ask for the part that follows the rows at the places [low, high); False where it has asked all."""
    rules, cuts = run.rules, run.cuts
    first, end = _to_int64(cuts.first[request]), _to_int64(cuts.first[request + 1])
    whole = low == first and high == end
    if rules.on_failure == ALL_NULL or (whole and not (refused and end - first > 1)):
        return False
    if rules.on_failure != HALVE:
        start = first if whole else high
        if start < end:
            _ask_for(run, request, start, start + 1)
        return bool(start < end)
    if refused and high - low > 1:
        _ask_for(run, request, low, low + (high - low + 1) // 2)
        return True
    if high == end:
        return False
    while True:  # what follows is the right half of the least range of which [low, high) ends the left half
        middle = first + (end - first + 1) // 2
        if high < middle:
            end = middle
        elif high == middle:
            _ask_for(run, request, middle, end)
            return True
        else:
            first = middle


@kernel
def _answer(run: Run, request: int, now: int) -> None:
    """Answer a request."""
    rules, state = run.rules, run.state
    hidden = run.columns.arrival[run.cuts.leader[request]] + rules.during_cycles
    block = state.walks[request, BLOCK]
    state.blocks_left[block, LEFT] -= 1
    state.counters[COUNT.answered_requests] += 1
    if state.blocks_left[block, LEFT] == 0:
        state.blocks_left[block, UNDER_WAY] = 0
        state.counters[COUNT.running] -= 1
        state.counters[COUNT.freed_at] = now
    state.ended[request] = now
    state.ready[request] = max(now, hidden) + rules.division_cycles
    enter_returns(run, request, state.ready[request])
    note_answer(state, request, state.ready[request], 0)
