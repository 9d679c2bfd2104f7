"""The compiled loops of the engine `pool`: one request after another, as the service takes them (spec 5, E21).

With `when_full: wait` requests wait that no card has space for (E16). Who is due first asks first; of those due at the
same time, who stands first in the trace. An application whose request waits asks nothing meanwhile, and its clock
stands still: what it asks later comes later by as long as it waited, its death too. When all that could still ask wait,
the run is over: they are refused, and what they had left is never asked.

The queue is tried again after each release, and when a card's cached memory went back to its driver, in the order in
which its requests joined. A request waits when no card qualifies, and for whatever reason that is: also where no
release will ever help. With `first_come` it also waits when another request does, so that none is overtaken. One that
the chosen card misjudged is answered at once, also out of the queue: space was found, and the choice was wrong.

A request takes the service's time when it is asked; out of the queue only its calls of the driver, and zeroing, do.
"""

from __future__ import annotations

from workbench.compiled import by_reference, kernel, noinline, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.pool.blocks import card_of, give_region
from workbench.engines.pool.cards import NOWHERE, choose_card, note_lending, settle, unsettle
from workbench.engines.pool.grants import LARGEST, has_room, serve, trim
from workbench.engines.pool.moves import bring_home, make_room
from workbench.engines.pool.state import (
    ANSWERED,
    COUNT,
    HEAD,
    LINE,
    REPEATED,
    TAIL,
    UNKNOWN,
    Clients,
    Columns,
    Policies,
    Rules,
    Service,
    State,
    Tables,
    Waiting,
    note_stitching,
)
from workbench.records.pool import (
    BYTES,
    FREE_OF_REFUSED,
    MISJUDGED,
    NEVER_ASKED,
    REFUSED,
    RELEASED,
    REPEATED_FREE,
    STITCHED,
    UNKNOWN_FREE,
)
from workbench.structures.size_index import ADDRESS, FIELDS, NONE
from workbench.structures.timetable import NEVER, set_turn


@routine
def simulate(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State) -> None:
    """Serve every request in its order, or stop when a policy breaks its contract."""
    requests, board, levers, chosen, now = (
        by_reference(columns),
        by_reference(tables),
        by_reference(rules),
        by_reference(policies),
        by_reference(state),
    )
    for row in range(columns.time.size):
        begin(requests, now, row, levers.request_ns)
        if columns.names[row] == NONE:
            allocate(requests, board, levers, chosen, now, row)
        else:
            free(requests, board, levers, chosen, now, row)
        if state.counters[STOP.fault] != FINE:
            return
        serve_time(levers, now, row)
        note_peaks(now)


@routine
def allocate(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int) -> None:
    """Allocate on the own card first, as long as space is made there, then on another (spec 5, R10, R15)."""
    own, by_sum = columns.borrower[row], rules.metric != LARGEST
    card, trying_own = own, rules.own_first != 0 and tables.capacity[own] > 0
    if trying_own and by_sum and not has_room(columns, rules, policies, state, row, own):
        trying_own, by_sum = make_room(columns, tables, rules, policies, state, row), False
    while True:
        if not trying_own:
            card = choose_card(columns, tables, rules, policies, state, row, row, NOWHERE)
            if card == NONE:
                state.outcome[row] = REFUSED
                return
        granted = serve(columns, rules, policies, state, row, card)
        # A card that qualified by sums and cannot serve was misjudged (V7): no region moves for it.
        if granted or not trying_own or by_sum or state.counters[STOP.fault] != FINE:
            break
        trying_own = make_room(columns, tables, rules, policies, state, row)
    if not granted:
        state.outcome[row] = MISJUDGED
        return
    settle(columns, rules, state, row)
    if not trying_own:
        note_lending(columns, tables, rules, policies, state, row, row, card)


@kernel
def free(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int) -> None:
    """Cache what was allocated, where it lies by now; a free that names nothing in use changes nothing (R28, E19)."""
    named = columns.names[row]
    if named in (UNKNOWN, REPEATED):
        state.outcome[row] = UNKNOWN_FREE if named == UNKNOWN else REPEATED_FREE
        return
    block = int(state.block[named])
    if block == NONE:
        state.outcome[row] = FREE_OF_REFUSED
        return
    card = card_of(state, block)
    state.outcome[row], state.card[row] = RELEASED, card
    state.identifier[row] = state.blocks.nodes[block * FIELDS + ADDRESS]
    unsettle(columns, rules, state, named)
    # Before the parts are cached: joined with neighbors they would have other sizes.
    note_stitching(rules, state, row, block, 0)
    state.taken[row] = give_region(rules, state, block)
    trim(policies, rules, state, row, card)
    bring_home(columns, tables, rules, policies, state, row, card)


@kernel
def begin(columns: Columns, state: State, row: int, overhead: int) -> None:
    """Begin with a request when the service is free, after so many ns: it does one thing at a time (E21)."""
    counters = state.counters
    counters[COUNT.begins] = max(counters[COUNT.free_at], columns.time[row]) + overhead
    counters[COUNT.driver_ns] = 0


@kernel
def serve_time(rules: Rules, state: State, row: int) -> None:
    """Serve a request once the driver is done, moves are, and what is used again is zeroed (spec 5, E20)."""
    counters, outcome = state.counters, state.outcome[row]
    work = counters[COUNT.driver_ns]
    if rules.zero_gbps > 0.0 and outcome <= STITCHED:
        # Bytes over GB/s are nanoseconds.
        work += int(counters[COUNT.reused] / rules.zero_gbps)
    counters[COUNT.free_at] = counters[COUNT.begins] + work
    state.done[row] = counters[COUNT.free_at]


@kernel
def note_peaks(state: State) -> None:
    """Remember the most cached bytes of each card."""
    for card in range(state.peak.size):
        state.peak[card] = max(state.peak[card], state.cached[card])


@noinline
def take(run: Service, row: int, time: int) -> None:
    """Serve a request that is asked at a time, or let it wait; then try who waits, where memory came back."""
    state, waiting, rules = run.state, run.waiting, run.rules
    waiting.when[row] = time
    line, since = _write_down(run, row), state.counters[COUNT.calls]
    begin(waiting.requests, state, line, rules.request_ns)
    if waiting.requests.names[line] != NONE:
        free(waiting.requests, run.tables, rules, run.policies, state, line)
    # Not even tried: it joins the queue below, since it may overtake none that waits.
    elif rules.first_come and waiting.counters[HEAD] != NONE:
        state.outcome[line] = REFUSED
    else:
        allocate(waiting.requests, run.tables, rules, run.policies, state, line)
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
    # Without `first_come` each was tried when it was asked and whenever memory came back since.
    # A refusal frees nothing.
    if run.rules.first_come:
        _try_queue(run)


@noinline
def end(run: Service) -> None:
    """End the waits when no request is left: refuse them; the rest of the table is never requested."""
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
    line, requests, named = waiting.counters[LINE], waiting.requests, columns.names[row]
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
    """Grant what has space now; once more where that made a card give back what somebody passed over may need."""
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
    """Try who waits in the order of arrival; with `first_come` up to the first that has no space."""
    state, waiting, rules = run.state, run.waiting, run.rules
    before, row = NONE, waiting.counters[HEAD]
    while row != NONE:
        behind, since = waiting.behind[row], waiting.since[row]
        line = _write_down(run, row)
        # The service's own time was counted when the request was asked.
        begin(waiting.requests, state, line, 0)
        state.outcome[line] = REFUSED
        too_late = rules.wait_ns > 0 and state.counters[COUNT.free_at] - since > rules.wait_ns
        if not too_late:
            allocate(waiting.requests, run.tables, rules, run.policies, state, line)
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


@routine
def simulate_waiting(service: Service, clients: Clients) -> None:
    """Serve every request that is ever asked, or stop when a policy breaks its contract."""
    run, crowd = by_reference(service), by_reference(clients)
    turns = clients.turns
    for app in range(clients.first.size):
        _ask_next(run, crowd, app, clients.first[app])
    while service.state.counters[STOP.fault] == FINE:
        due, row = turns.time[1], turns.number[1]
        if head_gives_up(run, due):
            give_up(run)
        elif due < NEVER:
            take(run, row, due)
            # The request waits, and so does its application: it asks nothing until it has its answer.
            if service.waiting.line_of[row] == NONE:
                set_turn(crowd.turns, clients.app[row], NEVER, NONE)
        else:
            _see_what_is_left(run, crowd)
            end(run)
            return
        _go_on(run, crowd)


@kernel
def _ask_next(run: Service, clients: Clients, app: int, row: int) -> None:
    """Make a request the next of its application; -1 = that has no more."""
    time = NEVER if row == NONE else run.columns.time[row] + clients.late[app]
    set_turn(clients.turns, app, time, row)


@kernel
def _go_on(run: Service, clients: Clients) -> None:
    """Let the applications whose requests were answered go on, as late as those waited."""
    waiting = run.waiting
    for place in range(waiting.counters[ANSWERED]):
        row = waiting.answers[place]
        app = clients.app[row]
        clients.late[app] += waiting.waited[waiting.line_of[row]]
        _ask_next(run, clients, app, clients.following[row])
    waiting.counters[ANSWERED] = 0


@kernel
def _see_what_is_left(run: Service, clients: Clients) -> None:
    """Write down when each request would have been asked that is not answered."""
    for row in range(run.waiting.line_of.size):
        if run.waiting.line_of[row] == NONE:
            run.waiting.when[row] = run.columns.time[row] + clients.late[clients.app[row]]
