"""The routines of a heap as a part of a node: requests, releases and chunks, decided from outside (spec 6, R2).

Each routine takes the run by reference and whole numbers, and returns one whole number, so that a compiled calendar can
call it by its address. What a routine is asked for at a cycle comes after all that precedes it there (spec 6, R3).
Answers stand in `state.answers`, counted by `COUNT.answered`, until who asked takes them and sets the counter to 0.

When the last piece of a block is given up, the block goes back. What goes back at one cycle does so in the order in
which it was granted, whatever the order in which that was asked for: as it would if it had been known before. So it
waits in a heap until the cycle's returns are done.
"""

from __future__ import annotations

from typing import Any

from workbench.compiled import kernel, noinline, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import LAST_CYCLE, RANK, moment, rank_of
from workbench.engines.malloc.critical_section import note_returned
from workbench.engines.malloc.loop import arena_that_needs, grow, let_happen, let_one_happen, next_coming
from workbench.engines.malloc.state import ARENA, COUNT, NONE, PIECEWISE, RANK_OF, WARP_AT, Run, State
from workbench.structures.timetable import NEVER, next_due, put

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
        # All blocks that go back at a cycle are one event; the moment behind it keeps later ranks out.
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
    """Return a time of a request. `which` = 0 is the cycle at which it came to its line, 1 the cycle at which it
    entered the critical section. 2 is the number of cycles for which it waited for a chunk."""
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
    run.state.queue[counters[COUNT.queued]] = request
    counters[COUNT.queued] += 1
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
    if run.state.block[row] != NONE and not run.rules.keeps:
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


@noinline
def give_up(run: Run, row: int, cycle: int) -> None:
    """Give up the piece of a call, which has one, from a cycle on."""
    state = run.state
    until = max(cycle, state.ready[state.owner[state.block[row]]])
    if run.rules.frees == ARENA:
        _give_up_of_warp(run, run.columns.warp[row], until, cycle)
    elif run.rules.frees == PIECEWISE:
        _enter_block(state, state.block[row], until, cycle)
    else:
        _give_up_of_block(run, state.block[row], until, cycle)


@noinline
def settle(state: State) -> None:
    """Put into the timetable what goes back at the cycle for which returns were asked."""
    cycle, counters = state.counters[COUNT.late_cycle], state.counters
    while counters[COUNT.late] > 0:
        first = _pop(state)
        put(state.due, cycle, state.ranks[WARP_AT, first] if state.ranks.shape[1] > 0 else first)


@kernel
def _give_up_of_block(run: Run, block: int, until: int, cycle: int) -> None:
    """Give up a piece of a block that goes back whole; the pieces that are left are counted when the first one goes."""
    state, request = run.state, run.state.owner[block]
    if state.open[block] == NONE:
        # This piece has its `free_at` already, so the loop below does not count it.
        state.open[block] = 1
        for place in range(run.cuts.first[request], run.cuts.first[request + 1]):
            row = run.cuts.order[place]
            state.open[block] += state.block[row] == block and run.columns.free_at[row] < 0
    state.open[block] -= 1
    if state.open[block] > 0:
        return
    for place in range(run.cuts.first[request], run.cuts.first[request + 1]):
        row = run.cuts.order[place]
        if state.block[row] == block:
            until = max(until, run.columns.free_at[row])
    _enter_block(state, block, until, cycle)


@kernel
def _enter_block(state: State, block: int, until: int, cycle: int) -> None:
    """Enter when a block goes back, now or later."""
    state.returned[block] = until
    if until > cycle:
        put(state.due, until, block)
    else:
        _push(state, block)


@kernel
def _give_up_of_warp(run: Run, warp: int, until: int, cycle: int) -> None:
    """Give up a piece of a warp, whose blocks go back together after its last call is served."""
    state = run.state
    state.last[warp] = max(state.last[warp], until)
    state.open[warp] -= 1
    if state.left[warp] > 0 or state.open[warp] > 0:
        return
    note_returned(state, warp)
    if state.last[warp] > cycle:
        put(state.due, state.last[warp], warp)
    else:
        _push(state, state.ranks[RANK_OF, warp])


@kernel
def _push(state: State, number: int) -> None:
    """Put a number into the heap of those that go back at the present cycle."""
    heap, at = state.late, state.counters[COUNT.late]
    state.counters[COUNT.late] += 1
    while at > 0 and heap[(at - 1) >> 1] > number:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = number


@kernel
def _pop(state: State) -> int:
    """Take the lowest number out of the heap."""
    heap, first = state.late, state.late[0]
    state.counters[COUNT.late] -= 1
    size = state.counters[COUNT.late]
    last, at, below = heap[size], 0, 1
    while below < size:
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= last:
            break
        heap[at] = heap[below]
        at, below = below, 2 * below + 1
    heap[at] = last
    return first
