"""Transfers over the links of a board, which share the bytes of a cycle in whole units (spec 6, R13).

A transfer waits for the latency of its way, then is on all links of the way at once, at the least of its shares. A link
is shared equally among the transfers on it; what does not divide goes to the one that entered first. Shares change when
a transfer enters or ends, and an end is rounded up to a cycle.

Of the transfers on one way only the first can have a remainder, so that it is followed by itself; all others have one
rate. How much each of them has moved is one number a way, and a heap a way tells which is done next.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, noinline, routine
from workbench.engines.kit.order import RANK, moment
from workbench.engines.node.link_state import (
    COUNT,
    DONE,
    EARLY,
    EARLY_FIRST,
    FIRST,
    MOVING,
    NEEDS_ROOM,
    NOBODY,
    NONE,
    OF,
    OTHERS,
    UNIT,
    WAY_FIRST,
    Links,
)
from workbench.structures.timetable import NEVER, first_place, set_time


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
    # The tournament holds the first event of the way: only an earlier one changes it.
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
    # Before every event: a transfer of no bytes is done in the cycle in which it enters.
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
    # All transfers of a way have its latency, so the list is in the order of `at`.
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
    # One that is done has left the heap already.
    elif was_first and rows[first, OF.phase] == MOVING:
        rows[first, OF.left] = rows[first, OF.target] - links.moved[way]
        take_out(links, way, first)
    share(links, way)


@kernel
def count(links: Links, way: int, one: int) -> None:
    links.running[way] += one
    for k in range(links.ways.first[way], links.ways.first[way + 1]):
        links.users[links.ways.resource[k]] += one


@kernel
def settle(links: Links, way: int, now: int) -> None:
    """Note what has moved on a way up to now."""
    passed, first = now - links.since[way], links.lists[way, WAY_FIRST]
    links.since[way] = now
    if first != NONE:
        links.moved[way] += passed * links.rate[way, OTHERS]
        links.rows[first, OF.left] -= passed * links.rate[way, FIRST]


@kernel
def settle_near(links: Links, way: int, now: int) -> None:
    for k in range(links.near_first[way], links.near_first[way + 1]):
        settle(links, links.near[k], now)


@noinline
def share(links: Links, way: int) -> None:
    """Find the rates again of all that share a link with a way."""
    for k in range(links.near_first[way], links.near_first[way + 1]):
        other = links.near[k]
        if links.running[other] > 0:
            _find_rates(links, other)
        set_turn(links, other)


@noinline
def look_at_links(links: Links, cycle: int) -> None:
    """Note what has moved up to a cycle, and find all rates and turns again: what is there changes by none of it."""
    for way in range(links.running.size):
        settle(links, way, cycle)
    for way in range(links.running.size):
        if links.running[way] > 0:
            _find_rates(links, way)
        set_turn(links, way)


@kernel
def _find_rates(links: Links, way: int) -> None:
    """Find the least share of the first transfer on a way, and that of the others."""
    first, others, slot = NEVER, NEVER, links.lists[way, WAY_FIRST]
    for k in range(links.ways.first[way], links.ways.first[way + 1]):
        it = links.ways.resource[k]
        share = links.ways.capacity[it] // links.users[it]
        others = min(others, share)
        if _is_eldest(links, way, it, links.rows[slot, OF.entered]):
            share += links.ways.capacity[it] - share * links.users[it]
        first = min(first, share)
    links.rate[way, FIRST], links.rate[way, OTHERS] = first, others


@kernel
def _is_eldest(links: Links, way: int, resource: int, entered: int) -> bool:
    """Return whether none on a resource entered before one that is the first of its way."""
    ways = links.ways
    # Of each way the first is enough: all others on it entered later.
    for k in range(links.near_first[way], links.near_first[way + 1]):
        other = links.near[k]
        slot = links.lists[other, WAY_FIRST]
        if slot != NONE and links.rows[slot, OF.entered] < entered:
            for place in range(ways.first[other], ways.first[other + 1]):
                if ways.resource[place] == resource:
                    return False
    return True


@kernel
def set_turn(links: Links, way: int) -> None:
    """Note when something happens on a way next."""
    rows, lists, time = links.rows, links.lists, NEVER
    early, first = lists[way, EARLY_FIRST], lists[way, WAY_FIRST]
    if early != NONE:
        time = rows[early, OF.at]
    if first != NONE and rows[first, OF.phase] == MOVING:
        time = min(time, _end(links.since[way], rows[first, OF.left], links.rate[way, FIRST]))
    if links.held[way] > 0:
        left = rows[links.heap[way, 0], OF.target] - links.moved[way]
        time = min(time, _end(links.since[way], left, links.rate[way, OTHERS]))
    set_time(links.turns, way, time)


@kernel
def _end(since: int, left: int, rate: int) -> int:
    """Return the first cycle at which so many units have moved."""
    if left <= 0:
        return since
    # A share of 0 moves nothing until another transfer leaves.
    return NEVER if rate == 0 else since - (-left // rate)


@kernel
def append(links: Links, way: int, which: int, slot: int) -> None:
    """Put a transfer at the end of a list of its way."""
    rows, lists = links.rows, links.lists
    before, after = lists[way, which + 1], NONE
    rows[slot, OF.before], rows[slot, OF.after] = before, after
    lists[way, which + 1] = slot
    if before == NONE:
        lists[way, which] = slot
    else:
        rows[before, OF.after] = slot


@kernel
def unlink(links: Links, way: int, which: int, slot: int) -> None:
    """Take a transfer out of a list of its way."""
    rows, lists = links.rows, links.lists
    before, after = rows[slot, OF.before], rows[slot, OF.after]
    if before == NONE:
        lists[way, which] = after
    else:
        rows[before, OF.after] = after
    if after == NONE:
        lists[way, which + 1] = before
    else:
        rows[after, OF.before] = before


@kernel
def put_in(links: Links, way: int, slot: int) -> None:
    """Put a transfer into the heap of its way."""
    links.held[way] += 1
    _sift_up(links, way, links.held[way] - 1, slot)


@kernel
def _sift_up(links: Links, way: int, at: int, slot: int) -> None:
    rows, heap = links.rows, links.heap[way]
    while at > 0 and rows[slot, OF.target] < rows[heap[(at - 1) // 2], OF.target]:
        heap[at] = heap[(at - 1) // 2]
        rows[heap[at], OF.place] = at
        at = (at - 1) // 2
    heap[at] = slot
    rows[slot, OF.place] = at


@kernel
def take_out(links: Links, way: int, slot: int) -> None:
    """Take a transfer out of the heap of its way, wherever it stands."""
    rows, heap, at = links.rows, links.heap[way], links.rows[slot, OF.place]
    links.held[way] -= 1
    rows[slot, OF.place] = NONE
    last = heap[links.held[way]]
    if last == slot:
        return
    while True:
        child = 2 * at + 1
        if child + 1 < links.held[way] and rows[heap[child + 1], OF.target] < rows[heap[child], OF.target]:
            child += 1
        if child >= links.held[way] or rows[heap[child], OF.target] >= rows[last, OF.target]:
            break
        heap[at] = heap[child]
        rows[heap[at], OF.place] = at
        at = child
    # Up as well: the last entry may come from another branch, and then may precede its new parent.
    _sift_up(links, way, at, last)


@kernel
def _goes_before(rows: np.ndarray, one: int, other: int) -> bool:
    """Return whether something happens to a transfer before it does to another, at the same cycle."""
    if rows[one, OF.high] != rows[other, OF.high]:
        return bool(rows[one, OF.high] < rows[other, OF.high])
    if rows[one, OF.low] != rows[other, OF.low]:
        return bool(rows[one, OF.low] < rows[other, OF.low])
    return bool(rows[one, OF.order] < rows[other, OF.order])


@kernel
def put_due(links: Links, slot: int) -> None:
    """Put a transfer on the heap of what happens at this cycle."""
    rows, due, at = links.rows, links.due, links.counters[COUNT.due]
    links.counters[COUNT.due] += 1
    while at > 0 and _goes_before(rows, slot, due[(at - 1) // 2]):
        due[at] = due[(at - 1) // 2]
        at = (at - 1) // 2
    due[at] = slot


@kernel
def take_due(links: Links) -> int:
    """Take the first transfer off the heap of what happens at this cycle."""
    rows, due, at = links.rows, links.due, 0
    result = due[0]
    links.counters[COUNT.due] -= 1
    count = links.counters[COUNT.due]
    last = due[count]
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and _goes_before(rows, due[child + 1], due[child]):
            child += 1
        if not _goes_before(rows, due[child], last):
            break
        due[at] = due[child]
        at = child
    due[at] = last
    return int(result)
