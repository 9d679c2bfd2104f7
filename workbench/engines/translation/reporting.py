"""What is kept of a run while it goes on: the first thing that went wrong, the log, counts over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel, leading_zeros, noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.state import (
    COLUMNS_OVER_TIME,
    KINDS_OF_SERVICE,
    STEPS_AN_OCTAVE,
    WINDOWS,
    Run,
)
from workbench.records.translation import ACCESS, EXACT_LATENCIES, OVER_TIME

_ACCESS: Any = np.int64(ACCESS)
ONE_MESSAGE: Any = np.int64(1)
SENT_COLUMN, WAITED_COLUMN = OVER_TIME.index("messages"), OVER_TIME.index("noc_queue_cycles")


@kernel
def log(run: Run, cycle: int, kind: int, core: int, page: int, source: int, peer: int, latency: int) -> None:
    """Keep an event, where events are kept; the page of an access is the trace's, all others are short numbers."""
    if run.rules.keeps_log:
        _log(run, cycle, kind, core, page, source, peer, latency)


@noinline
def _log(run: Run, cycle: int, kind: int, core: int, page: int, source: int, peer: int, latency: int) -> None:
    rows, row = run.state.log, run.state.counters[COUNT.logged]
    if row < rows.shape[0]:
        rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3] = cycle, kind, core, page
        rows[row, 4], rows[row, 5], rows[row, 6] = source, peer, latency
    run.state.counters[COUNT.logged] += 1


@kernel
def latency_bin(latency: int) -> int:
    """Return the bin in which a latency is counted: its own below 2**16, then 1,024 an octave."""
    if latency < EXACT_LATENCIES:
        return latency
    octave = 63 - leading_zeros(np.uint64(latency)) - 16
    step = (latency >> (octave + 6)) - STEPS_AN_OCTAVE
    return EXACT_LATENCIES + octave * STEPS_AN_OCTAVE + step


@noinline
def count_served(run: Run, core: int, page: int, since: int, done: int, source: int, peer: int) -> None:
    """Count an access that is answered at a cycle; its latency runs from `since`."""
    state = run.state
    counters, latency = state.counters, done - since
    counters[COUNT.served] += 1
    counters[COUNT.last_cycle] = max(counters[COUNT.last_cycle], done)
    state.served[core * KINDS_OF_SERVICE + source] += 1
    state.spent[source] += latency
    state.latency[latency_bin(latency)] += 1
    state.over_time[window(run, since) + source] += 1
    log(run, since, _ACCESS, core, page, source, peer, latency)


@kernel
def count_messages(run: Run, kind: int, count: int, leave: int) -> None:
    """Count messages that leave at a cycle."""
    run.state.messages[kind] += count
    run.state.over_time[window(run, leave) + SENT_COLUMN] += count


@kernel
def window(run: Run, cycle: int) -> int:
    """Return where the counts of a cycle's window begin; windows become twice as long when there are too many."""
    counters = run.state.counters
    since = cycle - counters[COUNT.first_cycle]
    if (since >> counters[COUNT.window_bits]) >= WINDOWS:
        _halve_windows(run, since)
    return (since >> counters[COUNT.window_bits]) * COLUMNS_OVER_TIME


@noinline
def _halve_windows(run: Run, since: int) -> None:
    """Let two windows become one until a cycle lies within them."""
    counts, half = run.state.over_time, WINDOWS // 2 * COLUMNS_OVER_TIME
    while (since >> run.state.counters[COUNT.window_bits]) >= WINDOWS:
        for at in range(half):
            row, column = at // COLUMNS_OVER_TIME, at % COLUMNS_OVER_TIME
            one = 2 * row * COLUMNS_OVER_TIME + column
            counts[at] = counts[one] + counts[one + COLUMNS_OVER_TIME]
        for at in range(half, 2 * half):
            counts[at] = 0
        run.state.counters[COUNT.window_bits] += 1
