"""What is kept of a run while it goes on: the log, latencies, counts over time, and looks at who shares what.

Windows of time become twice as long when there are too many. A look counts entries by the degree of their page, and
the pages that two cores both hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import entry_point, inlined, kernel, leading_zeros, noinline
from workbench.engines.kit import FINE, STOP
from workbench.engines.translation.state import (
    COLUMNS_OVER_TIME,
    COUNT,
    KINDS_OF_SERVICE,
    MIDDLE_COLUMN,
    STEPS_AN_OCTAVE,
    WINDOWS,
    Run,
)
from workbench.records.translation import ACCESS, EXACT_LATENCIES, OVER_TIME, SERVED_BY
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, next_core
from workbench.structures.set_assoc import HELD, NONE, PAGE, ROW

_ACCESS: Any = np.int64(ACCESS)
MIDDLE: Any = np.int64(SERVED_BY.index("middle"))
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
    # Octave 0 begins at 2**16 and has 1,024 steps of 2**6. The step doubles with each octave.
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
    state.over_time[window(run, since) + (MIDDLE_COLUMN if source == MIDDLE else source)] += 1
    log(run, since, _ACCESS, core, page, source, peer, latency)


@kernel
def count_messages(run: Run, kind: int, count: int, leave: int) -> None:
    """Count messages that leave at a cycle."""
    run.state.messages[kind] += count
    run.state.over_time[window(run, leave) + SENT_COLUMN] += count


@kernel
def window(run: Run, cycle: int) -> int:
    """Return the start of the counts of a cycle's window; windows become twice as long when there are too many."""
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
        # In place: each sum is written in front of the windows that are still to be read.
        for at in range(half):
            row, column = at // COLUMNS_OVER_TIME, at % COLUMNS_OVER_TIME
            one = 2 * row * COLUMNS_OVER_TIME + column
            counts[at] = counts[one] + counts[one + COLUMNS_OVER_TIME]
        for at in range(half, 2 * half):
            counts[at] = 0
        run.state.counters[COUNT.window_bits] += 1


@kernel
def sample_if_due(run: Run) -> None:
    """Look at the end of an event that serves the access after which a look is due."""
    counters = run.state.counters
    while counters[COUNT.served] >= counters[COUNT.next_sample]:
        counters[COUNT.next_sample] += run.rules.sample_accesses
        sample(run)


@entry_point
def sample(run: Run) -> None:
    """Look at who shares what now."""
    rules, state = run.rules, run.state
    state.counters[COUNT.samples] += 1
    if rules.cores == 1:
        _count_own(run)
        return
    for entry in range(rules.cores * rules.private_entries):
        page = state.tlbs.entries[entry * ROW + PAGE]
        if page != NONE:
            first = next_core(state.held, page * rules.words, rules.words, FIRST_WORD)
            # Count each page once, at the entry of its lowest holder.
            if first == entry // rules.private_entries:
                _count_holders(run, page * rules.words, first)


@kernel
def _count_own(run: Run) -> None:
    """Count the entries of the only core, each of which one core holds."""
    for at in range(run.rules.private_sets):
        run.state.degrees[1] += run.state.tlbs.sets[at * ROW + HELD]


@noinline
def _count_holders(run: Run, row: int, first: int) -> None:
    """Count the holders of a page, of whom the first is given, and every pair of them; `push` is space for a list."""
    rules, state, count = run.rules, run.state, 0
    holders, peer = state.push, first
    while peer != NOBODY:
        holders[count] = peer
        count += 1
        peer = next_core(state.held, row, rules.words, peer + 1)
    # Degrees count entries, not pages: each holder has one.
    state.degrees[count] += count
    for one in range(count):
        for other in range(one):
            state.pair_sums[holders[one] * rules.cores + holders[other]] += 1
            state.pair_sums[holders[other] * rules.cores + holders[one]] += 1


@inlined
def sample_at_end(run: Run) -> None:
    """Look at who shares what once more, where nothing more will happen."""
    counters = run.state.counters
    if counters[COUNT.ended] and counters[STOP.fault] == FINE:
        sample(run)
