"""What is kept of a run while it goes on: the first thing that went wrong, the log, counts over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import apart, kernel, leading_zeros
from workbench.engines.translation.state import (
    ANSWER,
    AT_CORE,
    AT_CYCLE,
    COLUMNS_OVER_TIME,
    FINE,
    FIRST_CYCLE,
    KINDS_OF_SERVICE,
    LAST_CYCLE,
    LOGGED,
    SERVED,
    STATUS,
    STEPS_AN_OCTAVE,
    WINDOW_BITS,
    WINDOWS,
    Run,
)
from workbench.records.translation import EXACT_LATENCIES
from workbench.records.translation_events import ACCESS, COLUMNS

_ACCESS: Any = np.int64(ACCESS)


@kernel
def fail(counters: np.ndarray, status: int, cycle: int, core: int, answer: int) -> None:
    """Keep the first thing that went wrong; what follows from it is not news."""
    if counters[STATUS] == FINE:
        counters[STATUS], counters[AT_CYCLE], counters[AT_CORE], counters[ANSWER] = status, cycle, core, answer


@kernel
def log(run: Run, cycle: int, kind: int, core: int, page: int, source: int, peer: int, latency: int) -> None:
    """Keep an event, where events are kept; the page of an access is the trace's, all others are short numbers."""
    if run.rules.keeps_log:
        _log(run, cycle, kind, core, page, source, peer, latency)


@apart
def _log(run: Run, cycle: int, kind: int, core: int, page: int, source: int, peer: int, latency: int) -> None:
    row, at = run.state.log, run.state.counters[LOGGED] * COLUMNS
    row[at], row[at + 1], row[at + 2], row[at + 3] = cycle, kind, core, page
    row[at + 4], row[at + 5], row[at + 6] = source, peer, latency
    run.state.counters[LOGGED] += 1


@kernel
def latency_bin(latency: int) -> int:
    """The bin in which a latency is counted: its own below 2**16, then 1,024 an octave."""
    if latency < EXACT_LATENCIES:
        return latency
    octave = 63 - leading_zeros(np.uint64(latency)) - 16
    step = (latency >> (octave + 6)) - STEPS_AN_OCTAVE
    return EXACT_LATENCIES + octave * STEPS_AN_OCTAVE + step


@kernel
def finish(run: Run, core: int, page: int, issue: int, done: int, source: int, peer: int) -> None:
    """Count an access that is served."""
    state = run.state
    counters, latency = state.counters, done - issue
    counters[SERVED] += 1
    counters[LAST_CYCLE] = max(counters[LAST_CYCLE], done)
    state.served[core * KINDS_OF_SERVICE + source] += 1
    state.spent[source] += latency
    state.latency[latency_bin(latency)] += 1
    state.over_time[window(run, issue) + source] += 1
    log(run, issue, _ACCESS, core, page, source, peer, latency)


@kernel
def window(run: Run, issue: int) -> int:
    """Where the counts of a cycle's window begin; windows become twice as long when there are too many."""
    counters = run.state.counters
    since = issue - counters[FIRST_CYCLE]
    if (since >> counters[WINDOW_BITS]) >= WINDOWS:
        _halve_windows(run, since)
    return (since >> counters[WINDOW_BITS]) * COLUMNS_OVER_TIME


@apart
def _halve_windows(run: Run, since: int) -> None:
    counts, half = run.state.over_time, WINDOWS // 2 * COLUMNS_OVER_TIME
    while (since >> run.state.counters[WINDOW_BITS]) >= WINDOWS:
        for at in range(half):
            row, column = at // COLUMNS_OVER_TIME, at % COLUMNS_OVER_TIME
            one = 2 * row * COLUMNS_OVER_TIME + column
            counts[at] = counts[one] + counts[one + COLUMNS_OVER_TIME]
        for at in range(half, 2 * half):
            counts[at] = 0
        run.state.counters[WINDOW_BITS] += 1
