"""A pool as a part of a larger simulation: what is asked when is decided from outside (spec 6, R2).

Each routine takes the service by reference and whole numbers, and returns one whole number, so that a compiled calendar
can call it by its address. Times are nanoseconds. The service takes requests in the order in which they are asked, so
that an answer is known at once and lies ahead, unless the request waits for memory. Requests that were answered stand
in `waiting.answers`, counted by `ANSWERED`, until who asked takes them and sets the counter to 0.
"""

from __future__ import annotations

from typing import Any

from workbench.compiled import routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import LAST_CYCLE, RANK, cycle_of, moment, rank_of
from workbench.engines.pool.queue import ANSWERED, HEAD, LINE, NOW, ROWS
from workbench.engines.pool.state import COUNT
from workbench.engines.pool.taking import end, give_up, head_gives_up, take
from workbench.structures.size_index import ADDRESS, FIELDS, NONE, ORIGIN, SIZE
from workbench.structures.timetable import NEVER

REFUSED, NEEDS_ROOM = -1, -2
"""Instead of a ticket: the time is over, or there is no such thing to be asked for; the array of moves must grow
first."""
WHERE, BYTES, PHYSICAL = range(3)
"""What is asked about a piece: its address, its bytes, the byte of its card's memory at which it begins."""


@routine
def next_moment(run: Any) -> int:
    """Return the moment at which somebody will have waited too long, `NEVER` where nobody will."""
    head = run.waiting.counters[HEAD]
    if head == NONE or run.rules.wait_ns == 0:
        return NEVER
    return moment(run.waiting.since[head] + run.rules.wait_ns, RANK.services)


@routine
def advance_to(run: Any, until: int) -> int:
    """Refuse who has waited too long before a moment; return what went wrong, `FINE` = nothing."""
    counters, waiting = run.state.counters, run.waiting
    due = cycle_of(until) if rank_of(until) <= RANK.services else cycle_of(until) + 1
    while counters[STOP.fault] == FINE and head_gives_up(run, due):
        too_long = waiting.since[waiting.counters[HEAD]] + run.rules.wait_ns
        waiting.counters[NOW] = max(waiting.counters[NOW], min(too_long, due))
        give_up(run)
    return counters[STOP.fault]


@routine
def ask_row(run: Any, row: int, time: int) -> int:
    """Ask a request of the table at a time; return it, which is the ticket, or `REFUSED`, or `NEEDS_ROOM`."""
    waiting, state = run.waiting, run.state
    over = row < 0 or row >= waiting.counters[ROWS] or time < waiting.counters[NOW] or time > LAST_CYCLE
    if over or waiting.since[row] != NONE:
        return REFUSED
    named = run.columns.names[row]
    if named >= 0 and waiting.line_of[named] == NONE:
        return REFUSED
    moves = run.rules.returns != 0 or run.rules.evicts != 0
    if moves and state.counters[COUNT.moves] + waiting.counters[LINE] + 1 > state.moves.shape[0]:
        return NEEDS_ROOM
    if advance_to(run, moment(time, RANK.pool_requests)) != FINE:
        return REFUSED
    waiting.counters[NOW] = waiting.since[row] = time
    take(run, row, time)
    while state.counters[STOP.fault] == FINE and head_gives_up(run, time):
        give_up(run)
    return row if state.counters[STOP.fault] == FINE else REFUSED


@routine
def append(run: Any, card: int, size: int, need: int, names: int) -> int:
    """Add a request to the table: of a card, of bytes, as the cache rounds them; or a free of what a row names.

    Returns
    -------
    row : int
        `REFUSED` where the table is full.
    """
    columns, counters = run.columns, run.waiting.counters
    row = counters[ROWS]
    if row == columns.time.size:
        return REFUSED
    columns.borrower[row], columns.size[row], columns.need[row], columns.names[row] = card, size, need, names
    counters[ROWS] += 1
    return row


@routine
def end_waits(run: Any) -> int:
    """Refuse who waits, and close what was never asked; return how many answers there are."""
    end(run)
    return run.waiting.counters[ANSWERED]


@routine
def piece(run: Any, ticket: int, which: int, what: int) -> int:
    """Return `WHERE` a piece of a granted region begins, its `BYTES` or the `PHYSICAL` byte; -1 = there is no such
    piece, or no such byte, because the driver counts bytes."""
    line, nodes, driver = run.waiting.line_of[ticket], run.state.blocks.nodes, run.state.driver
    block = run.state.block[line] if line != NONE else NONE
    while block != NONE and which > 0:
        block = run.state.piece[block]
        which -= 1
    if block == NONE:
        return NONE
    at = block * FIELDS
    if what != PHYSICAL:
        return nodes[at + ADDRESS] if what == WHERE else nodes[at + SIZE]
    if driver.granule == 0:
        return NONE
    origin = nodes[at + ORIGIN]
    return driver.start[origin] * driver.granule + nodes[at + ADDRESS] - nodes[origin * FIELDS + ADDRESS]
