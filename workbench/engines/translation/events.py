"""Events of a run: their kinds, their order at equal cycles, and how one is entered.

At equal cycles ends of walks come first, then answers and fills, news and shoot-downs, requests, issues (spec 4, T1).
Most events of misses are kept in hand, outside the event queue.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.kit import numbered
from workbench.engines.translation.state import COUNT, HAND, MISS, OF, Run
from workbench.structures import event_queue as at

_RANKS: Any = tuple(np.int64(rank) for rank in range(5))
ENDS, ANSWERS, NEWS, REQUESTS, ISSUES = _RANKS
"""Ranks at equal cycles: ends of walks; answers and fills; news and shoot-downs; requests; issues."""
CORES = 1 << 12
"""More than there are cores: the order of an event is its rank times this, and its core."""
FIRST_OF_CORE: Any = np.int64(-1)
NONE: Any = np.int64(-1)


@kernel
def order_of(rank: int, core: int) -> int:
    """Return the order of an event at its cycle, before page and row."""
    return rank * CORES + core


@noinline
def schedule(run: Run, cycle: int, now: int, kind: int, rank: int, core: int, key: int, row: int, subject: int) -> int:
    """Enter an event that does not travel; return its place."""
    queue = run.state.event_queue
    place = at.take_place(queue)
    events, here = queue.events, place * at.EVENT
    events[here + at.CYCLE], events[here + at.ORDER] = cycle, order_of(rank, core)
    events[here + at.KEY], events[here + at.BY_ROW] = key, row
    events[here + at.WHAT], events[here + at.SUBJECT], events[here + at.PAGE] = kind, subject, NONE
    events[here + at.HERE], events[here + at.GOAL], events[here + at.NOTE] = NONE, NONE, 0
    at.enter(queue, place, now)
    return place


class Kinds(NamedTuple):
    """What an event is; those that travel are handled where they arrive."""

    walk_ends: int
    answer: int
    refusal: int
    # `loop._take_first` tests for the range from here to `answer_due`: what such an event says stands in its place of
    # the queue, which is given back only after it was read.
    copy: int
    news: int
    news_to_all: int
    shoot_down: int
    acknowledgement: int
    ballast: int
    """A message that only keeps links busy: what it says is known at once."""
    answer_due: int
    """No message: an answer is due that somebody outside waits for."""
    directory: int
    departure: int
    peer: int
    peer_port: int
    centre: int
    cluster: int
    middle: int
    middle_port: int
    shared: int
    shared_port: int
    walkers: int
    wake: int


KIND = numbered(Kinds)
ORDER_BITS, KIND_BITS = 15, 5
"""Bits of an order and of a kind: events in hand are two numbers, (cycle, order) and (miss, kind)."""
# A cycle of 46 bits and an order of 15 bits fit into one int64. Cycles may have 56 bits.
FAR = 1 << 46
"""A cycle too late for an event in hand."""


@kernel
def wake(run: Run, core: int, cycle: int, now: int) -> None:
    """Let a core that waits go on at a cycle, before its later rows."""
    schedule(run, cycle, now, KIND.wake, ISSUES, core, FIRST_OF_CORE, FIRST_OF_CORE, core)


@noinline
def schedule_miss(run: Run, cycle: int, now: int, kind: int, rank: int, miss: int) -> None:
    """Let an event of a miss come: kept in hand, where there is space, as it is likely to be among the next."""
    state = run.state
    order, held = order_of(rank, state.misses[miss * MISS + OF.core]), state.counters[COUNT.in_hand]
    if held == HAND or cycle >= FAR:
        _enter_miss(run, cycle, now, kind, order, miss)
        return
    moment, here, hand = (cycle << ORDER_BITS) + order, 2 * held, state.hand
    # The hand is sorted with the latest event first, so the next event is taken off the end.
    while here > 0 and _follows(run, moment, miss, hand[here - 2], hand[here - 1]):
        hand[here], hand[here + 1] = hand[here - 2], hand[here - 1]
        here -= 2
    hand[here], hand[here + 1] = moment, (miss << KIND_BITS) + kind
    state.counters[COUNT.in_hand] = held + 1


@kernel
def _follows(run: Run, moment: int, miss: int, other: int, what: int) -> bool:
    """Return whether an event of a miss comes after another in hand."""
    if moment != other:
        return bool(moment > other)
    misses, one, two = run.state.misses, miss * MISS, (what >> KIND_BITS) * MISS
    if misses[one + OF.key] != misses[two + OF.key]:
        return bool(misses[one + OF.key] > misses[two + OF.key])
    # There is no further tie: a miss has one pending event, and each miss has its own access.
    return bool(misses[one + OF.ordinal] > misses[two + OF.ordinal])


@noinline
def _enter_miss(run: Run, cycle: int, now: int, kind: int, order: int, miss: int) -> None:
    """Enter an event of a miss."""
    queue, row = run.state.event_queue, miss * MISS
    place = at.take_place(queue)
    events, here = queue.events, place * at.EVENT
    events[here + at.CYCLE], events[here + at.ORDER] = cycle, order
    events[here + at.KEY], events[here + at.BY_ROW] = run.state.misses[row + OF.key], run.state.misses[row + OF.ordinal]
    events[here + at.WHAT], events[here + at.SUBJECT] = kind, miss
    # PAGE and NOTE stay as they were: for a miss they are never read.
    events[here + at.HERE], events[here + at.GOAL] = NONE, NONE
    at.enter(queue, place, now)


@kernel
def soonest_in_hand(run: Run) -> int:
    """Return the cycle of the next event in hand, or `NEVER`."""
    held = run.state.counters[COUNT.in_hand]
    return run.state.hand[2 * held - 2] >> ORDER_BITS if held > 0 else at.NEVER


@kernel
def order_in_hand(run: Run) -> int:
    """Return the order of the next event in hand; there is one."""
    return run.state.hand[2 * run.state.counters[COUNT.in_hand] - 2] & ((1 << ORDER_BITS) - 1)


@kernel
def next_cycle(run: Run) -> int:
    """Return the cycle of the next event, or `NEVER`."""
    return min(soonest_in_hand(run), run.state.event_queue.counters[at.SOONEST])


@noinline
def next_order(run: Run) -> int:
    """Return the order of the next event, at whose cycle it is; there is one."""
    own, soonest = soonest_in_hand(run), run.state.event_queue.counters[at.SOONEST]
    if own < soonest:
        return order_in_hand(run)
    order = at.first_order(run.state.event_queue)
    return min(order, order_in_hand(run)) if own == soonest else order


@inlined
def event_precedes(run: Run, cycle: int, order: int) -> bool:
    """Return whether the next event comes before an issue of a cycle and an order.

    `cycle` is a cycle after all others where nothing will be issued any more.
    """
    soonest = next_cycle(run)
    if soonest != cycle or cycle == at.NEVER:
        return bool(soonest < cycle)
    # An event of equal order is the wake of this core, which precedes its later rows.
    return bool(next_order(run) <= order)


@inlined
def next_is_in_hand(run: Run) -> bool:
    """Return whether the next event is in hand; there is one."""
    own, soonest = soonest_in_hand(run), run.state.event_queue.counters[at.SOONEST]
    return bool(own < soonest) or bool(own == soonest and _is_first(run))


@noinline
def _is_first(run: Run) -> bool:
    """Return whether the next event in hand comes before the queued ones at its cycle; one in doubt is entered."""
    first, soonest = at.first_order(run.state.event_queue), run.state.event_queue.counters[at.SOONEST]
    # At equal order, page and row decide (T1). Of an event in hand and a queued one only the queue compares these.
    while soonest_in_hand(run) == soonest and order_in_hand(run) == first:
        kind, miss, cycle = take_from_hand(run)
        _enter_miss(run, cycle, cycle, kind, first, miss)
    return bool(soonest_in_hand(run) == soonest and order_in_hand(run) < first)


@kernel
def take_from_hand(run: Run) -> tuple[int, int, int]:
    """Take the next event in hand: its kind, its miss and its cycle."""
    counters, hand = run.state.counters, run.state.hand
    here = 2 * counters[COUNT.in_hand] - 2
    counters[COUNT.in_hand] -= 1
    return hand[here + 1] & ((1 << KIND_BITS) - 1), hand[here + 1] >> KIND_BITS, hand[here] >> ORDER_BITS


SOURCE_BITS = 3
"""Bits of who answers, of an answer that is told later."""


@kernel
def most_events(cores: int) -> int:
    """Return the largest number of events that one event can bring about, those of waiting misses aside."""
    # An event sends at most four messages to a core: news of an entry and of its victim, a copy, a shoot-down. The
    # bound is twice that.
    return 8 * cores + 16
