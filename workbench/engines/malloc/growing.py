"""A heap that grows: a section that finds no room asks the pool for a chunk (spec 6, R14, E8).

The lock is held until the pool has answered; the section goes on then, and lasts as long as any other. A refused chunk
leaves the decision to the failure policy, which is null in the end. Chunks lie behind each other in the range of
addresses that was set aside for the arena.
"""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.malloc.memory import extend
from workbench.engines.malloc.sections import end_section, holds_for
from workbench.engines.malloc.serving import ask_heap, note_answer, try_parts
from workbench.engines.malloc.state import COUNT, NEEDS, NONE, SINCE, Run
from workbench.structures.timetable import NEVER, set_time


@noinline
def may_grow(run: Run, request: int, at: int) -> bool:
    """Return whether an arena has addresses for the chunk that a request needs."""
    return bool(run.arena.limit[at] + _wanted(run, request) <= run.rules.region)


@kernel
def _wanted(run: Run, request: int) -> int:
    """Return the granules of the chunk that a request needs: whole chunks in which it, or its size class, has room."""
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
    if granules > 0:
        extend(run.rules, run.arena, run.policies, state, at, granules, now)
        served = ask_heap(run, request, at, run.cuts.first[request], run.cuts.first[request + 1], now)
    if not served:
        lasts += lasts * try_parts(run, request, at, now)
    end_section(run, request, at, now, now + lasts)
