"""How long critical sections last, and when they end."""

from __future__ import annotations

from workbench.compiled import inlined, kernel
from workbench.engines.kit.order import moment
from workbench.engines.malloc.serving import enter_returns, note_answer
from workbench.engines.malloc.state import Run
from workbench.engines.malloc.waiting import ENDS
from workbench.structures.timetable import set_time


@kernel
def holds_for(run: Run, at: int) -> int:
    """Return the cycles of one operation on the heap, with those who wait now."""
    rules, waiting = run.rules, run.state.waiting[at]
    return rules.hold_cycles + rules.latency + rules.latency_a_waiter * min(rules.latency_waiters, waiting)


@inlined
def end_section(run: Run, request: int, at: int, now: int, ends: int) -> None:
    """Plan the end of a section after which a request is answered."""
    rules, state = run.rules, run.state
    ends += max(run.columns.arrival[run.cuts.leader[request]] + rules.during_cycles - now, 0)
    state.ready[request] = ends + rules.division_cycles
    enter_returns(run, request, state.ready[request])
    note_answer(state, request, state.ready[request], 0)
    if not rules.overlaps:
        ends = state.ready[request]
    state.ended[request] = ends
    set_time(state.next_event, at, moment(ends, ENDS))
