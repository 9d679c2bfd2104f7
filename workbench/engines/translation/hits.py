"""A stretch of rows before the next event: their hits never touch the agenda.

A hit of constant latency is counted by its count, and the window of time is looked up only past its end. A row whose
core waits, that unmaps, or that uses a copy of which somebody wants to hear ends the stretch.
"""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline, prefetch
from workbench.engines.translation.at_once import miss
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.issuing import PRIVATE
from workbench.engines.translation.reporting import latency_bin, window
from workbench.engines.translation.room import has_room
from workbench.engines.translation.sampling import sample_if_due
from workbench.engines.translation.scheduling import next_cycle
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import KINDS_OF_SERVICE, Run
from workbench.structures.set_assoc import NONE, PUSHER, ROW, set_of, touch

AHEAD = 12
"""Rows between one that is served and one whose page is looked for in memory: the time that memory takes."""
NEAR_CELLS = 1 << 12
"""Cells of the table by page (16 KiB) that are near enough."""


@noinline
def serve_rows(run: Run, row: int, end: int) -> int:
    """Serve rows before the next event: hits, and misses that are answered at once or wait; return the first row that
    is not served."""
    cycle, soonest, last = run.rows.cycle, next_cycle(run), _last(run, row, end)
    until = end_of_window(run, cycle[row])
    while row < last:
        began, row = row, _serve_hits(run, row, last, end, min(soonest, until))
        if row > began:
            count_window(run, cycle[row - 1], row - began)
            count_hits(run, row - began, 0, cycle[row - 1])
        if row == last or cycle[row] >= soonest:
            break
        if cycle[row] >= until:
            until = end_of_window(run, cycle[row])
        elif _is_missed(run, row) and has_room(run):
            miss(run, row, end)
            row += 1
            soonest, last = next_cycle(run), _last(run, row, end)
        else:
            break
    return row


@inlined
def _last(run: Run, row: int, end: int) -> int:
    """Return the row before which a look at who shares what is due, if all before it hit."""
    counters = run.state.counters
    return min(end, row + counters[COUNT.next_sample] - counters[COUNT.served])


@inlined
def _serve_hits(run: Run, row: int, last: int, end: int, until: int) -> int:
    """Serve rows before a cycle as long as they hit; return the first that is not served."""
    state, rows, sets = run.state, run.rows, run.rules.private_sets
    unmaps, ahead = rows.unmap.size > 0, is_far(run)
    while row < last and rows.cycle[row] < until:
        core = to_int64(rows.core[row])
        if state.halted[core] or (unmaps and rows.unmap[row]):
            break
        if ahead:
            fetch_page(run, row, end)
        entry = find(run, core, to_int64(rows.number[row]))
        if entry == NOWHERE or state.tlbs.entries[entry * ROW + PUSHER] != NONE:
            break
        touch(state.tlbs, core * sets + (set_of(rows.key[row], sets) if sets > 1 else 0), entry)
        state.served[core * KINDS_OF_SERVICE + PRIVATE] += 1
        row += 1
    return row


@inlined
def _is_missed(run: Run, row: int) -> bool:
    """Return whether a row is an access that its core can issue, and misses."""
    rows, core = run.rows, to_int64(run.rows.core[row])
    if run.state.halted[core] or (rows.unmap.size > 0 and rows.unmap[row]):
        return False
    return bool(find(run, core, to_int64(rows.number[row])) == NOWHERE)


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
    """Return the first cycle behind the window of a cycle, as long as windows are now.

    Counting makes them longer, looking ahead does not: the row may be an unmapping, which no window counts.
    """
    counters = run.state.counters
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
