"""A queue of events in a total order, for simulators whose next event is rarely far in the future.

A wheel of 1,024 cycles holds what is due within its turn: a sorted list a cycle, and a bitmap of the cycles that hold
something. What is due later lies in a binary heap and moves to the wheel as the present cycle does, so that events of
one cycle are never in both. Events of one cycle come out
by (order, key, row), those alike in all three in the order in which they were entered. An event entered at the present
cycle comes out before the others of that cycle if its order is lower.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import kernel, left, noinline
from workbench.structures.timetable import NEVER, TURN, WORDS, first_busy

EVENT = 10
"""Numbers of an event."""
CYCLE, ORDER, KEY, BY_ROW, WHAT, SUBJECT, PAGE, HERE, GOAL, NOTE = range(EVENT)
"""When it is due; its place among events of its cycle (order, key, row); then what the simulator keeps with it."""
_to_int64: Any = np.int64
ROOT: Any = np.int64(0)
"""The place of the earliest event in the heap."""
NOTHING = -1
"""What a free place holds instead of an event."""


NOW, SOONEST, LATER, FREE, USED, SERIAL = range(6)
"""Counters: the present cycle; the cycle of the earliest event, or `NEVER`; events in the heap; the head of the list of
free places; events that are entered; the next serial number of the heap."""


class EventQueue(NamedTuple):
    """The arrays of an event queue."""

    counters: np.ndarray
    """int64[6], see above."""
    busy: np.ndarray
    """uint64[16], which cycles of the wheel hold something."""
    first: np.ndarray
    """int32[1024], the first event of each cycle of the wheel, -1 = none."""
    link: np.ndarray
    """int32[places], the event, or the free place, after each."""
    events: np.ndarray
    """int64[places * 10]."""
    heap: np.ndarray
    """int64[places * 3]: cycle, serial number and place of what is due later."""


def new_event_queue(places: int) -> EventQueue:
    """Return an empty queue with space for so many events."""
    counters = np.zeros(6, np.int64)
    counters[SOONEST], counters[FREE] = NEVER, -1
    none = np.zeros(0, np.int64)
    empty = EventQueue(
        counters, np.zeros(WORDS, np.uint64), np.full(TURN, -1, np.int32), none.astype(np.int32), none, none
    )
    return with_places(empty, places)


def with_places(queue: EventQueue, places: int) -> EventQueue:
    """Return the same queue with space for so many events, not fewer than before."""
    before = queue.link.size
    link, events = np.full(places, -1, np.int32), np.full(places * EVENT, NOTHING)
    heap = np.zeros(places * 3, np.int64)
    link[:before], events[: queue.events.size], heap[: queue.heap.size] = queue.link, queue.events, queue.heap
    link[before : places - 1] = np.arange(before + 1, places)
    link[places - 1] = queue.counters[FREE]
    queue.counters[FREE] = before
    return queue._replace(link=link, events=events, heap=heap)


@kernel
def take_place(queue: EventQueue) -> int:
    """Take a free place; its fields are then to be written and the event entered."""
    place = queue.counters[FREE]
    queue.counters[FREE] = queue.link[place]
    queue.counters[USED] += 1
    return place


@kernel
def give_place(queue: EventQueue, place: int) -> None:
    """Give back the place of an event that is over."""
    queue.events[place * EVENT + WHAT] = NOTHING
    queue.link[place] = np.int32(queue.counters[FREE])
    queue.counters[FREE] = place
    queue.counters[USED] -= 1


@noinline
def enter(queue: EventQueue, place: int, now: int) -> None:
    """Enter an event whose fields are written, at the present cycle, which no pending event precedes."""
    counters, cycle = queue.counters, queue.events[place * EVENT + CYCLE]
    if now < counters[NOW]:
        _move_back(queue, now)
    # Before it: an event of the same cycle that was entered earlier may be in the heap.
    _move_to(queue, now)
    if cycle < counters[SOONEST]:
        counters[SOONEST] = cycle
    if cycle - now < TURN:
        _put_in_wheel(queue, place, cycle)
    else:
        _put_later(queue, place, cycle)


@kernel
def first_order(queue: EventQueue) -> int:
    """Return the order of the event that is next; there is one."""
    soonest = queue.counters[SOONEST]
    _move_to(queue, soonest)
    return queue.events[queue.first[soonest & (TURN - 1)] * EVENT + ORDER]


@noinline
def peek_order(queue: EventQueue) -> int:
    """Return the order of the event that is next, as `first_order` does, where something may be entered before it.

    The present cycle stays, unless the event is more than a turn away.
    """
    soonest = queue.counters[SOONEST]
    if soonest - queue.counters[NOW] >= TURN:
        return first_order(queue)
    return queue.events[queue.first[soonest & (TURN - 1)] * EVENT + ORDER]


@kernel
def take_next(queue: EventQueue) -> int:
    """Take the next event off the queue and return its place; its cycle is the present one from now on."""
    soonest = queue.counters[SOONEST]
    _move_to(queue, soonest)
    slot = soonest & (TURN - 1)
    place = queue.first[slot]
    queue.first[slot] = queue.link[place]
    if queue.first[slot] < 0:
        queue.busy[slot >> 6] &= ~left(np.uint64(1), slot & 63)
        queue.counters[SOONEST] = _search(queue, soonest)
    return _to_int64(place)


@kernel
def _move_to(queue: EventQueue, now: int) -> None:
    """Make a cycle the present one: what is due within a turn of it comes from the heap to the wheel."""
    queue.counters[NOW] = now
    while queue.counters[LATER] > 0 and queue.heap[0] - now < TURN:
        cycle = queue.heap[0]
        _put_in_wheel(queue, _take_later(queue), cycle)


@noinline
def _move_back(queue: EventQueue, now: int) -> None:
    """Let what is due a turn or more after a cycle before the present one leave the wheel.

    Whoever asks which event is next makes its cycle the present one, and may then enter something before it.
    """
    for slot in range(TURN):
        place = _to_int64(queue.first[slot])
        # All events of a slot are of one cycle: the first tells for all.
        if place >= 0 and queue.events[place * EVENT + CYCLE] - now >= TURN:
            queue.first[slot] = np.int32(-1)
            queue.busy[slot >> 6] &= ~left(np.uint64(1), slot & 63)
            while place >= 0:
                following = _to_int64(queue.link[place])
                _put_later(queue, place, queue.events[place * EVENT + CYCLE])
                place = following


@kernel
def _put_in_wheel(queue: EventQueue, place: int, cycle: int) -> None:
    slot = cycle & (TURN - 1)
    before, at = np.int32(-1), queue.first[slot]
    if at < 0:
        queue.busy[slot >> 6] |= left(np.uint64(1), slot & 63)
    while at >= 0 and not _precedes(queue.events, place, at):
        before, at = at, queue.link[at]
    queue.link[place] = at
    if before < 0:
        queue.first[slot] = np.int32(place)
    else:
        queue.link[before] = np.int32(place)


@kernel
def _precedes(events, one, other) -> bool:  # type: ignore[no-untyped-def]
    """Return whether one event of a cycle comes out before another that was entered earlier."""
    one, other = one * EVENT, other * EVENT
    if events[one + ORDER] != events[other + ORDER]:
        return bool(events[one + ORDER] < events[other + ORDER])
    if events[one + KEY] != events[other + KEY]:
        return bool(events[one + KEY] < events[other + KEY])
    return bool(events[one + BY_ROW] < events[other + BY_ROW])


@kernel
def _search(queue: EventQueue, now: int) -> int:
    """Return the cycle of the earliest event from the present one on."""
    later = queue.heap[0] if queue.counters[LATER] > 0 else NEVER
    return first_busy(queue.busy, now, later)


@kernel
def _sooner(heap, one: int, other: int) -> bool:  # type: ignore[no-untyped-def]
    if heap[3 * one] != heap[3 * other]:
        return bool(heap[3 * one] < heap[3 * other])
    return bool(heap[3 * one + 1] < heap[3 * other + 1])


@kernel
def _swap(heap, one: int, other: int) -> None:  # type: ignore[no-untyped-def]
    for k in range(3):
        heap[3 * one + k], heap[3 * other + k] = heap[3 * other + k], heap[3 * one + k]


@noinline
def _put_later(queue: EventQueue, place: int, cycle: int) -> None:
    heap, counters = queue.heap, queue.counters
    at = counters[LATER]
    heap[3 * at], heap[3 * at + 1], heap[3 * at + 2] = cycle, counters[SERIAL], place
    counters[LATER] += 1
    counters[SERIAL] += 1
    while at > 0 and _sooner(heap, at, (at - 1) // 2):
        _swap(heap, at, (at - 1) // 2)
        at = (at - 1) // 2


@noinline
def _take_later(queue: EventQueue) -> int:
    heap, counters = queue.heap, queue.counters
    place = heap[2]
    counters[LATER] -= 1
    size = counters[LATER]
    _swap(heap, ROOT, size)
    at, child = ROOT, ROOT + 1
    while child < size:
        if child + 1 < size and _sooner(heap, child + 1, child):
            child += 1
        if not _sooner(heap, child, at):
            break
        _swap(heap, child, at)
        at, child = child, 2 * child + 1
    return place
