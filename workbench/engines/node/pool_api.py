"""The pool as the node's part: requests are served one after another, each told when the service has done with it.

Each routine takes the jobs by reference and whole numbers, and returns one whole number, so that a compiled calendar
can call it by its address. The service takes jobs in the order in which they are asked (spec 5, E21); their nanoseconds
are added, then become cycles, rounded up once.
"""

from __future__ import annotations

from workbench.compiled import kernel, noinline, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import RANK, cycle_of, moment, share
from workbench.engines.node import frames as frame_map
from workbench.engines.node.pool_jobs import (
    ANSWER,
    ARRIVES,
    COPY,
    COUNT,
    ENDS,
    HAS_MOVED,
    LEAVES,
    MOVE,
    MOVED,
    NONE,
    NS,
    OF,
    REFUSED_,
    RELEASE,
    RELEASED_,
    REQUEST,
    SUBJECT,
    TAKEN_BACK,
    WHAT,
    Jobs,
    answer,
    begin_row,
    cycles_of,
    give_up,
    grant,
    log,
    log_decision,
)
from workbench.engines.pool.blocks import card_of
from workbench.engines.pool.state import HEAD, ROWS, Service
from workbench.records.pool import ADDRESS, LEFT, REGION, STITCHED, TO
from workbench.records.pool import REFUSED as NO_ROOM
from workbench.structures.size_index import ADDRESS as BLOCK_ADDRESS
from workbench.structures.size_index import FIELDS, SIZE
from workbench.structures.timetable import NEVER

LIVE, RESERVED, SCATTERED = range(3)
"""What is asked of the memory."""
REFUSED, STOPPED = -1, -3
"""Instead of 0: there is no such thing to be asked for; a policy has broken its contract."""


@routine
def ask_allocate(jobs: Jobs, ticket: int, card: int, size: int, cycle: int) -> int:
    """Ask for bytes near a card, at the present cycle; an idle service begins at once.

    Returns
    -------
    result : int
        0, `REFUSED` where the ticket was used or there is no such one, `STOPPED`.
    """
    if ticket < 0 or ticket >= jobs.row_of.shape[0] or jobs.row_of[ticket, 0] != NONE or size < 1:
        return REFUSED
    rounded = -(-size // jobs.rates.granule) * jobs.rates.granule
    row = append(jobs.service, card, rounded, _block_bytes(jobs, rounded), NONE)
    jobs.row_of[ticket, 0], jobs.size_of[ticket] = row, size
    log(jobs, REQUEST, ticket, card, NONE, size, NONE, card)
    return _join(jobs, ticket, row, cycle)


@routine
def ask_release(jobs: Jobs, ticket: int, cycle: int) -> int:
    """Ask that a region goes back whose grant has been told, at the present cycle; results as of `ask_allocate`."""
    if ticket < 0 or ticket >= jobs.row_of.shape[0] or jobs.row_of[ticket, 1] != NONE:
        return REFUSED
    named = jobs.row_of[ticket, 0]
    if named == NONE or jobs.service.waiting.line_of[named] == NONE:
        return REFUSED
    row = append(jobs.service, jobs.service.columns.borrower[named], 0, 0, named)
    jobs.row_of[ticket, 1] = row
    _log_release(jobs, ticket, named)
    return _join(jobs, ticket, row, cycle)


@kernel
def _log_release(jobs: Jobs, ticket: int, named: int) -> None:
    """Log where a region lies that shall go back."""
    state = jobs.service.state
    block = int(state.block[jobs.service.waiting.line_of[named]])
    if block != NONE:
        address, size = state.blocks.nodes[block * FIELDS + BLOCK_ADDRESS], state.blocks.nodes[block * FIELDS + SIZE]
        log(jobs, RELEASE, ticket, card_of(state, block), address, size, NONE, NONE)


@routine
def append(service: Service, card: int, size: int, need: int, names: int) -> int:
    """Add a request to the table: of a card, of bytes, as the cache rounds them; or a free of what a row names.

    Return its row, `REFUSED` where the table is full.
    """
    columns, counters = service.columns, service.waiting.counters
    row = counters[ROWS]
    if row == columns.time.size:
        return REFUSED
    columns.borrower[row], columns.size[row], columns.need[row], columns.names[row] = card, size, need, names
    counters[ROWS] += 1
    return row


@kernel
def _join(jobs: Jobs, ticket: int, row: int, cycle: int) -> int:
    """Let a row wait for the service, which begins at once if it is idle."""
    jobs.ticket_of[row], jobs.arrived_at[row] = ticket, cycle
    _go_on(jobs, cycle)
    return status(jobs)


@routine
def copied(jobs: Jobs, cycle: int) -> int:
    """Tell that the transfer of a copy has ended, at the present cycle; results as of `ask_allocate`."""
    counters = jobs.counters
    if counters[COUNT.copying] == 0:
        return REFUSED
    counters[COUNT.copying] = 0
    counters[COUNT.late] += cycle - counters[COUNT.copy_begun]
    return status(jobs)


@routine
def next_moment(jobs: Jobs) -> int:
    """Return the time at which the service ends its next step, or a waiter gives up; `NEVER`."""
    counters = jobs.counters
    if counters[COUNT.copying] or status(jobs) != 0:
        return NEVER
    if counters[COUNT.step] < counters[COUNT.steps]:
        step = jobs.steps[counters[COUNT.step]]
        passed = cycles_of(jobs, step[NS] - counters[COUNT.shift]) + counters[COUNT.late]
        return moment(counters[COUNT.begun] + passed, RANK.pool_answers)
    waiting, rules = jobs.service.waiting, jobs.service.rules
    head = waiting.counters[HEAD]
    if head == NONE or rules.wait_ns == 0:
        return NEVER
    return moment(cycles_of(jobs, waiting.since[head] + rules.wait_ns), RANK.services)


@routine
def take_next(jobs: Jobs) -> int:
    """Let the one thing happen that is next; return the answers that wait to be taken, or `STOPPED`."""
    counters, cycle = jobs.counters, cycle_of(next_moment(jobs))
    if counters[COUNT.step] < counters[COUNT.steps]:
        step = jobs.steps[counters[COUNT.step]]
        counters[COUNT.step] += 1
        _tell(jobs, step[WHAT], step[SUBJECT], cycle)
    else:
        give_up(jobs, cycle)
    _go_on(jobs, cycle)
    return int(counters[COUNT.answers]) if status(jobs) == 0 else STOPPED


@kernel
def _go_on(jobs: Jobs, cycle: int) -> None:
    """Begin with the next job where the service has done with the one before."""
    counters, waiting = jobs.counters, jobs.service.waiting
    idle = counters[COUNT.step] == counters[COUNT.steps] and counters[COUNT.copying] == 0
    # A job that takes no time, answers none and moves nothing has no steps: the next one begins in the same cycle.
    while idle and counters[COUNT.next_row] < waiting.counters[ROWS] and status(jobs) == 0:
        begin_row(jobs, cycle)
        idle = counters[COUNT.step] == counters[COUNT.steps]


@noinline
def _tell(jobs: Jobs, what: int, subject: int, cycle: int) -> None:
    """Tell of one step of the job under way."""
    if what in (LEAVES, ARRIVES):
        _tell_move(jobs, what, subject, cycle)
    elif what == ENDS:
        _tell_end(jobs, subject)
        jobs.counters[COUNT.begun], jobs.counters[COUNT.late] = cycle, 0
        jobs.counters[COUNT.shift] = jobs.steps[jobs.counters[COUNT.step] - 1, NS]


@kernel
def _tell_end(jobs: Jobs, subject: int) -> None:
    """Tell what has become of a request."""
    state, line, ticket = jobs.service.state, jobs.service.waiting.line_of[subject], jobs.ticket_of[subject]
    outcome, borrower = state.outcome[line], jobs.service.columns.borrower[subject]
    if outcome <= STITCHED:
        grant(jobs, ticket, line)
    elif jobs.service.columns.names[subject] == NONE:
        answer(jobs, REFUSED_, ticket, NONE, jobs.size_of[ticket], NONE, NONE)
    else:
        answer(jobs, RELEASED_, ticket, state.card[line], state.taken[line], state.identifier[line], NONE)
    if jobs.service.columns.names[subject] == NONE:
        log(jobs, ANSWER, ticket, state.card[line], NONE, NONE, int(outcome < NO_ROOM), borrower)
    else:
        log(jobs, TAKEN_BACK, ticket, state.card[line], state.identifier[line], NONE, NONE, NONE)
    step = jobs.counters[COUNT.step]
    if step < jobs.counters[COUNT.steps] and jobs.steps[step, WHAT] == ENDS:
        log_decision(jobs, jobs.steps[step, SUBJECT])


@kernel
def _tell_move(jobs: Jobs, what: int, move: int, cycle: int) -> None:
    """Tell that a region begins to move, over the links if these are waited for, or that it lies elsewhere."""
    service, counters = jobs.service, jobs.counters
    row = service.state.moves[move]
    ticket, size = jobs.ticket_of[service.waiting.row_of[row[REGION]]], service.waiting.requests.size[row[REGION]]
    if what == ARRIVES:
        answer(jobs, MOVED, ticket, row[TO], size, row[ADDRESS], row[LEFT])
    elif jobs.rates.by_links:
        answer(jobs, COPY, ticket, row[TO], size, row[ADDRESS], row[LEFT])
        counters[COUNT.copying], counters[COUNT.copy_begun] = 1, cycle
    log(jobs, MOVE if what == LEAVES else HAS_MOVED, ticket, row[TO], row[ADDRESS], size, row[LEFT], NONE)


@kernel
def _block_bytes(jobs: Jobs, size: int) -> int:
    """Return the bytes of a block that a request takes, as the cache rounds them."""
    rates = jobs.rates
    rounded = -(-size // rates.cache_granule) * rates.cache_granule
    return class_of(rounded, rates.cache_classes) if rates.cache_classes > 0 else rounded


@kernel
def class_of(size: int, classes: int) -> int:
    """Return the least size of a class that holds a size: so many to each doubling, evenly apart."""
    power = 1
    while power < size:
        power *= 2
    step = max(power // 2 // classes, 1)
    return -(-size // step) * step


@kernel
def status(jobs: Jobs) -> int:
    """Return 0, or `STOPPED` where a policy has broken its contract."""
    fine = jobs.service.state.counters[STOP.fault] == FINE and jobs.frames.counters[STOP.fault] == FINE
    return 0 if fine else STOPPED


@routine
def answer_of(jobs: Jobs, at: int, field: int) -> int:
    """Return a field of an answer that waits to be taken; the oldest is 0."""
    return int(jobs.answers[at, field])


@routine
def run_of(jobs: Jobs, at: int, run: int, what: int) -> int:
    """Return the start of a run of frames of a granted region, `what` = 0, or its bytes, 1; both in bytes."""
    return int(jobs.runs[jobs.answers[at, OF.first_run] + run, what])


@routine
def forget_answers(jobs: Jobs) -> int:
    """Take all answers; return 0."""
    jobs.counters[COUNT.answers] = jobs.counters[COUNT.runs] = 0
    return int(jobs.counters[COUNT.answers])


@routine
def row_of(jobs: Jobs, at: int, field: int) -> int:
    """Return a field of a row of the log that waits to be taken; the number of rows where `at` is -1."""
    return int(jobs.counters[COUNT.rows] if at < 0 else jobs.rows[at, field])


@routine
def forget_rows(jobs: Jobs) -> int:
    """Take all rows of the log; return 0."""
    jobs.counters[COUNT.rows] = 0
    return int(jobs.counters[COUNT.rows])


@routine
def memory_of(jobs: Jobs, what: int, card: int) -> int:
    """Return a gauge of memory: bytes in use as requested (`LIVE`), bytes that the drivers have given (`RESERVED`), or
    scatter (`SCATTERED`). Scatter is the share of a card's free granules outside its longest free run, in parts of
    `ONE`."""
    if what == LIVE:
        return int(jobs.counters[COUNT.live])
    if what == SCATTERED:
        free = jobs.frames.counts[card, frame_map.UNUSED]
        return int(share(free - frame_map.longest_run(jobs.frames, card), free))
    reserved = 0
    for place in range(jobs.service.state.physical.size):
        reserved += jobs.service.tables.capacity[place] - jobs.service.state.physical[place]
    return int(reserved)
