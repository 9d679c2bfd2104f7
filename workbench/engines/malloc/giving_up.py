"""Returns that somebody decides while a run goes on: when the last piece of a block is given up, the block goes back.

What goes back at one cycle does so in the order in which it was granted, whatever the order in which that was asked
for: as it would if it had been known before. So it waits in a heap until the cycle's returns are done.
"""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.malloc.serving import note_returned
from workbench.engines.malloc.state import ARENA, COUNT, NONE, PIECEWISE, RANK_OF, WARP_AT, Run, State
from workbench.structures.timetable import put


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
