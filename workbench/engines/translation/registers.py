"""Miss-status registers: what each miss under way knows, and who waits for it (spec 4, E14, T3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import apart, kernel
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.state import MISS, Run

(
    CORE, PAGE, KEY, ORDINAL, NAME, SINCE, PLACE, DEAD, TRIES, IN_SHARED, SOURCE, QUEUED, WALK_DEAD, HOLDERS, PEER,
    JOINED, LAST_JOINED, NEXT, LAST, BEHIND, BATCH,
) = range(MISS)  # fmt: skip
"""Of a miss: its core, page (short number), what its entry is found by, the row and the page of the trace, the cycle
from which its latency counts, its place among its core's registers. What begins at 0: whether the page was unmapped
since; peers asked; whether the shared TLB held the page when the directory was read; who answers; when it came to the
walkers; whether its walk fills nothing; how many holders are left to ask. What begins at none: the peer that is asked;
the first and the last access that joined it; the next and (of one that opened a walk) the last that waits for the same
walk; the next in the queue of walks or before it. Written when its walk starts: its number in
its batch, 0 = in software."""
NONE: Any = np.int64(-1)
NO_PEER: Any = np.int64(-1)


@kernel
def take_register(run: Run, core: int, page: int, key: int, name: int, row: int, since: int) -> int:
    """Take a free register of a core for a miss, and return its number."""
    state = run.state
    place = core * run.rules.mshrs + state.in_use[core]
    miss = state.active[place]
    state.in_use[core] += 1
    state.counters[COUNT.under_way] += 1
    at, misses = miss * MISS, state.misses
    misses[at + CORE], misses[at + PAGE], misses[at + KEY], misses[at + ORDINAL] = core, page, key, row
    misses[at + NAME], misses[at + SINCE], misses[at + PLACE] = name, since, place
    misses[at + DEAD], misses[at + TRIES], misses[at + IN_SHARED], misses[at + SOURCE] = 0, 0, 0, 0
    misses[at + QUEUED], misses[at + WALK_DEAD], misses[at + HOLDERS] = 0, 0, 0
    misses[at + PEER], misses[at + JOINED], misses[at + LAST_JOINED] = NO_PEER, NONE, NONE
    misses[at + NEXT], misses[at + LAST], misses[at + BEHIND] = NONE, NONE, NONE
    return miss


@kernel
def free_register(run: Run, miss: int) -> None:
    """Give back the register of a miss that is answered."""
    state = run.state
    core, place = state.misses[miss * MISS + CORE], state.misses[miss * MISS + PLACE]
    state.in_use[core] -= 1
    state.counters[COUNT.under_way] -= 1
    last = core * run.rules.mshrs + state.in_use[core]
    moved = state.active[last]
    state.active[place], state.active[last] = moved, miss
    state.misses[moved * MISS + PLACE] = place


@kernel
def register_of(run: Run, core: int, page: int) -> int:
    """Return the miss of a core that waits for a page, and may be joined, or -1."""
    state, first = run.state, core * run.rules.mshrs
    for place in range(first, first + state.in_use[core]):
        miss = state.active[place]
        if state.misses[miss * MISS + PAGE] == page and not state.misses[miss * MISS + DEAD]:
            return miss
    return NONE


@apart
def kill_misses(run: Run, page: int) -> None:
    """Mark the misses of a page that is unmapped: they are answered, fill nothing, and nobody joins them."""
    rules, state = run.rules, run.state
    for core in range(rules.cores):
        first = core * rules.mshrs
        for place in range(first, first + state.in_use[core]):
            at = state.active[place] * MISS
            if state.misses[at + PAGE] == page:
                state.misses[at + DEAD] = 1
