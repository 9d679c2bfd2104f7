"""The compiled loop where warps wait for their translations: each core issues its next row when a warp is free.

A stretch ends when nothing more happens, when a core's next row must be known, when an array must grow, or when a
policy has broken its contract; it goes on from there as if it had not been left.
"""

from __future__ import annotations

from workbench.compiled import by_reference, inlined, kernel, noinline
from workbench.engines.kit import FINE, STOP
from workbench.engines.translation.counters import COUNT, FAULT
from workbench.engines.translation.handling import let_next_happen
from workbench.engines.translation.issuing import issue
from workbench.engines.translation.open_loop import begin
from workbench.engines.translation.ordering import order_of_row
from workbench.engines.translation.releasing import UNKNOWN, could_issue, line_up, occupy_warp
from workbench.engines.translation.room import has_room
from workbench.engines.translation.sampling import sample_at_end
from workbench.engines.translation.scheduling import ISSUES, event_precedes, order_of
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import Run
from workbench.engines.translation.unmapping import unmap
from workbench.structures.timetable import NEVER


@kernel
def play_warps(run: Run) -> None:
    """Issue rows as warps become free, until a core's next row must be known."""
    _play_warps(by_reference(run))


@inlined
def _play_warps(run: Run) -> None:
    counters, turns = run.state.counters, run.state.turns
    for core in range(run.rules.cores):
        line_up(run, core, counters[COUNT.now])
    while counters[STOP.fault] == FINE:
        cycle, core = turns.time[1], turns.number[1]
        if event_precedes(run, cycle, order_of(ISSUES, core)):
            let_next_happen(run)
        elif cycle == NEVER:
            break
        elif run.state.next_row[core] == UNKNOWN:
            counters[STOP.fault] = FAULT.needs_rows
        elif has_room(run):
            _issue_next(run, core, cycle)
        else:
            counters[STOP.fault] = FAULT.needs_room
    sample_at_end(run)


@noinline
def _issue_next(run: Run, core: int, now: int) -> None:
    """Issue the next row of a core, whose latency counts from when it could have been issued."""
    rows, state, row = run.rows, run.state, run.state.next_row[core]
    since = could_issue(run, core)
    begin(run, since)
    state.counters[COUNT.now] = now
    state.next_row[core] = rows.following[row]
    page, key, name, order = to_int64(rows.number[row]), rows.key[row], rows.page[row], order_of_row(rows, row)
    if rows.unmap.size > 0 and rows.unmap[row]:
        unmap(run, core, page, key, order, now)
    else:
        state.counters[COUNT.last_start] = max(state.counters[COUNT.last_start], since)
        occupy_warp(run, core)
        issue(run, core, page, key, name, order, since, now)
    line_up(run, core, now)


@kernel
def link_rows(core, following, next_row) -> None:  # type: ignore[no-untyped-def]
    """Note the row behind each in its core's order, and the first of each core: -1 = not known."""
    for one in range(next_row.size):
        next_row[one] = UNKNOWN
    for row in range(core.size - 1, -1, -1):
        following[row] = next_row[core[row]]
        next_row[core[row]] = row
