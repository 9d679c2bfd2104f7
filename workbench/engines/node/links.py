"""Transfers over the links of a board, which share the bytes of a cycle in whole units (spec 6, R13).

A transfer waits for the latency of its way, then is on all links of the way at once, at the least of its shares. A link
is shared equally among the transfers on it; what does not divide goes to the one that entered first. Shares change when
a transfer enters or ends, and an end is rounded up to a cycle.

Of the transfers on one way only the first can have a remainder, so that it is followed by itself; all others have one
rate. How much each of them has moved is one number a way, and a heap a way tells which is done next.
"""

from __future__ import annotations

from workbench.compiled import kernel, noinline, routine
from workbench.engines.kit.order import RANK, moment
from workbench.engines.node.link_queues import append, put_due, put_in, take_due, take_out, unlink
from workbench.engines.node.link_shares import count, set_turn, settle, settle_near, share
from workbench.engines.node.link_state import (
    COUNT,
    DONE,
    EARLY,
    EARLY_FIRST,
    MOVING,
    NEEDS_ROOM,
    NOBODY,
    NONE,
    OF,
    WAY_FIRST,
    Links,
    new_links,
    with_places,
)
from workbench.engines.node.ways import UNIT
from workbench.structures.timetable import NEVER, first_place, set_time

__all__ = ["NEEDS_ROOM", "NOBODY", "Links", "begin", "new_links", "next_moment", "take_next", "with_places"]


@routine
def begin(links: Links, way: int, size: int, cycle: int, high: int, low: int, ticket: int) -> int:
    """Begin a transfer of bytes over a way at the present cycle; return 0, or `NEEDS_ROOM`, and then nothing has begun.

    Of what happens at one cycle, the least (high, low) comes first, of equal ones what began first.
    """
    counters, rows = links.counters, links.rows
    slot = counters[COUNT.free]
    if slot == NONE:
        return NEEDS_ROOM
    counters[COUNT.free] = rows[slot, OF.after]
    rows[slot, OF.way], rows[slot, OF.left], rows[slot, OF.phase] = way, size * UNIT, EARLY
    rows[slot, OF.high], rows[slot, OF.low], rows[slot, OF.ticket] = high, low, ticket
    rows[slot, OF.at], rows[slot, OF.order] = cycle + links.ways.latency[way], counters[COUNT.begun]
    rows[slot, OF.place] = NONE
    counters[COUNT.begun] += 1
    links.carried[way] += size
    append(links, way, EARLY_FIRST, slot)
    if rows[slot, OF.at] < links.turns[links.turns.size // 2 + way]:
        set_time(links.turns, way, rows[slot, OF.at])
    return 0


@routine
def next_moment(links: Links) -> int:
    """Return the moment at which a latency or a transfer ends next, `NEVER` where none does."""
    counters = links.counters
    cycle = counters[COUNT.now] if counters[COUNT.due] > 0 else links.turns[1]
    return NEVER if cycle >= NEVER else moment(cycle, RANK.transfers)


@routine
def take_next(links: Links) -> int:
    """Let the one thing happen that is next, and return the ticket of the transfer that has arrived by it.

    Returns
    -------
    ticket : int
        `NOBODY` where only a latency has ended.
    """
    counters, rows = links.counters, links.rows
    if counters[COUNT.due] == 0:
        counters[COUNT.now] = links.turns[1]
    now = counters[COUNT.now]
    while links.turns[1] <= now:
        _collect(links, first_place(links.turns), now)
    slot = take_due(links)
    if rows[slot, OF.phase] == EARLY:
        _enter(links, slot, now)
        return NOBODY
    _leave(links, slot, now)
    rows[slot, OF.after] = counters[COUNT.free]
    counters[COUNT.free] = slot
    return int(rows[slot, OF.ticket])


@noinline
def _collect(links: Links, way: int, now: int) -> None:
    """Put down as due whatever happens on a way at this cycle."""
    rows, lists, heap = links.rows, links.lists, links.heap[way]
    early = lists[way, EARLY_FIRST]
    while early != NONE and rows[early, OF.at] <= now:
        unlink(links, way, EARLY_FIRST, early)
        put_due(links, early)
        early = lists[way, EARLY_FIRST]
    settle(links, way, now)
    first = lists[way, WAY_FIRST]
    if first != NONE and rows[first, OF.phase] == MOVING and rows[first, OF.left] <= 0:
        _done(links, first)
    while links.held[way] > 0 and rows[heap[0], OF.target] <= links.moved[way]:
        slot = heap[0]
        take_out(links, way, slot)
        _done(links, slot)
    set_turn(links, way)


@kernel
def _done(links: Links, slot: int) -> None:
    links.rows[slot, OF.phase] = DONE
    put_due(links, slot)


@noinline
def _enter(links: Links, slot: int, now: int) -> None:
    """Let a transfer move: it shares its links from now on."""
    rows, counters = links.rows, links.counters
    way = rows[slot, OF.way]
    settle_near(links, way, now)
    rows[slot, OF.phase], rows[slot, OF.entered] = MOVING, counters[COUNT.entered]
    counters[COUNT.entered] += 1
    if links.running[way] > 0:
        rows[slot, OF.target] = links.moved[way] + rows[slot, OF.left]
        put_in(links, way, slot)
    append(links, way, WAY_FIRST, slot)
    count(links, way, 1)
    share(links, way)


@noinline
def _leave(links: Links, slot: int, now: int) -> None:
    """Let a transfer end: others have its shares from now on."""
    rows = links.rows
    way = rows[slot, OF.way]
    settle_near(links, way, now)
    was_first = links.lists[way, WAY_FIRST] == slot
    unlink(links, way, WAY_FIRST, slot)
    count(links, way, -1)
    first = links.lists[way, WAY_FIRST]
    if first == NONE:
        links.moved[way] = 0
    elif was_first and rows[first, OF.phase] == MOVING:
        rows[first, OF.left] = rows[first, OF.target] - links.moved[way]
        take_out(links, way, first)
    share(links, way)
