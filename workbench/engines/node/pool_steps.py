"""A job of the pool's service: what it does to memory at once, and the steps at which others hear of it (spec 6, R9).

A request changes memory when its service begins, and everything that follows from it with it: regions that move, and
requests that have waited for memory and have it now. Each is told when the service has come so far.
"""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.node.frames import give, take
from workbench.engines.node.pool_state import (
    ARRIVES,
    COUNT,
    ENDS,
    GRANT,
    IDLES,
    LEAVES,
    NONE,
    NS,
    REFUSE,
    SUBJECT,
    TO_DRIVER,
    WHAT,
    Jobs,
)
from workbench.engines.node.pool_telling import log
from workbench.engines.pool import taking
from workbench.engines.pool.queue import ANSWERED, HEAD
from workbench.engines.pool.state import COUNT as POOL
from workbench.records.pool import BEGIN as MOVE_BEGIN
from workbench.records.pool import BYTES, CARD, IDENTIFIER, LEFT, REGION, STITCHED, TO


@kernel
def nanoseconds_at(jobs: Jobs, cycle: int) -> int:
    """Return what the service's clock shows at a cycle."""
    return cycle * 1000 // jobs.rates.clock_mhz


@kernel
def cycles_of(jobs: Jobs, nanoseconds: int) -> int:
    """Return nanoseconds as cycles, rounded up (spec 6, R1)."""
    return -(-nanoseconds * jobs.rates.clock_mhz // 1000)


@noinline
def begin_row(jobs: Jobs, cycle: int) -> None:
    """Serve the row that is next, from a cycle on; the service is idle."""
    counters, service, row = jobs.counters, jobs.service, jobs.counters[COUNT.next_row]
    frees = service.columns.names[row] != NONE
    counters[COUNT.next_row] += 1
    _begin(jobs, cycle, nanoseconds_at(jobs, cycle))
    overhead = jobs.rates.release_ns if frees else jobs.rates.request_ns
    service.state.counters[POOL.free_at] = counters[COUNT.base] + overhead
    time = nanoseconds_at(jobs, jobs.asked[row])
    service.waiting.since[row] = time
    taking.take(service, row, time)
    _follow(jobs)


@noinline
def give_up(jobs: Jobs, cycle: int) -> None:
    """Refuse who has waited too long, at a cycle; the service is idle."""
    service = jobs.service
    waited_until = service.waiting.since[service.waiting.counters[HEAD]] + service.rules.wait_ns
    _begin(jobs, cycle, max(nanoseconds_at(jobs, cycle), waited_until))
    service.state.counters[POOL.free_at] = jobs.counters[COUNT.base]
    taking.give_up(service)
    _follow(jobs)


@kernel
def _begin(jobs: Jobs, cycle: int, base: int) -> None:
    """Begin a job that has no steps yet."""
    counters = jobs.counters
    counters[COUNT.begun], counters[COUNT.base], counters[COUNT.late] = cycle, base, 0
    counters[COUNT.step] = counters[COUNT.steps] = counters[COUNT.shift] = 0


@kernel
def _follow(jobs: Jobs) -> None:
    """Refuse who has waited too long by the end of a job, then write its steps down."""
    service = jobs.service
    while service.state.counters[STOP.fault] == FINE and taking.head_gives_up(service, 0):
        taking.give_up(service)
    if service.state.counters[STOP.fault] == FINE:
        _frame_calls(jobs)
        _write_steps(jobs)


@noinline
def _frame_calls(jobs: Jobs) -> None:
    """Give frames to what the driver has given in this job, and take those of the rest back."""
    counters, state, granule = jobs.counters, jobs.service.state, jobs.frames.granule
    for k in range(counters[COUNT.calls], state.counters[POOL.calls]):
        call = state.calls[k]
        card, address, size = call[CARD], call[IDENTIFIER], call[BYTES]
        if size < 0:
            log(jobs, TO_DRIVER, _ticket_of_line(jobs, call[0]), card, address, -size, NONE, NONE)
        if jobs.rates.framed and size > 0:
            take(jobs.frames, card, address // granule, size // granule)
        elif jobs.rates.framed:
            give(jobs.frames, card, address // granule, -size // granule)
    counters[COUNT.calls] = state.counters[POOL.calls]


@noinline
def _write_steps(jobs: Jobs) -> None:
    """Write down when each move begins and ends, and each request is answered; nothing changes any more."""
    counters, service = jobs.counters, jobs.service
    state, waiting, copied = service.state, service.waiting, 0
    for move in range(counters[COUNT.moves], state.counters[POOL.moves]):
        begin, takes = state.moves[move, MOVE_BEGIN] - copied, copy_ns(jobs, move)
        _add_step(jobs, begin, LEAVES, move)
        if jobs.rates.by_links:
            copied += takes
        else:
            begin += takes
        _add_step(jobs, begin, ARRIVES, move)
    counters[COUNT.moves] = state.counters[POOL.moves]
    for k in range(waiting.counters[ANSWERED]):
        row = waiting.answers[k]
        line = waiting.line_of[row]
        _add_step(jobs, state.done[line] - copied, ENDS, row)
        _count_live(jobs, row)
        if k == 0:
            log_decision(jobs, row)
    waiting.counters[ANSWERED] = 0
    _add_rest(jobs, state.counters[POOL.free_at] - copied - counters[COUNT.base])


@kernel
def _count_live(jobs: Jobs, row: int) -> None:
    """Count the bytes that a job has given, or taken back, as they were asked for."""
    service, size = jobs.service, jobs.size_of[jobs.ticket_of[row]]
    if service.columns.names[row] != NONE:
        jobs.counters[COUNT.live] -= size
    elif service.state.outcome[service.waiting.line_of[row]] <= STITCHED:
        jobs.counters[COUNT.live] += size


@kernel
def _add_rest(jobs: Jobs, end: int) -> None:
    """Add the step at which the service is free, where nothing else happens then."""
    steps = jobs.counters[COUNT.steps]
    if end > (jobs.steps[steps - 1, NS] if steps > 0 else 0):
        _add_step(jobs, end + jobs.counters[COUNT.base], IDLES, NONE)


@kernel
def copy_ns(jobs: Jobs, move: int) -> int:
    """Return the nanoseconds that a move takes over a path that is alone."""
    tables, row = jobs.service.tables, jobs.service.state.moves[move]
    size = jobs.service.waiting.asked.size[row[REGION]]
    return int(size / tables.narrowest[row[LEFT] * tables.capacity.size + row[TO]])


@kernel
def _add_step(jobs: Jobs, time: int, what: int, subject: int) -> None:
    step = jobs.steps[jobs.counters[COUNT.steps]]
    step[NS], step[WHAT], step[SUBJECT] = time - jobs.counters[COUNT.base], what, subject
    jobs.counters[COUNT.steps] += 1


@noinline
def log_decision(jobs: Jobs, row: int) -> None:
    """Log what becomes of an allocation, when the service comes to it."""
    service = jobs.service
    if service.columns.names[row] != NONE:
        return
    state, line, borrower = service.state, service.waiting.line_of[row], service.columns.borrower[row]
    ticket = jobs.ticket_of[row]
    if state.outcome[line] <= STITCHED:
        where, size = state.identifier[line], state.taken[line]
        log(jobs, GRANT, ticket, state.card[line], where, size, state.outcome[line], borrower)
    else:
        log(jobs, REFUSE, ticket, borrower, NONE, jobs.size_of[ticket], NONE, borrower)


@kernel
def _ticket_of_line(jobs: Jobs, line: int) -> int:
    """Return the ticket of a request by its line, before its line is closed too."""
    row = jobs.service.waiting.row_of[line]
    return int(jobs.ticket_of[row]) if row != NONE else NONE
