"""The routines of a pool as a part (spec 6, R2), and of a service that takes single requests from plain Python.

Each takes the service, or the arrays of a run as one tuple, by reference and whole numbers, and returns one whole
number, so that a compiled calendar can call it by its address and `bound` can fill it in. Times are nanoseconds. As a
part, the service takes requests in the order in which they are asked, so that an answer is known at once and lies
ahead, unless the request waits for memory. Requests that were answered stand in `waiting.answers`, counted by
`ANSWERED`, until who asked takes them and sets the counter to 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.compiled import bound, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import LAST_CYCLE, RANK, cycle_of, moment, rank_of
from workbench.engines.pool.blocks import from_driver, give, return_to_driver, use
from workbench.engines.pool.loop import allocate, end, free, give_up, head_gives_up, take
from workbench.engines.pool.state import ANSWERED, COUNT, HEAD, LINE, NOW, ROWS, Columns, Policies, Rules, State, Tables
from workbench.policies.pool.cache import APART
from workbench.structures.size_index import ADDRESS, AFTER, FIELDS, NONE, ORIGIN, SIZE
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


RELEASE = 0
"""The row of a release; an allocation has the row above 0 that its region keeps until it is released."""


class Run(NamedTuple):
    """The arrays of a run, as one."""

    columns: Columns
    tables: Tables
    rules: Rules
    policies: Policies
    state: State


@routine
def allocate_one(run: Run, row: int) -> None:
    """Serve the request in a row."""
    state = run.state
    state.counters[COUNT.calls], state.counters[COUNT.lendings] = 0, 0
    state.block[row], state.taken[row] = NONE, 0
    allocate(run.columns, run.tables, run.rules, run.policies, state, row)


@routine
def free_one(run: Run, row: int) -> None:
    """Release what a row was granted."""
    run.state.counters[COUNT.calls] = 0
    run.columns.names[RELEASE] = row
    free(run.columns, run.tables, run.rules, run.policies, run.state, RELEASE)


@routine
def take_back_one(run: Run, row: int) -> None:
    """Undo a grant that the driver served."""
    state = run.state
    block = int(state.block[row])
    origin = int(state.blocks.nodes[block * FIELDS + ORIGIN])
    state.counters[COUNT.calls] = 0
    give(run.rules, state, int(state.pool[origin]), block)
    return_to_driver(run.rules, state, row, origin)


@routine
def segment(run: Run, pool: int, size: int) -> int:
    """Take a new driver allocation; return its one block."""
    run.state.counters[COUNT.calls] = 0
    return from_driver(run.rules, run.state, RELEASE, pool, size)


@routine
def cut(run: Run, pool: int, block: int, size: int, fresh: int) -> None:
    """Put the lower part of a block to use; `fresh` = it was never cached."""
    use(run.rules, run.state, pool, block, size, fresh != 0)


@routine
def uncut(run: Run, pool: int, block: int) -> None:
    """Cache a block that was in use."""
    give(run.rules, run.state, pool, block)


def lay_out(run: Run, pool: int, pieces: Sequence[tuple[int, bool]]) -> tuple[int, list[int]]:
    """Return a driver allocation that is cut already: each piece with its bytes, and whether it is in use.

    Every piece is put to use first, and then those that are not are given back, whatever the cache would do.

    Returns
    -------
    address : int
    blocks : list of int
        Those that are in use, in the order of the pieces.
    """
    plain = run.rules._replace(halves=0, joins=APART, least_rest=1, small_least_rest=1, relative_rest=0)
    run = run._replace(rules=plain)
    part, cache, nodes = bound(cut, run), bound(uncut, run), run.state.blocks.nodes
    first = block = bound(segment, run)(pool, sum(size for size, _ in pieces))
    blocks = []
    for size, _ in pieces:
        part(pool, block, size, block == first)
        blocks.append(block)
        block = int(nodes[block * FIELDS + AFTER])
    for block, (_, in_use) in zip(blocks, pieces, strict=True):
        if not in_use:
            cache(pool, block)
    used = [block for block, (_, in_use) in zip(blocks, pieces, strict=True) if in_use]
    return int(nodes[first * FIELDS + ADDRESS]), used
