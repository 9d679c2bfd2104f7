"""The compiled loops of the engine `translation`: rows and events in one order (spec 4, T1).

In the open loop every access is issued at its cycle in the trace; in the closed one warps wait for their translations,
and a core issues its next row when a warp is free. A stretch ends when its rows are issued, when nothing more happens,
when a core's next row must be known, when an array must grow, or when a policy has broken its contract; it goes on from
there as if it had not been left.
"""

from __future__ import annotations

from workbench.compiled import by_reference, inlined, kernel, noinline
from workbench.engines.kit import FINE, STOP
from workbench.engines.translation.answers import answer_is_due, has_room
from workbench.engines.translation.directory import hear_everywhere, hear_news
from workbench.engines.translation.events import (
    ISSUES,
    KIND,
    event_precedes,
    next_is_in_hand,
    order_of,
    take_from_hand,
    wake,
)
from workbench.engines.translation.fast_path import serve_alone, serve_rows
from workbench.engines.translation.fill import copy_arrives
from workbench.engines.translation.frontend import acknowledgement_arrives, go_on, issue, unmap
from workbench.engines.translation.lookup import (
    FOR_CORE,
    TO_UNMAP,
    UNKNOWN,
    could_issue,
    first_behind,
    line_up,
    occupy_warp,
    park,
    unpark,
    wait_behind,
)
from workbench.engines.translation.miss import (
    cluster_looks_up,
    directory_is_read,
    middle_looks_up,
    peer_looks_up,
    refusal_arrives,
    request_at_centre,
    request_at_middle,
    request_at_peer,
    request_departs,
)
from workbench.engines.translation.miss_answer import answer_arrives
from workbench.engines.translation.network import cross_link
from workbench.engines.translation.shared_fill import shoot_down_arrives
from workbench.engines.translation.state import COUNT, FAULT, PARKED, WAITING, Run, to_int64
from workbench.engines.translation.statistics import sample_at_end
from workbench.engines.translation.trace import order_of_row
from workbench.engines.translation.walker import request_at_shared, request_at_walkers, shared_looks_up, walk_ends
from workbench.structures import event_queue as at
from workbench.structures.set_assoc import NONE
from workbench.structures.timetable import NEVER

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
    # Events in hand belong to misses, so the hand is empty too.
    if rules.plain_misses and run.state.counters[COUNT.under_way] == 0 and run.state.event_queue.counters[at.USED] == 0:
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
    # Unless the trace has ended, its next rows may come before the next event, so none is taken until they are known.
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


@kernel
def play_warps(run: Run) -> None:
    """Issue rows as warps become free, until a core's next row must be known."""
    _play_warps(by_reference(run))


@inlined
def _play_warps(run: Run) -> None:
    counters, turns = run.state.counters, run.state.turns
    # New rows may have come since the last stretch, so each core's turn is computed again.
    for core in range(run.rules.cores):
        line_up(run, core, counters[COUNT.now])
    while counters[STOP.fault] == FINE:
        # Place 1 is the root of the tournament: the core that is next, the lowest of several.
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
        # Cores issue in the order of `now`, but their `since` may decrease.
        state.counters[COUNT.last_start] = max(state.counters[COUNT.last_start], since)
        occupy_warp(run, core)
        issue(run, core, page, key, name, order, since, now)
    line_up(run, core, now)


HANDLED = -1
"""Instead of a kind: the event is over."""


@inlined
def let_next_happen(run: Run) -> None:
    """Let the event that is next happen, if there is space for what it brings about."""
    if has_room(run):
        handle_next(run)
    else:
        run.state.counters[STOP.fault] = FAULT.needs_room


@inlined
def handle_next(run: Run) -> None:
    """Let the next event happen, in hand or of the event queue."""
    if next_is_in_hand(run):
        kind, subject, now = take_from_hand(run)
        run.state.counters[COUNT.now] = now
    else:
        kind, subject, now = _take_first(run)
    if kind != HANDLED:
        _handle(run, kind, subject, now)


@inlined
def _take_first(run: Run) -> tuple[int, int, int]:
    """Take the first event off the event queue: a message takes effect, or crosses another link, here already."""
    queue = run.state.event_queue
    place = at.take_next(queue)
    events, here = queue.events, place * at.EVENT
    now, kind, subject = events[here + at.CYCLE], events[here + at.WHAT], events[here + at.SUBJECT]
    run.state.counters[COUNT.now] = now
    # Only a message that queues for links is not at its goal.
    if events[here + at.HERE] != events[here + at.GOAL]:
        cross_link(run, place, now)
        kind = HANDLED
    elif kind > KIND.refusal and kind < KIND.directory:
        _handle_message(run, place, kind, subject, now)
        kind = HANDLED
    else:
        at.give_place(queue, place)
    return kind, subject, now


@inlined
def _handle(run: Run, kind: int, subject: int, now: int) -> None:
    """Let an event happen that is no message to a TLB or a directory."""
    if kind < KIND.copy:
        _handle_answer(run, kind, subject, now)
    elif kind == KIND.wake:
        wake_core(run, subject, now)
    else:
        _handle_request(run, kind, subject, now)


@inlined
def _handle_answer(run: Run, kind: int, miss: int, now: int) -> None:
    if kind == KIND.answer:
        answer_arrives(run, miss, now)
    elif kind == KIND.walk_ends:
        walk_ends(run, miss, now)
    else:
        refusal_arrives(run, miss, now)


@inlined
def _handle_request(run: Run, kind: int, miss: int, now: int) -> None:
    if kind == KIND.walkers:
        request_at_walkers(run, miss, now)
    elif kind == KIND.shared:
        request_at_shared(run, miss, now)
    elif kind == KIND.directory:
        directory_is_read(run, miss, now)
    elif kind == KIND.departure:
        request_departs(run, miss, now)
    elif kind == KIND.peer:
        request_at_peer(run, miss, now)
    elif kind == KIND.peer_port:
        peer_looks_up(run, miss, now)
    elif kind == KIND.shared_port:
        shared_looks_up(run, miss, now)
    elif kind == KIND.centre:
        request_at_centre(run, miss, now)
    elif kind == KIND.middle:
        request_at_middle(run, miss, now)
    elif kind == KIND.middle_port:
        middle_looks_up(run, miss, now)
    else:
        cluster_looks_up(run, miss, now)


@noinline
def _handle_message(run: Run, place: int, kind: int, subject: int, now: int) -> None:
    """Let a copy, news, a shoot-down, an acknowledgement or an answer take effect where it has arrived."""
    events, here = run.state.event_queue.events, place * at.EVENT
    page, goal, note = events[here + at.PAGE], events[here + at.GOAL], events[here + at.NOTE]
    key, row = events[here + at.KEY], events[here + at.BY_ROW]
    # The news arrived before its delay has passed, and takes effect after it (T10).
    if kind == KIND.news and now < note:
        events[here + at.CYCLE] = note
        at.enter(run.state.event_queue, place, now)
        return
    if kind == KIND.answer_due:
        answer_is_due(run, place, now)
        return
    at.give_place(run.state.event_queue, place)
    if kind == KIND.copy:
        # A note of 1: the page was unmapped while the copy was on its way (T12).
        if note == 0:
            copy_arrives(run, goal, page, key, subject, row, now)
    elif kind == KIND.news:
        hear_news(run, goal, page, subject)
    elif kind == KIND.news_to_all:
        hear_everywhere(run, page, subject)
    elif kind == KIND.shoot_down:
        shoot_down_arrives(run, goal, page, key, subject, row, now)
    elif kind == KIND.acknowledgement:
        acknowledgement_arrives(run, subject, now)


@noinline
def wake_core(run: Run, core: int, now: int) -> None:
    """Let a core go on: with the access for which it waited, then with one row after the other behind it."""
    state, blocked = run.state, run.state.blocked[core]
    # The core may be stalled: not every wake heeds a stall when it is entered, and one may begin or grow after that.
    if now < state.stalled_until[core]:
        wake(run, core, state.stalled_until[core], now)
        return
    state.halted[core], state.blocked[core] = 0, NONE
    if blocked != NONE:
        go_on(run, core, blocked, now)
    elif state.behind[2 * core] != NONE:
        _issue_first_behind(run, core, now)
    if state.halted[core]:
        return
    if state.behind[2 * core] != NONE:
        # A core with rows behind it stays halted: later rows line up there, and no second wake is entered.
        state.halted[core] = 1
        wake(run, core, now, now)
    elif run.rules.warps:
        line_up(run, core, now)


@inlined
def _issue_first_behind(run: Run, core: int, now: int) -> None:
    """Issue the first row that waits behind a core."""
    parking, place = run.state.parking, first_behind(run, core)
    here = place * PARKED
    page, key, row = parking[here + WAITING.page], parking[here + WAITING.key], parking[here + WAITING.ordinal]
    name, since, why = parking[here + WAITING.name], parking[here + WAITING.since], parking[here + WAITING.why]
    unpark(run, place)
    if why == TO_UNMAP:
        unmap(run, core, page, key, row, now)
    else:
        issue(run, core, page, key, name, row, since, now)
