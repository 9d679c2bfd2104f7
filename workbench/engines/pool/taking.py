"""The service takes one request after another, each when it is asked, and lets those wait that no card has room for.

The queue is tried again after each release, and when a card's cached memory went back to its driver, in the order in
which its requests joined (spec 5, E16). A request waits when no card qualifies, and for whatever reason that is: also
where no release will ever help. With `first_come` it also waits when somebody else does, so that nobody is overtaken.
One that the chosen card misjudged is answered at once, also out of the queue: room was found, and the choice was wrong.

A request takes the service's time when it is asked; out of the queue only its calls of the driver, and zeroing, do.
"""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.pool.loop import allocate, begin, free, note_peaks, serve_time
from workbench.engines.pool.queue import ANSWERED, HEAD, LINE, TAIL, Service, Waiting
from workbench.engines.pool.state import COUNT, State
from workbench.records.pool import BYTES, NEVER_ASKED, REFUSED, RELEASED
from workbench.structures.size_index import NONE


@noinline
def take(run: Service, row: int, time: int) -> None:
    """Serve a request that is asked at a time, or let it wait; then try who waits, where memory came back."""
    state, waiting, rules = run.state, run.waiting, run.rules
    waiting.when[row] = time
    line, since = _write_down(run, row), state.counters[COUNT.calls]
    begin(waiting.asked, state, line, rules.request_ns)
    if waiting.asked.names[line] != NONE:
        free(waiting.asked, run.tables, rules, run.policies, state, line)
    elif rules.first_come and waiting.counters[HEAD] != NONE:
        state.outcome[line] = REFUSED
    else:
        allocate(waiting.asked, run.tables, rules, run.policies, state, line)
    if state.counters[STOP.fault] != FINE:
        state.counters[STOP.row] = row
        return
    serve_time(rules, state, line)
    if rules.waits and state.outcome[line] == REFUSED:
        _join(state, waiting, row)
    else:
        _answer(state, waiting, row, 0)
    if state.outcome[line] == RELEASED or _gave_back(state, since):
        _try_queue(run)


@kernel
def head_gives_up(run: Service, due: int) -> bool:
    """Return whether somebody will have waited too long before the service takes what is due next."""
    head = run.waiting.counters[HEAD]
    if head == NONE or run.rules.wait_ns == 0:
        return False
    return bool(run.waiting.since[head] + run.rules.wait_ns < max(run.state.counters[COUNT.free_at], due))


@noinline
def give_up(run: Service) -> None:
    """Refuse who waits longest, at the moment when it has waited long enough and the service is free; then try those
    who may no longer be overtaken."""
    state, waiting = run.state, run.waiting
    row = waiting.counters[HEAD]
    since = waiting.since[row]
    state.counters[COUNT.free_at] = max(state.counters[COUNT.free_at], since + run.rules.wait_ns)
    _refuse(run, row)
    _leave(waiting, row, NONE)
    _answer(state, waiting, row, state.counters[COUNT.free_at] - since)
    if run.rules.first_come:
        _try_queue(run)


@noinline
def end(run: Service) -> None:
    """End what waits when nobody asks any more: refuse it; the rest of the table is never asked."""
    state, waiting = run.state, run.waiting
    row = waiting.counters[HEAD]
    while row != NONE:
        _refuse(run, row)
        _close_line(waiting, row, state.counters[COUNT.free_at] - waiting.since[row])
        row = waiting.behind[row]
    waiting.counters[HEAD] = waiting.counters[TAIL] = NONE
    for row in range(waiting.line_of.size):
        if waiting.line_of[row] == NONE:
            line = _write_down(run, row)
            state.outcome[line], state.done[line] = NEVER_ASKED, state.counters[COUNT.free_at]
            _close_line(waiting, row, 0)


@noinline
def _write_down(run: Service, row: int) -> int:
    """Copy a request into the line that is next, as it is asked; the line."""
    columns, waiting = run.columns, run.waiting
    line, requests, named = waiting.counters[LINE], waiting.asked, columns.names[row]
    requests.time[line], requests.borrower[line] = waiting.when[row], columns.borrower[row]
    requests.size[line], requests.need[line] = columns.size[row], columns.need[row]
    requests.names[line] = waiting.line_of[named] if named >= 0 else named
    return int(line)


@kernel
def _join(state: State, waiting: Waiting, row: int) -> None:
    """Let a request wait from now on, behind all others."""
    counters = waiting.counters
    waiting.since[row], waiting.behind[row] = state.counters[COUNT.free_at], NONE
    if counters[HEAD] == NONE:
        counters[HEAD] = row
    else:
        waiting.behind[counters[TAIL]] = row
    counters[TAIL] = row


@kernel
def _leave(waiting: Waiting, row: int, before: int) -> None:
    """Take a request out of the queue; `before` joined before it, -1 = it was the head."""
    behind, counters = waiting.behind[row], waiting.counters
    if before == NONE:
        counters[HEAD] = behind
    else:
        waiting.behind[before] = behind
    if behind == NONE:
        counters[TAIL] = before


@kernel
def _close_line(waiting: Waiting, row: int, waited: int) -> None:
    """Close the line of the request that was written down last: it is answered."""
    counters = waiting.counters
    line = counters[LINE]
    waiting.row_of[line], waiting.line_of[row], waiting.waited[line] = row, line, waited
    waiting.answers[counters[ANSWERED]] = row
    counters[LINE] += 1
    counters[ANSWERED] += 1


@kernel
def _answer(state: State, waiting: Waiting, row: int, waited: int) -> None:
    """Answer a request after so long in the queue."""
    _close_line(waiting, row, waited)
    note_peaks(state)


@noinline
def _try_queue(run: Service) -> None:
    """Grant what has room now; once more where that made a card give back what somebody passed over may need."""
    while run.waiting.counters[HEAD] != NONE:
        since = run.state.counters[COUNT.calls]
        _try_each(run)
        if run.rules.first_come or run.state.counters[STOP.fault] != FINE or not _gave_back(run.state, since):
            return


@kernel
def _gave_back(state: State, since: int) -> bool:
    """Return whether any of the driver's latest calls was a release."""
    result = False
    for call in range(since, state.counters[COUNT.calls]):
        result = result or state.calls[call, BYTES] < 0
    return result


@kernel
def _try_each(run: Service) -> None:
    """Try who waits in the order of arrival; with `first_come` up to the first that has no room."""
    state, waiting, rules = run.state, run.waiting, run.rules
    before, row = NONE, waiting.counters[HEAD]
    while row != NONE:
        behind, since = waiting.behind[row], waiting.since[row]
        line = _write_down(run, row)
        begin(waiting.asked, state, line, 0)
        state.outcome[line] = REFUSED
        too_late = rules.wait_ns > 0 and state.counters[COUNT.free_at] - since > rules.wait_ns
        if not too_late:
            allocate(waiting.asked, run.tables, rules, run.policies, state, line)
        if state.counters[STOP.fault] != FINE:
            state.counters[STOP.row] = row
            return
        serve_time(rules, state, line)
        if too_late or state.outcome[line] != REFUSED:
            _leave(waiting, row, before)
            _answer(state, waiting, row, state.counters[COUNT.free_at] - since)
        elif rules.first_come:
            return
        else:
            before = row
        row = behind


@noinline
def _refuse(run: Service, row: int) -> None:
    line = _write_down(run, row)
    run.state.outcome[line], run.state.done[line] = REFUSED, run.state.counters[COUNT.free_at]
