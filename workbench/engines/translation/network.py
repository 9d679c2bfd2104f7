"""The network between cores: how many routers apart two of them are, and the way of a message over links."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.translation.events import order_of, schedule_miss
from workbench.engines.translation.state import COUNT, CROSSBAR, DIRECTIONS, MESH, MISS, OF, Run
from workbench.engines.translation.statistics import ONE_MESSAGE, WAITED_COLUMN, count_messages, window
from workbench.structures import event_queue as at

NO_NOTE: Any = np.int64(0)
"""What a message says that says nothing more."""
EAST, WEST, NORTH, SOUTH = range(4)


def mesh_columns(cores: int) -> int:
    """Return the columns of the mesh: the least square that has space for the cores; the last row may be shorter.

    >>> mesh_columns(16), mesh_columns(80)
    (4, 9)
    """
    return math.isqrt(cores - 1) + 1 if cores > 1 else 1


def hop_table(network: int, cores: int) -> np.ndarray:
    """Return the links between every two cores: int64[cores * cores].

    A mesh goes along the row first, then along the column; a ring the shorter way; a crossbar takes one link.

    >>> hop_table(MESH, 4).reshape(4, 4)[0].tolist()
    [0, 1, 1, 2]
    """
    one = np.arange(cores)
    if network == MESH:
        row, column = np.divmod(one, mesh_columns(cores))
        apart = abs(row[:, None] - row) + abs(column[:, None] - column)
    elif network == CROSSBAR:
        apart = (one[:, None] != one).astype(np.int64)
    else:
        ahead = (one - one[:, None]) % cores
        apart = np.minimum(ahead, cores - ahead)
    return np.ascontiguousarray(apart, np.int64).reshape(-1)


def ring_table(hops: np.ndarray, cores: int) -> np.ndarray:
    """Return the cores that are so many links away from each, as bits: uint64[cores * (farthest + 1) * words].

    >>> ring_table(hop_table(MESH, 4), 4).reshape(4, 3)[0].tolist()
    [1, 6, 8]
    """
    words, one = -(-cores // 64), np.arange(cores)
    rings = np.zeros((cores, int(hops.max()) + 1, words), np.uint64)
    bits = np.uint64(1) << (one % 64).astype(np.uint64)
    np.bitwise_or.at(rings, (one[:, None], hops.reshape(cores, cores), one // 64), bits)
    return rings.reshape(-1)


@noinline
def send(
    run: Run, kind: int, rank: int, core: int, key: int, row: int, subject: int, page: int, note: int,
    sender: int, receiver: int, leave: int, now: int, message: int,
) -> None:  # fmt: skip
    """Send a message that leaves at a cycle, now or later; from a core to itself it is none.

    `kind`, `rank`, `core`, `key` and `row` are those of the event of its arrival; `subject`, `page` and `note` are what
    it says; `message` is how it is counted. Where links queue it is an event at each router on its way (spec 4, T11).
    """
    if sender != receiver:
        count_messages(run, message, ONE_MESSAGE, leave)
        run.state.counters[COUNT.noc_trips] += 1
    forward(run, kind, rank, core, key, row, subject, page, note, sender, receiver, leave, now)


@noinline
def send_miss(
    run: Run, kind: int, rank: int, miss: int, sender: int, receiver: int, leave: int, now: int, message: int
) -> None:
    """Send a request or an answer of a miss, as `send` does."""
    rules, row, misses = run.rules, miss * MISS, run.state.misses
    if sender != receiver:
        count_messages(run, message, ONE_MESSAGE, leave)
        run.state.counters[COUNT.noc_trips] += 1
    if rules.link_cycles == 0:
        arrival = leave + run.state.hops[sender * rules.cores + receiver] * rules.hop_cycles
        schedule_miss(run, arrival, now, kind, rank, miss)
        return
    core, key, ordinal = misses[row + OF.core], misses[row + OF.key], misses[row + OF.ordinal]
    forward(run, kind, rank, core, key, ordinal, miss, NO_NOTE, NO_NOTE, sender, receiver, leave, now)


@noinline
def forward(
    run: Run, kind: int, rank: int, core: int, key: int, row: int, subject: int, page: int, note: int,
    sender: int, receiver: int, leave: int, now: int,
) -> None:  # fmt: skip
    """Put a message on its way, which is already counted."""
    rules, queue, cycle = run.rules, run.state.event_queue, leave
    if rules.link_cycles == 0:
        cycle += run.state.hops[sender * rules.cores + receiver] * rules.hop_cycles
        # Without queues at links the whole way is one event, which ends at its goal.
        sender = receiver
    place = at.take_place(queue)
    events, here = queue.events, place * at.EVENT
    events[here + at.CYCLE], events[here + at.ORDER] = cycle, order_of(rank, core)
    events[here + at.KEY], events[here + at.BY_ROW] = key, row
    events[here + at.WHAT], events[here + at.SUBJECT], events[here + at.PAGE] = kind, subject, page
    events[here + at.HERE], events[here + at.GOAL], events[here + at.NOTE] = sender, receiver, note
    at.enter(queue, place, now)


@noinline
def cross_link(run: Run, place: int, now: int) -> None:
    """Let a message at a router take the next link on its way, when that is free."""
    rules, state = run.rules, run.state
    events, here = state.event_queue.events, place * at.EVENT
    link, router = _next_link(run, events[here + at.HERE], events[here + at.GOAL])
    start = max(now, state.link_free[link])
    # A link accepts the next message after `link_cycles`, while this one takes `hop_cycles` to cross.
    state.link_free[link] = start + rules.link_cycles
    if start > now:
        state.counters[COUNT.noc_queued] += start - now
        state.over_time[window(run, now) + WAITED_COLUMN] += start - now
    events[here + at.HERE], events[here + at.CYCLE] = router, start + rules.hop_cycles
    at.enter(state.event_queue, place, now)


@kernel
def _next_link(run: Run, here: int, receiver: int) -> tuple[int, int]:
    """Return the link to take from a router toward another, and the router at its end."""
    rules = run.rules
    if rules.network == CROSSBAR:
        return receiver * DIRECTIONS, receiver
    if rules.network == MESH:
        column, target = here % rules.columns, receiver % rules.columns
        row, goal = here // rules.columns, receiver // rules.columns
        if column != target and row * rules.columns + target < rules.cores:  # the last row may end before
            step = 1 if target > column else -1
            return here * DIRECTIONS + (EAST if step > 0 else WEST), here + step
        step = 1 if goal > row else -1
        return here * DIRECTIONS + (SOUTH if step > 0 else NORTH), here + step * rules.columns
    ahead = (receiver - here) % rules.cores
    step = 1 if 2 * ahead <= rules.cores else -1
    return here * DIRECTIONS + (EAST if step > 0 else WEST), (here + step) % rules.cores
