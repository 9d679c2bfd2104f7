"""The compiled loop of the engine `pool` in which a request waits for memory that no card has (spec 5, E16).

Who is due first asks first; of those due at the same time, who stands first in the trace. An application whose request
waits asks nothing meanwhile, and its clock stands still: what it asks later comes later by as long as it waited, its
death too. The queue is tried again after each release, and when a card's cached memory went back to its driver, in the
order in which its requests joined.

A request waits when no card qualifies, and for whatever reason that is: also where no release will ever help. With
`first_come` it also waits when somebody else does, so that nobody is overtaken. One that the chosen card misjudged is
answered at once, also out of the queue: room was found, and the choice was wrong. When all that could still ask wait,
the run is over: they are refused, and what they had left is never asked.

A request takes the service's time when it is asked; out of the queue only its calls of the driver, and zeroing, do.
"""

from __future__ import annotations

from workbench.compiled import by_reference, kernel, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.pool.loop import allocate, begin, free, note_peaks, serve_time
from workbench.engines.pool.queue import HEAD, LINE, TAIL, Waiting
from workbench.engines.pool.state import COUNT, Columns, Policies, Rules, State, Tables
from workbench.records.pool import BYTES, NEVER_ASKED, REFUSED, RELEASED
from workbench.structures.size_index import NONE
from workbench.structures.tournament import NEVER
from workbench.structures.turns import set_turn


@routine
def simulate_waiting(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, waiting: Waiting
) -> None:
    """Serve every request that is ever asked, or stop when a policy breaks its contract."""
    requests, board, levers, chosen, now, crowd = (
        by_reference(columns),
        by_reference(tables),
        by_reference(rules),
        by_reference(policies),
        by_reference(state),
        by_reference(waiting),
    )
    for app in range(waiting.first.size):
        _ask_next(requests, crowd, app, waiting.first[app])
    while state.counters[STOP.fault] == FINE:
        due = waiting.turns.time[1]
        if _head_gives_up(levers, now, crowd, due):
            _refuse_head(requests, levers, now, crowd)
            again = rules.first_come != 0
        elif due < NEVER:
            again = _take(requests, board, levers, chosen, now, crowd, waiting.turns.number[1])
        else:
            _end(requests, now, crowd)
            return
        if again:
            _try_queue(requests, board, levers, chosen, now, crowd)


@kernel
def _ask_next(columns: Columns, waiting: Waiting, app: int, row: int) -> None:
    """Make a request the next of its application; -1 = that has no more."""
    time = NEVER if row == NONE else columns.time[row] + waiting.late[app]
    set_turn(waiting.turns, app, time, row)


@kernel
def _take(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, waiting: Waiting, row: int
) -> bool:
    """Serve a request, or let it wait; with `first_come` nobody overtakes a queue. Whether memory came back."""
    line, since = _write_down(columns, waiting, row), state.counters[COUNT.calls]
    begin(waiting.asked, state, line, rules.request_ns)
    if waiting.asked.names[line] != NONE:
        free(waiting.asked, tables, rules, policies, state, line)
    elif rules.first_come and waiting.counters[HEAD] != NONE:
        state.outcome[line] = REFUSED
    else:
        allocate(waiting.asked, tables, rules, policies, state, line)
    if state.counters[STOP.fault] != FINE:
        state.counters[STOP.row] = row
        return False
    serve_time(rules, state, line)
    if state.outcome[line] == REFUSED:
        _join(state, waiting, row)
    else:
        _answer(columns, state, waiting, row, 0)
    return bool(state.outcome[line] == RELEASED or _gave_back(state, since))


@kernel
def _write_down(columns: Columns, waiting: Waiting, row: int) -> int:
    """Copy a request into the line that is next, as it is asked now; the line."""
    line, line_requests, named = waiting.counters[LINE], waiting.asked, columns.names[row]
    line_requests.time[line] = columns.time[row] + waiting.late[waiting.app[row]]
    line_requests.borrower[line] = columns.borrower[row]
    line_requests.size[line], line_requests.need[line] = columns.size[row], columns.need[row]
    line_requests.names[line] = waiting.line_of[named] if named >= 0 else named
    return int(line)


@kernel
def _join(state: State, waiting: Waiting, row: int) -> None:
    """Let a request wait from now on, behind all others."""
    app, counters = waiting.app[row], waiting.counters
    waiting.row[app], waiting.since[app], waiting.behind[app] = row, state.counters[COUNT.free_at], NONE
    if counters[HEAD] == NONE:
        counters[HEAD] = app
    else:
        waiting.behind[counters[TAIL]] = app
    counters[TAIL] = app
    set_turn(waiting.turns, app, NEVER, NONE)


@kernel
def _leave(waiting: Waiting, app: int, before: int) -> None:
    """Take an application out of the line; `before` joined before it, -1 = it was the head."""
    behind, counters = waiting.behind[app], waiting.counters
    if before == NONE:
        counters[HEAD] = behind
    else:
        waiting.behind[before] = behind
    if behind == NONE:
        counters[TAIL] = before


@kernel
def _close_line(waiting: Waiting, row: int, waited: int) -> None:
    """Close the line of the request that was written down last: it is answered."""
    line = waiting.counters[LINE]
    waiting.row_of[line], waiting.line_of[row], waiting.waited[line] = row, line, waited
    waiting.counters[LINE] += 1


@kernel
def _answer(columns: Columns, state: State, waiting: Waiting, row: int, waited: int) -> None:
    """Answer a request after so long in the queue; its application goes on."""
    app = waiting.app[row]
    _close_line(waiting, row, waited)
    note_peaks(state)
    waiting.late[app] += waited
    _ask_next(columns, waiting, app, waiting.following[row])


@kernel
def _try_queue(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, waiting: Waiting
) -> None:
    """Grant what has room now; once more where that made a card give back what somebody passed over may need."""
    while True:
        since = state.counters[COUNT.calls]
        _try_each(columns, tables, rules, policies, state, waiting)
        if rules.first_come or state.counters[STOP.fault] != FINE or not _gave_back(state, since):
            return


@kernel
def _gave_back(state: State, since: int) -> bool:
    """Return whether any of the driver's latest calls was a release."""
    result = False
    for call in range(since, state.counters[COUNT.calls]):
        result = result or state.calls[call, BYTES] < 0
    return result


@kernel
def _try_each(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, waiting: Waiting
) -> None:
    """Try who waits in the order of arrival; with `first_come` up to the first that has no room."""
    before, app = NONE, waiting.counters[HEAD]
    while app != NONE:
        row, behind = waiting.row[app], waiting.behind[app]
        line = _write_down(columns, waiting, row)
        begin(waiting.asked, state, line, 0)
        state.outcome[line] = REFUSED
        too_late = rules.wait_ns > 0 and state.counters[COUNT.free_at] - waiting.since[app] > rules.wait_ns
        if not too_late:
            allocate(waiting.asked, tables, rules, policies, state, line)
        if state.counters[STOP.fault] != FINE:
            state.counters[STOP.row] = row
            return
        serve_time(rules, state, line)
        if too_late or state.outcome[line] != REFUSED:
            _leave(waiting, app, before)
            _answer(columns, state, waiting, row, state.counters[COUNT.free_at] - waiting.since[app])
        elif rules.first_come:
            return
        else:
            before = app
        app = behind


@kernel
def _head_gives_up(rules: Rules, state: State, waiting: Waiting, due: int) -> bool:
    """Return whether somebody will have waited too long before the service takes what is due next."""
    head = waiting.counters[HEAD]
    if head == NONE or rules.wait_ns == 0:
        return False
    return bool(waiting.since[head] + rules.wait_ns < max(state.counters[COUNT.free_at], due))


@kernel
def _refuse_head(columns: Columns, rules: Rules, state: State, waiting: Waiting) -> None:
    """Refuse who waits longest, at the moment when it has waited long enough and the service is free."""
    head = waiting.counters[HEAD]
    since, row = waiting.since[head], waiting.row[head]
    state.counters[COUNT.free_at] = max(state.counters[COUNT.free_at], since + rules.wait_ns)
    _refuse(columns, state, waiting, row)
    _leave(waiting, head, NONE)
    _answer(columns, state, waiting, row, state.counters[COUNT.free_at] - since)


@kernel
def _refuse(columns: Columns, state: State, waiting: Waiting, row: int) -> None:
    line = _write_down(columns, waiting, row)
    state.outcome[line], state.done[line] = REFUSED, state.counters[COUNT.free_at]


@kernel
def _end(columns: Columns, state: State, waiting: Waiting) -> None:
    """End what waits when nobody asks any more: refuse it; what comes after it in its application is never asked."""
    app = waiting.counters[HEAD]
    while app != NONE:
        _refuse(columns, state, waiting, waiting.row[app])
        _close_line(waiting, waiting.row[app], state.counters[COUNT.free_at] - waiting.since[app])
        app = waiting.behind[app]
    for row in range(waiting.line_of.size):
        if waiting.line_of[row] == NONE:
            line = _write_down(columns, waiting, row)
            state.outcome[line], state.done[line] = NEVER_ASKED, state.counters[COUNT.free_at]
            _close_line(waiting, row, 0)
