"""Accesses that wait: behind their core, for a port or a register, or joined to a miss.

Places are taken from a free list, and linked where several wait for one thing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.state import PARKED, Run
from workbench.engines.translation.under_way import WAITING

_REASONS: Any = tuple(np.int64(reason) for reason in range(5))
FOR_PORT, FOR_REGISTER, FOR_CORE, TO_UNMAP, JOINED = _REASONS
NONE: Any = np.int64(-1)


def with_places(parking: np.ndarray, counters: np.ndarray, places: int) -> np.ndarray:
    """Return the same waiting accesses with so many places, more than before."""
    before, longer = parking.size // PARKED, np.zeros(places * PARKED, np.int64)
    longer[: parking.size] = parking
    rows = longer.reshape(-1, PARKED)
    rows[before:, WAITING.next] = np.arange(before + 1, places + 1)
    rows[-1, WAITING.next] = counters[COUNT.parked_free]
    counters[COUNT.parked_free] = before
    return longer


@noinline
def park(run: Run, since: int, name: int, page: int, key: int, row: int, why: int, known: int) -> int:
    """Keep an access that waits, and return its place."""
    parking, counters = run.state.parking, run.state.counters
    place = counters[COUNT.parked_free]
    at = place * PARKED
    counters[COUNT.parked_free] = parking[at + WAITING.next]
    counters[COUNT.parked] += 1
    parking[at + WAITING.since], parking[at + WAITING.known], parking[at + WAITING.why] = since, known, why
    parking[at + WAITING.name], parking[at + WAITING.page], parking[at + WAITING.key] = name, page, key
    parking[at + WAITING.ordinal], parking[at + WAITING.next], parking[at + WAITING.dead] = row, NONE, 0
    return place


@kernel
def unpark(run: Run, place: int) -> None:
    """Give back the place of an access that waits no more."""
    counters = run.state.counters
    run.state.parking[place * PARKED + WAITING.next] = counters[COUNT.parked_free]
    counters[COUNT.parked_free] = place
    counters[COUNT.parked] -= 1


@noinline
def wait_behind(run: Run, core: int, place: int) -> None:
    """Put a row at the end of those that a core will issue when it is woken."""
    state, last = run.state, run.state.behind[2 * core + 1]
    if last == NONE:
        state.behind[2 * core] = place
    else:
        state.parking[last * PARKED + WAITING.next] = place
    state.behind[2 * core + 1] = place


@kernel
def first_behind(run: Run, core: int) -> int:
    """Take the first of these rows; there is one."""
    state, first = run.state, run.state.behind[2 * core]
    state.behind[2 * core] = state.parking[first * PARKED + WAITING.next]
    if state.behind[2 * core] == NONE:
        state.behind[2 * core + 1] = NONE
    return first
