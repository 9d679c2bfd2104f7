"""A critical section of the engine `malloc`: the heap is asked, blocks are booked, their return is entered (spec 2)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, noinline, routine
from workbench.engines.malloc.heap import allocate, give_back
from workbench.engines.malloc.state import (
    ALL_NULL,
    ARENA,
    COUNT,
    HALVE,
    NONE,
    PIECEWISE,
    RANK_OF,
    WARP_AT,
    Columns,
    Cuts,
    Run,
    State,
)
from workbench.structures.timetable import next_due, put, take


@kernel
def book(
    cuts: Cuts, state: State, request: int, low: int, high: int, start: int, granules: int, size: int, now: int
) -> None:
    """Write down the block of the rows at the places [low, high) of a request."""
    block = state.counters[COUNT.blocks]
    state.counters[COUNT.blocks] += 1
    state.base[block], state.granules[block], state.bytes[block] = start, granules, size
    state.owner[block], state.granted[block] = request, now
    state.origin[block] = cuts.offset[cuts.order[low]] if low > cuts.first[request] else 0
    for place in range(low, high):
        state.block[cuts.order[place]] = block


@kernel
def ask_heap(run: Run, request: int, at: int, low: int, high: int, now: int) -> bool:
    """Do one operation on the heap for the rows at the places [low, high) of a request; False where it refuses."""
    rules, cuts, state = run.rules, run.cuts, run.state
    size = rules.header + cuts.total[request]
    if high - low < cuts.first[request + 1] - cuts.first[request]:
        size = np.int64(rules.header)
        for place in range(low, high):
            size += cuts.size[cuts.order[place]]
    state.counters[COUNT.atomics] += 1
    start = allocate(rules, run.arena, run.policies, state, at, size, now)
    if start == NONE:
        count = state.counters[COUNT.refusals]
        if count < state.refusals.shape[0]:
            state.refusals[count, 0], state.refusals[count, 1], state.refusals[count, 2] = now, request, size
        state.counters[COUNT.refusals] += 1
        return False
    granules = state.counters[COUNT.grants]
    start += at * rules.region
    if rules.frees != PIECEWISE:
        book(cuts, state, request, low, high, start, granules, size, now)
        return True
    # With piecewise frees pieces have whole granules (`check_pieces`) and blocks no header (`WarpAggregated.check`).
    origin = cuts.offset[cuts.order[low]]
    for place in range(low, high):
        row = cuts.order[place]
        first, own = (cuts.offset[row] - origin) // rules.granule, cuts.size[row] // rules.granule
        book(cuts, state, request, place, place + 1, start + first, own, cuts.size[row], now)
    return True


@noinline
def _ask_again(run: Run, request: int, at: int, low: int, high: int, now: int) -> bool:
    """Ask for a part; most requests are served whole, and `ask_heap` is copied where they are."""
    return ask_heap(run, request, at, low, high, now)


@noinline
def try_parts(run: Run, request: int, at: int, now: int) -> int:
    """Serve a request that was refused whole by its parts, each lane alone, or halves of halves, as the policy says;
    return the tries."""
    rules, state = run.rules, run.state
    first, end = np.int64(run.cuts.first[request]), np.int64(run.cuts.first[request + 1])
    if rules.on_failure == ALL_NULL or end - first < 2:
        return 0
    tries = 0
    if rules.on_failure != HALVE:
        for place in range(first, end):
            tries += 1
            _ask_again(run, request, at, place, place + 1, now)
        return tries
    stack, depth = state.stack, 2
    middle = first + (end - first + 1) // 2
    # The left half lies on top of the stack, so it is tried first.
    stack[0], stack[1], stack[2], stack[3] = middle, end, first, middle
    while depth > 0:
        depth -= 1
        low, high = stack[2 * depth], stack[2 * depth + 1]
        tries += 1
        done = _ask_again(run, request, at, low, high, now)
        if not done and high - low > 1:
            middle = low + (high - low + 1) // 2
            stack[2 * depth], stack[2 * depth + 1] = middle, high
            stack[2 * depth + 2], stack[2 * depth + 3] = low, middle
            depth += 2
    return tries


@routine
def enter_returns(run: Run, request: int, ready: int) -> None:
    """Enter into the timetable when what a request got goes back, where that is known."""
    rules, columns, cuts, state = run.rules, run.columns, run.cuts, run.state
    if rules.any_frees == 0 or rules.keeps:
        return
    if rules.frees == ARENA:
        _leave_warp(columns, cuts, state, request, ready)
        return
    first, end = cuts.first[request], cuts.first[request + 1]
    block, until = NONE, ready
    # The step past the end enters the last block.
    for place in range(first, end + 1):
        at = NONE if place == end else state.block[cuts.order[place]]
        if at != block:
            if block != NONE and until >= 0:
                state.returned[block] = until
                put(state.due, until, block)
            block, until = at, ready
        if at != NONE and until >= 0:
            gives = columns.free_at[cuts.order[place]]
            # If it is not known when a piece is given up, nothing is entered: the block never goes back, or, in a node,
            # `part.give_up` enters it.
            until = -1 if gives < 0 else max(until, gives)


@noinline
def _leave_warp(columns: Columns, cuts: Cuts, state: State, request: int, ready: int) -> None:
    """Give all blocks of a warp back together, by the free policy `arena`, after the last of its pieces is given up."""
    first, end = cuts.first[request], cuts.first[request + 1]
    warp = state.left.size
    block = np.int32(NONE)
    for place in range(first, end):
        row = cuts.order[place]
        if place == first:
            warp = columns.warp[row]
        state.left[warp] -= 1
        if state.block[row] == NONE:
            continue
        if state.block[row] != block:
            block = state.block[row]
            state.link[block] = state.chain[warp]
            state.chain[warp] = block
        gives = columns.free_at[row]
        if gives < 0:
            state.open[warp] += 1
        else:
            state.last[warp] = max(state.last[warp], max(gives, ready))
    if state.left[warp] > 0:
        return
    if state.ranks.shape[1] > 0:
        rank = state.counters[COUNT.complete]
        state.ranks[RANK_OF, warp], state.ranks[WARP_AT, rank] = rank, warp
        state.counters[COUNT.complete] += 1
    if state.open[warp] == 0 and state.chain[warp] != NONE:
        # The blocks go back no earlier than the answer of the last request, even if every piece was given up before.
        state.last[warp] = max(state.last[warp], ready)
        note_returned(state, warp)
        put(state.due, state.last[warp], warp)


@kernel
def note_returned(state: State, warp: int) -> None:
    """Write down when the blocks of a warp go back."""
    each = state.chain[warp]
    while each != NONE:
        state.returned[each] = state.last[warp]
        each = state.link[each]


@kernel
def note_answer(state: State, request: int, cycle: int, needs: int) -> None:
    """Write down an answer for who asked, where somebody asks; `needs` = the bytes of a chunk that comes first."""
    count = state.counters[COUNT.answered]
    # The array has rows only if the heap is a part of a node.
    if count < state.answers.shape[0]:
        state.answers[count, 0], state.answers[count, 1], state.answers[count, 2] = request, cycle, needs
        state.counters[COUNT.answered] += 1


@routine
def return_due(run: Run, now: int) -> None:
    """Give back what is due by now (spec 2, section 8: releases come before allocations of one cycle)."""
    rules, state = run.rules, run.state
    while next_due(state.due) <= now:
        cycle = next_due(state.due)
        which = take(state.due, cycle)
        if rules.frees != ARENA:
            _return(run, which, cycle)
            continue
        block = state.chain[which]
        while block != NONE:
            after = state.link[block]
            _return(run, block, cycle)
            block = after


@kernel
def _return(run: Run, block: int, cycle: int) -> None:
    give_back(run.rules, run.arena, run.policies, run.state, block, cycle)
    run.state.counters[COUNT.returned] += 1
