"""A heap that grows: who is refused may wait until the pool has answered for a chunk (spec 6, R14, E8).

An arena asks for one chunk at a time. Who is refused leaves the lock as usual; all who wait come to the line again, in
the order in which they were refused, when the chunk is there or is refused. One that is refused once more asks for the
next chunk, unless the pool refused it one: then its failure policy decides, which is null in the end. Chunks lie behind
each other in the range of addresses that was set aside for the arena.
"""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.malloc.memory import extend
from workbench.engines.malloc.serving import note_answer
from workbench.engines.malloc.state import (
    CHUNKS,
    CHUNKS_BEFORE,
    COUNT,
    CYCLES,
    FIRST_HELD,
    FORGONE,
    LAST_HELD,
    NEEDS,
    NONE,
    SINCE,
    Run,
)
from workbench.engines.malloc.waiting import come


@noinline
def may_grow(run: Run, request: int, at: int) -> bool:
    """Return whether a request that an arena refused may wait for a chunk there."""
    fits = run.arena.limit[at] + _wanted(run, request) <= run.rules.region
    return bool(fits and run.state.held[request, FORGONE] == 0)


@kernel
def _wanted(run: Run, request: int) -> int:
    """Return the granules of the chunk that a request needs: whole chunks in which it, or its size class, has room."""
    rules = run.rules
    granules = max((rules.header + run.cuts.total[request] + rules.granule - 1) // rules.granule, rules.chunk)
    return (granules + rules.grows - 1) // rules.grows * rules.grows


@noinline
def hold(run: Run, request: int, at: int, now: int) -> None:
    """Let a request wait for a chunk of an arena, which is asked for if it is not already; at once back to the line
    where one came while the request was refused."""
    state, growth = run.state, run.state.growth
    if growth[at, CHUNKS] != growth[at, CHUNKS_BEFORE]:
        come(run.rules, state, request, at, now)
        return
    state.behind[request], state.held[request, SINCE] = NONE, now
    if growth[at, FIRST_HELD] == NONE:
        growth[at, FIRST_HELD] = request
    else:
        state.behind[growth[at, LAST_HELD]] = request
    growth[at, LAST_HELD] = request
    if growth[at, NEEDS] == NONE:
        growth[at, NEEDS] = request
        note_answer(state, request, now, _wanted(run, request) * run.rules.granule)


@noinline
def arena_that_needs(run: Run, request: int) -> int:
    """Return the arena for which a request asked for a chunk, -1 = there is none."""
    for at in range(run.state.growth.shape[0]):
        if run.state.growth[at, NEEDS] == request:
            return at
    return NONE


@noinline
def grow(run: Run, at: int, granules: int, now: int) -> None:
    """Take the pool's answer for an arena: so many granules, 0 = refused; all who waited come to the line again."""
    state, growth = run.state, run.state.growth
    if granules > 0:
        extend(run.rules, run.arena, run.policies, state, at, granules, now)
    request = growth[at, FIRST_HELD]
    growth[at, NEEDS], growth[at, FIRST_HELD], growth[at, LAST_HELD] = NONE, NONE, NONE
    growth[at, CHUNKS] += 1
    state.counters[COUNT.now] = now
    while request != NONE:
        behind = state.behind[request]
        state.held[request, CYCLES] += now - state.held[request, SINCE]
        if granules == 0:
            state.held[request, FORGONE] = 1
        come(run.rules, state, request, at, now)
        request = behind
