"""Jobs of the pool's service: what each does to memory at once, and when others hear of it (spec 6, R9).

A request changes memory when its service begins, and everything that follows from it with it: regions that move, and
requests that have waited for memory and have it now. Each is told when the service has come so far: answers with their
runs of frames, and rows of the log.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.kit.faults import FINE, STOP, numbered
from workbench.engines.node.frames import FrameMap, frame_of, give, run_length, take
from workbench.engines.pool import loop
from workbench.engines.pool.state import ANSWERED, HEAD, Service
from workbench.engines.pool.state import COUNT as POOL
from workbench.records.pool import BEGIN as MOVE_BEGIN
from workbench.records.pool import BYTES, CARD, IDENTIFIER, LEFT, REGION, STITCHED, TO
from workbench.structures.size_index import ADDRESS, FIELDS, ORIGIN, SIZE


@kernel
def nanoseconds_at(jobs: Jobs, cycle: int) -> int:
    """Return the time of the service's clock at a cycle."""
    return cycle * 1000 // jobs.rates.clock_mhz


@kernel
def cycles_of(jobs: Jobs, nanoseconds: int) -> int:
    """Return nanoseconds as cycles, rounded up (spec 6, R1)."""
    return -(-nanoseconds * jobs.rates.clock_mhz // 1000)


NONE = -1


class Counters(NamedTuple):
    """Where the service stands."""

    next_row: int
    """The row of the table that is served next: rows are entered as they are asked."""
    begun: int
    """The cycle at which the service began with a job, or gave somebody up."""
    base: int
    """The same in nanoseconds, from which the steps of the job are counted."""
    shift: int
    """Nanoseconds of its steps before `begun`: what follows an answer is a job of its own, rounded by itself."""
    late: int
    """Cycles that copies of this job have taken over the links."""
    step: int
    steps: int
    """Which step of the job comes next, and how many it has; equal = the service is idle."""
    copying: int
    """1 = the service waits for a copy over the links."""
    copy_begun: int
    """The cycle at which that began."""
    answers: int
    runs: int
    rows: int
    """Answers, runs of frames and rows of the log that are not taken."""
    calls: int
    """Calls of the driver whose frames are written down."""
    moves: int
    """Moves that belong to a job's steps by now."""
    live: int
    """Bytes of the regions in use, as they were asked for."""


class Answer(NamedTuple):
    """The fields of an answer."""

    kind: int
    ticket: int
    card: int
    bytes: int
    address: int
    runs: int
    other: int
    first_run: int


class LogRow(NamedTuple):
    """The fields of a row of the log."""

    kind: int
    ticket: int
    card: int
    address: int
    bytes: int
    source: int
    """Of a grant `CACHED`, `PHYSICAL` or `STITCHED`; of a move the card that it leaves; of an answer whether it was
    granted."""
    borrower: int


COUNT, OF, ROW = numbered(Counters), numbered(Answer), numbered(LogRow)
GRANTED, REFUSED_, RELEASED_, COPY, MOVED = range(5)
"""Kinds of answers: memory is granted, refused, taken back; a copy has to pass the links; a region has moved."""
REQUEST, GRANT, REFUSE, ANSWER, RELEASE, TAKEN_BACK, TO_DRIVER, MOVE, HAS_MOVED = range(9)
"""Kinds of rows of the log."""
NS, WHAT, SUBJECT = range(3)
"""Of a step of a job: nanoseconds since its beginning without copies over links, what happens, to which row or move."""
ENDS, LEAVES, ARRIVES, IDLES = range(4)
"""What happens: a request is answered; a region begins to move, and has moved; the service is free again."""


@noinline
def begin_row(jobs: Jobs, cycle: int) -> None:
    """Serve the row that is next, from a cycle on; the service is idle."""
    counters, service, row = jobs.counters, jobs.service, jobs.counters[COUNT.next_row]
    frees = service.columns.names[row] != NONE
    counters[COUNT.next_row] += 1
    _begin(jobs, cycle, nanoseconds_at(jobs, cycle))
    overhead = jobs.rates.release_ns if frees else jobs.rates.request_ns
    service.state.counters[POOL.free_at] = counters[COUNT.base] + overhead
    time = nanoseconds_at(jobs, jobs.arrived_at[row])
    service.waiting.since[row] = time
    loop.take(service, row, time)
    _follow(jobs)


@noinline
def give_up(jobs: Jobs, cycle: int) -> None:
    """Refuse who has waited too long, at a cycle; the service is idle."""
    service = jobs.service
    waited_until = service.waiting.since[service.waiting.counters[HEAD]] + service.rules.wait_ns
    _begin(jobs, cycle, max(nanoseconds_at(jobs, cycle), waited_until))
    service.state.counters[POOL.free_at] = jobs.counters[COUNT.base]
    loop.give_up(service)
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
    while service.state.counters[STOP.fault] == FINE and loop.head_gives_up(service, 0):
        loop.give_up(service)
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
            # The links take the time of a copy: what the service reckoned for it is taken off all later steps.
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
    size = jobs.service.waiting.requests.size[row[REGION]]
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


@kernel
def answer(jobs: Jobs, kind: int, ticket: int, card: int, size: int, address: int, other: int) -> None:
    """Add an answer."""
    row = jobs.answers[jobs.counters[COUNT.answers]]
    row[OF.kind], row[OF.ticket], row[OF.card], row[OF.bytes] = kind, ticket, card, size
    row[OF.address], row[OF.other], row[OF.runs], row[OF.first_run] = address, other, 0, jobs.counters[COUNT.runs]
    jobs.counters[COUNT.answers] += 1


@noinline
def grant(jobs: Jobs, ticket: int, line: int) -> None:
    """Add the answer that grants a region, with the frames of the bytes that were asked for."""
    state, at = jobs.service.state, jobs.counters[COUNT.answers]
    answer(jobs, GRANTED, ticket, state.card[line], state.taken[line], state.identifier[line], NONE)
    left, block = jobs.service.waiting.requests.size[line], int(state.block[line])
    if not (jobs.rates.framed or jobs.rates.placed):
        _add_run(jobs, 0, left)
        block = NONE
    while left > 0 and block != NONE:
        left -= _runs_of_block(jobs, state.card[line], block, left)
        block = int(state.piece[block])
    jobs.answers[at, OF.runs] = jobs.counters[COUNT.runs] - jobs.answers[at, OF.first_run]


@kernel
def _runs_of_block(jobs: Jobs, card: int, block: int, most: int) -> int:
    """Add the runs of a block, of so many bytes at most; return the bytes."""
    nodes, granule = jobs.service.state.blocks.nodes, jobs.frames.granule
    address, origin = nodes[block * FIELDS + ADDRESS], nodes[block * FIELDS + ORIGIN]
    size = min(nodes[block * FIELDS + SIZE], most)
    if jobs.rates.placed:
        driver = jobs.service.state.driver
        _add_run(jobs, driver.start[origin] * driver.granule + address - nodes[origin * FIELDS + ADDRESS], size)
        return int(size)
    at, end = address // granule, (address + size) // granule
    while at < end:
        length = run_length(jobs.frames, card, at, end)
        _add_run(jobs, frame_of(jobs.frames, card, at) * granule, length * granule)
        at += length
    return int(size)


@kernel
def _add_run(jobs: Jobs, start: int, length: int) -> None:
    at = jobs.counters[COUNT.runs]
    jobs.runs[at, 0], jobs.runs[at, 1] = start, length
    jobs.counters[COUNT.runs] += 1


@kernel
def log(jobs: Jobs, kind: int, ticket: int, card: int, address: int, size: int, source: int, borrower: int) -> None:
    """Add a row to the log, where one is kept."""
    if jobs.rates.logs:
        row = jobs.rows[jobs.counters[COUNT.rows]]
        row[ROW.kind], row[ROW.ticket], row[ROW.card], row[ROW.address] = kind, ticket, card, address
        row[ROW.bytes], row[ROW.source], row[ROW.borrower] = size, source, borrower
        jobs.counters[COUNT.rows] += 1


class Rates(NamedTuple):
    """The levers as whole numbers."""

    clock_mhz: int
    request_ns: int
    release_ns: int
    by_links: int
    """1 = copies are transfers of the links; 0 = they take what the path takes that is alone."""
    granule: int
    """Requests are rounded up to a multiple of it: whole pages."""
    cache_granule: int
    cache_classes: int
    framed: int
    """1 = the driver's allocations have frames by the policy `frames`."""
    placed: int
    """1 = a placement policy of the driver says where each allocation lies."""
    logs: int


class Jobs(NamedTuple):
    """The service, and what it works on."""

    service: Service
    frames: FrameMap
    rates: Rates
    counters: np.ndarray
    row_of: np.ndarray
    """int64[tickets, 2], the rows of each ticket's allocation and of its release, -1 = not asked for."""
    size_of: np.ndarray
    """int64[tickets], bytes as they were asked for."""
    ticket_of: np.ndarray
    """int64[rows]."""
    arrived_at: np.ndarray
    """int64[rows], the cycle at which each came."""
    steps: np.ndarray
    """int64[steps, 3], those of the job under way."""
    answers: np.ndarray
    """int64[answers, fields]."""
    runs: np.ndarray
    """int64[runs, 2], first byte and bytes of each run of frames of the granted regions among the answers."""
    rows: np.ndarray
    """int64[rows, fields], the log."""
