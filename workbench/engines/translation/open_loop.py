"""The compiled loop where every access is issued at its cycle in the trace: rows and events in one order.

A stretch ends when its rows are issued, when an array must grow, or when a policy has broken its contract; it goes on
from there as if it had not been left.
"""

from __future__ import annotations

from workbench.compiled import apart, kernel, lend
from workbench.engines.translation.alone import serve_alone
from workbench.engines.translation.counters import COUNT, STATUS
from workbench.engines.translation.handling import follow, handle_next
from workbench.engines.translation.hits import serve_hits
from workbench.engines.translation.issuing import issue
from workbench.engines.translation.parking import FOR_CORE, TO_UNMAP, park, wait_behind
from workbench.engines.translation.room import has_room
from workbench.engines.translation.scheduling import ISSUES, order_of
from workbench.engines.translation.state import Run
from workbench.engines.translation.unmapping import unmap
from workbench.structures import agenda as at

LONG_AGO = -(1 << 62)


@kernel
def play_in_order(run: Run) -> None:
    """Issue every row of a piece at its cycle; after the last piece let all that is under way end."""
    _play_in_order(lend(run))


@apart
def _play_in_order(run: Run) -> None:
    counters, rows = run.state.counters, run.rows
    row, end = counters[COUNT.row], rows.cycle.size
    if end > 0:
        begin(run, rows.cycle[0])
    while counters[COUNT.status] == STATUS.fine:
        if _event_is_next(run, row, end):
            if has_room(run):
                handle_next(run)
                _follow_to(run, row, end)
            else:
                counters[COUNT.status] = STATUS.needs_room
            continue
        if row == end:
            break
        if run.rules.plain_misses and counters[COUNT.under_way] == 0 and run.state.agenda.counters[at.USED] == 0:
            row = serve_alone(run, row, end)
        elif run.rules.plain_hits:
            row = serve_hits(run, row, end)
        if row < end and not _event_is_next(run, row, end):
            if not has_room(run):
                counters[COUNT.status] = STATUS.needs_room
            else:
                _issue_row(run, row)
                row += 1
                _follow_to(run, row, end)
    counters[COUNT.row] = row


@apart
def _follow_to(run: Run, row: int, end: int) -> None:
    """Let what follows happen at once as far as it precedes the next row; at the end of a piece that is not known."""
    if row < end:
        follow(run, run.rows.cycle[row], order_of(ISSUES, int(run.rows.core[row])))
    else:
        follow(run, at.NEVER if run.state.counters[COUNT.ended] else LONG_AGO, 0)


@kernel
def begin(run: Run, cycle: int) -> None:
    """Let time begin with the first row."""
    counters = run.state.counters
    if not counters[COUNT.started]:
        counters[COUNT.started], counters[COUNT.first_cycle], counters[COUNT.last_cycle] = 1, cycle, cycle


@kernel
def _event_is_next(run: Run, row: int, end: int) -> bool:
    """Return whether an event comes before the next row; when no more rows are known, the last piece decides."""
    agenda = run.state.agenda
    soonest = agenda.counters[at.SOONEST]
    if row == end:
        return bool(run.state.counters[COUNT.ended]) and soonest < at.NEVER
    cycle = run.rows.cycle[row]
    if soonest != cycle:
        return bool(soonest < cycle)
    return bool(at.first_order(agenda) <= order_of(ISSUES, int(run.rows.core[row])))


@apart
def _issue_row(run: Run, row: int) -> None:
    """Issue a row at its cycle, or let it wait behind its core."""
    rows, core, cycle = run.rows, int(run.rows.core[row]), run.rows.cycle[row]
    page, key, name, order = int(rows.number[row]), rows.key[row], rows.page[row], rows.order[row]
    unmaps = rows.unmap.size > 0 and rows.unmap[row]
    run.state.counters[COUNT.now] = cycle
    if run.state.halted[core]:
        why = TO_UNMAP if unmaps else FOR_CORE
        wait_behind(run, core, park(run, cycle, name, page, key, order, why, cycle))
    elif unmaps:
        unmap(run, core, page, key, order, cycle)
    else:
        issue(run, core, page, key, name, order, cycle, cycle)
