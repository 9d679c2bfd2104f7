"""Miss-status registers: what each miss under way knows, and who waits for it (spec 4, E14, T3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.parking import FOR_CORE, FOR_REGISTER
from workbench.engines.translation.state import MISS, PARKED, Run
from workbench.engines.translation.under_way import OF, WAITING

NONE: Any = np.int64(-1)
NO_PEER: Any = np.int64(-1)


@inlined
def take_register(run: Run, core: int, page: int, key: int, name: int, row: int, since: int) -> int:
    """Take a free register of a core for a miss, and return its number."""
    state = run.state
    place = core * run.rules.mshrs + state.in_use[core]
    miss = state.active[place]
    state.in_use[core] += 1
    state.counters[COUNT.under_way] += 1
    at, misses = miss * MISS, state.misses
    misses[at + OF.core], misses[at + OF.page], misses[at + OF.key], misses[at + OF.ordinal] = core, page, key, row
    misses[at + OF.name], misses[at + OF.since], misses[at + OF.place] = name, since, place
    misses[at + OF.dead], misses[at + OF.tries], misses[at + OF.in_shared], misses[at + OF.source] = 0, 0, 0, 0
    misses[at + OF.queued], misses[at + OF.holders] = 0, 0
    misses[at + OF.peer], misses[at + OF.joined], misses[at + OF.last_joined] = NO_PEER, NONE, NONE
    misses[at + OF.next], misses[at + OF.last], misses[at + OF.behind] = NONE, NONE, NONE
    return miss


@inlined
def free_register(run: Run, miss: int) -> None:
    """Give back the register of a miss that is answered."""
    state = run.state
    core, place = state.misses[miss * MISS + OF.core], state.misses[miss * MISS + OF.place]
    state.in_use[core] -= 1
    state.counters[COUNT.under_way] -= 1
    last = core * run.rules.mshrs + state.in_use[core]
    moved = state.active[last]
    state.active[place], state.active[last] = moved, miss
    state.misses[moved * MISS + OF.place] = place


@kernel
def register_of(run: Run, core: int, page: int) -> int:
    """Return the miss of a core that waits for a page, and may be joined, or -1."""
    state, first = run.state, core * run.rules.mshrs
    for place in range(first, first + state.in_use[core]):
        miss = state.active[place]
        if state.misses[miss * MISS + OF.page] == page and not state.misses[miss * MISS + OF.dead]:
            return miss
    return NONE


@noinline
def kill_misses(run: Run, page: int) -> None:
    """Mark the misses of a page that is unmapped, and of those the ones without a register yet (T3, T12).

    They are answered and fill nothing, nor does a walk that they open; only misses with the same mark join it.
    """
    rules, state = run.rules, run.state
    unmapping = state.counters[COUNT.shootdowns]
    for core in range(rules.cores):
        first = core * rules.mshrs
        for place in range(first, first + state.in_use[core]):
            at = state.active[place] * MISS
            if state.misses[at + OF.page] == page and not state.misses[at + OF.dead]:
                state.misses[at + OF.dead] = unmapping
        _kill_waiting(run, core, page, unmapping)


@kernel
def _kill_waiting(run: Run, core: int, page: int, unmapping: int) -> None:
    """Mark the miss of a core that waits for a register, or has been given one in this cycle."""
    if run.state.blocked[core] == NONE:
        return
    parking, at = run.state.parking, run.state.blocked[core] * PARKED
    missed = parking[at + WAITING.why] == FOR_REGISTER or parking[at + WAITING.why] == FOR_CORE
    if missed and parking[at + WAITING.page] == page and not parking[at + WAITING.dead]:
        parking[at + WAITING.dead] = unmapping


@noinline
def kill_newest(run: Run, core: int, unmapping: int) -> None:
    """Mark the miss that took its core's register last: its page was unmapped while it waited for that."""
    newest = run.state.active[core * run.rules.mshrs + run.state.in_use[core] - 1]
    run.state.misses[newest * MISS + OF.dead] = unmapping
