"""The compiled loop where every access is issued at its cycle in the trace: rows and events in one order.

A stretch ends when its rows are issued, when an array must grow, or when a policy has broken its contract; it goes on
from there as if it had not been left.
"""

from __future__ import annotations

from workbench.compiled import by_reference, inlined, kernel, noinline
from workbench.engines.kit import FINE, STOP
from workbench.engines.translation.alone import serve_alone
from workbench.engines.translation.counters import COUNT, FAULT
from workbench.engines.translation.handling import let_next_happen
from workbench.engines.translation.hits import serve_rows
from workbench.engines.translation.issuing import issue
from workbench.engines.translation.ordering import order_of_row
from workbench.engines.translation.parking import FOR_CORE, TO_UNMAP, park, wait_behind
from workbench.engines.translation.room import has_room
from workbench.engines.translation.sampling import sample_at_end
from workbench.engines.translation.scheduling import ISSUES, event_precedes, order_of
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import Run
from workbench.engines.translation.unmapping import unmap
from workbench.structures import event_queue as at

LONG_AGO = -(1 << 62)


@kernel
def play_in_order(run: Run) -> None:
    """Issue every row of a piece at its cycle; after the last piece let all that is under way end."""
    _play_in_order(by_reference(run))


@inlined
def _play_in_order(run: Run) -> None:
    counters, rows = run.state.counters, run.rows
    row, end = counters[COUNT.row], rows.cycle.size
    if end > 0:
        begin(run, rows.cycle[0])
    while counters[STOP.fault] == FINE:
        if _event_is_next(run, row, end):
            let_next_happen(run)
        elif row == end:
            break
        else:
            row = _issue_rows(run, row, end)
    counters[COUNT.row] = row
    sample_at_end(run)


@inlined
def _issue_rows(run: Run, row: int, end: int) -> int:
    """Issue rows before the next event, those of a stretch, or one; return the first that is not issued."""
    began, rules = row, run.rules
    if rules.plain_misses and run.state.counters[COUNT.under_way] == 0 and run.state.agenda.counters[at.USED] == 0:
        row = serve_alone(run, row, end)
    elif rules.plain_hits:
        row = serve_rows(run, row, end)
    if row > began:
        return row
    if has_room(run):
        issue_row(run, row)
        return row + 1
    run.state.counters[STOP.fault] = FAULT.needs_room
    return row


@kernel
def begin(run: Run, cycle: int) -> None:
    """Let time begin with the first row."""
    counters = run.state.counters
    if not counters[COUNT.started]:
        counters[COUNT.started], counters[COUNT.first_cycle], counters[COUNT.last_cycle] = 1, cycle, cycle


@inlined
def _event_is_next(run: Run, row: int, end: int) -> bool:
    """Return whether an event comes before the next row; at the end of a piece that is not known."""
    if row < end:
        return event_precedes(run, run.rows.cycle[row], order_of(ISSUES, to_int64(run.rows.core[row])))
    return event_precedes(run, at.NEVER if run.state.counters[COUNT.ended] else LONG_AGO, 0)


@noinline
def issue_row(run: Run, row: int) -> None:
    """Issue a row at its cycle, or let it wait behind its core."""
    rows, core, cycle = run.rows, to_int64(run.rows.core[row]), run.rows.cycle[row]
    page, key, name, order = to_int64(rows.number[row]), rows.key[row], rows.page[row], order_of_row(rows, row)
    unmaps = rows.unmap.size > 0 and rows.unmap[row]
    run.state.counters[COUNT.now] = cycle
    if run.state.halted[core]:
        why = TO_UNMAP if unmaps else FOR_CORE
        wait_behind(run, core, park(run, cycle, name, page, key, order, why, cycle))
    elif unmaps:
        unmap(run, core, page, key, order, cycle)
    else:
        issue(run, core, page, key, name, order, cycle, cycle)
