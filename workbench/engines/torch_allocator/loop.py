"""The compiled loop: one request after another, as the application made them."""

from __future__ import annotations

from workbench.compiled import entry_point, inlined
from workbench.engines.torch_allocator.blocks import get, put, release
from workbench.engines.torch_allocator.releasing import empty_cache, give_back_one
from workbench.engines.torch_allocator.serving import allocate
from workbench.engines.torch_allocator.state import (
    ALLOC,
    AWAITED,
    BORN,
    CALLS,
    COMPLETE,
    DEFER,
    DONE,
    EMPTY_CACHE,
    FIRST_REFUSED,
    FRESH,
    GIVE_BACK,
    KIND,
    NEEDS_ROOM,
    REFUSED,
    RESERVED,
    ROW,
    SEARCHED_BEFORE,
    SPARE,
    STATUS,
    STOPPED,
    Requests,
    Rules,
    Run,
    State,
    Supply,
)
from workbench.structures.size_index import ADDRESS, NONE


@entry_point
def simulate(run: Run) -> None:
    """Serve every request from the next row on, or stop before one for which the arrays may be too small."""
    requests, rules, state = run.requests, run.rules, run.state
    counters = state.counters
    while counters[ROW] < requests.kind.size:
        if lacks_room(state):
            counters[STATUS] = NEEDS_ROOM
            return
        row = counters[ROW]
        serve(requests, run.supply, rules, state, row)
        state.reserved[row] = counters[RESERVED]
        counters[ROW] += 1
        if rules.stops and counters[REFUSED] > 0:
            counters[STATUS] = STOPPED
            return
    counters[STATUS] = DONE


@inlined
def lacks_room(state: State) -> bool:
    """Return whether a row could need more blocks or calls than there is room for: all free ones go back at once."""
    counters, capacity = state.counters, state.spare.size
    used = counters[FRESH] - counters[SPARE]
    return 3 * used + 16 > capacity or counters[CALLS] + 2 * used + 16 > capacity


@inlined
def serve(requests: Requests, supply: Supply, rules: Rules, state: State, row: int) -> None:
    """Serve one request."""
    kind, handle = requests.kind[row], requests.handle[row]
    if kind == ALLOC:
        searched = requests.address[row] == SEARCHED_BEFORE
        block = allocate(rules, supply, state, requests.owner[row], requests.size[row], searched)
        state.block_of[handle] = block
        if block == NONE:
            note_refusal(state, row)
        else:
            state.placed[row] = get(state, block, ADDRESS)
    elif kind == EMPTY_CACHE:
        empty_cache(rules, state)
    elif kind == GIVE_BACK:
        give_back_one(requests, state, row)
    elif kind <= COMPLETE:
        if state.block_of[handle] != NONE:
            let_go(rules, state, kind, handle)
    else:
        state.freeable[rules.private[requests.owner[row]]] = 1


@inlined
def note_refusal(state: State, row: int) -> None:
    """Count a request that was not served."""
    if state.counters[REFUSED] == 0:
        state.counters[FIRST_REFUSED] = row
    state.counters[REFUSED] += 1


@inlined
def let_go(rules: Rules, state: State, kind: int, handle: int) -> None:
    """Take a block back, at once or when the streams that use it are done; what was awaited may be back by then."""
    block = state.block_of[handle]
    if kind == DEFER:
        put(state, block, KIND, AWAITED)
        put(state, block, BORN, handle)
        return
    state.block_of[handle] = NONE
    release(rules, state, block)
