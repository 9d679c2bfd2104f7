"""A stretch of hits in private TLBs, which never touches the agenda: totals are kept aside until it ends.

A hit of constant latency is counted by its count, the window of time is looked up only past its end, and a row that is
no hit ends the stretch.
"""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline, prefetch
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.issuing import PRIVATE
from workbench.engines.translation.reporting import latency_bin, window
from workbench.engines.translation.sampling import sample_if_due
from workbench.engines.translation.scheduling import next_cycle
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import KINDS_OF_SERVICE, Run
from workbench.structures.entry_sets import NONE, PUSHER, ROW, set_of, touch

LONG_AGO = -(1 << 62)
AHEAD = 12
"""Rows between one that is served and one whose page is looked for in memory: the time that memory takes."""
NEAR_CELLS = 1 << 12
"""Cells of the table by page (16 KiB) that are near enough."""


@noinline
def serve_hits(run: Run, row: int, end: int) -> int:
    """Serve rows before the next event as long as they hit; return the first that is not served."""
    rules, state, rows = run.rules, run.state, run.rows
    counters, soonest, began = state.counters, next_cycle(run), row
    last = min(end, row + counters[COUNT.next_sample] - counters[COUNT.served])
    sets, until, counted = rules.private_sets, LONG_AGO, row
    unmaps, ahead = rows.unmap.size > 0, is_far(run)
    while row < last:
        cycle = rows.cycle[row]
        if cycle >= soonest or (unmaps and rows.unmap[row]):
            break
        core, page = to_int64(rows.core[row]), to_int64(rows.number[row])
        if ahead:
            fetch_page(run, row, end)
        entry = find(run, core, page)
        if entry == NOWHERE or state.halted[core] or state.tlbs.entries[entry * ROW + PUSHER] != NONE:
            break
        touch(state.tlbs, core * sets + (set_of(rows.key[row], sets) if sets > 1 else 0), entry)
        if cycle >= until:
            if row > counted:
                count_window(run, rows.cycle[row - 1], row - counted)
            until, counted = end_of_window(run, cycle), row
        state.served[core * KINDS_OF_SERVICE + PRIVATE] += 1
        row += 1
    if row > began:
        count_window(run, rows.cycle[row - 1], row - counted)
        count_hits(run, row - began, 0, rows.cycle[row - 1])
    return row


@kernel
def is_far(run: Run) -> bool:
    """Return whether the table by page is too large for the nearest caches, so that it pays to look ahead."""
    return bool(run.rules.dense and run.state.where.size > NEAR_CELLS)


@inlined
def fetch_page(run: Run, row: int, end: int) -> None:
    """Let the tables by page come nearer where a row of the trace will soon need them."""
    rules, state = run.rules, run.state
    soon = min(row + AHEAD, end - 1)
    page = to_int64(run.rows.number[soon])
    prefetch(state.where, page * rules.tlbs + to_int64(run.rows.core[soon]))
    if rules.reads_ahead:
        prefetch(state.where, page * rules.tlbs + rules.tlbs - 1)
        prefetch(state.held, page * rules.words)


@kernel
def end_of_window(run: Run, cycle: int) -> int:
    """Return the first cycle behind the window of a cycle."""
    counters = run.state.counters
    window(run, cycle)
    bits, first = counters[COUNT.window_bits], counters[COUNT.first_cycle]
    return first + ((((cycle - first) >> bits) + 1) << bits)


@kernel
def count_window(run: Run, cycle: int, hits: int) -> None:
    run.state.over_time[window(run, cycle) + PRIVATE] += hits


@inlined
def count_hits(run: Run, served: int, walks: int, cycle: int) -> None:
    """Count accesses that are served, all but so many of them hits, the last of which was issued at a cycle."""
    state, latency = run.state, run.rules.private_cycles
    counters, hits = state.counters, served - walks
    counters[COUNT.served] += served
    counters[COUNT.now] = cycle
    counters[COUNT.last_cycle] = max(counters[COUNT.last_cycle], cycle + latency)
    state.spent[PRIVATE] += hits * latency
    if hits > 0:
        state.latency[latency_bin(latency)] += hits
    sample_if_due(run)
