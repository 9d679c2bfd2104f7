"""A heap of a node's own events in the order (moment, K, serial) (spec 6, R2, R3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel, noinline


class EventHeap(NamedTuple):
    """The arrays of an event heap."""

    counters: np.ndarray
    """int64[2]."""
    heap: np.ndarray
    """int64[places, 6]."""


MOMENT, FIRST, SECOND, SERIAL, WHAT, SUBJECT = range(6)
"""When; whose, in two words; the how manieth that was entered; what happens, and to which row."""
WIDTH = 6
EVENTS, ENTERED = range(2)
"""Counters: events that wait, and events that were ever entered."""


def new_event_heap(places: int) -> EventHeap:
    """Return an event heap with space for so many events."""
    return EventHeap(np.zeros(2, np.int64), np.zeros((places, WIDTH), np.int64))


@kernel
def is_full(events: EventHeap) -> bool:
    """Return whether no further event can be entered."""
    return events.counters[EVENTS] == events.heap.shape[0]


@noinline
def enter(events: EventHeap, moment: int, first: int, second: int, what: int, subject: int) -> None:
    """Enter an event; there is space."""
    heap, counters = events.heap, events.counters
    at = counters[EVENTS]
    heap[at, MOMENT], heap[at, FIRST], heap[at, SECOND] = moment, first, second
    heap[at, SERIAL], heap[at, WHAT], heap[at, SUBJECT] = counters[ENTERED], what, subject
    counters[EVENTS] += 1
    counters[ENTERED] += 1
    while at > 0 and _precedes(heap, at, (at - 1) // 2):
        _swap(heap, at, (at - 1) // 2)
        at = (at - 1) // 2


@noinline
def take_off(events: EventHeap) -> int:
    """Take the first event off, and return the row at which it may be read until the next is entered."""
    heap, counters = events.heap, events.counters
    counters[EVENTS] -= 1
    size = counters[EVENTS]
    _swap(heap, 0, size)
    at, child = 0, 1
    while child < size:
        if child + 1 < size and _precedes(heap, child + 1, child):
            child += 1
        if not _precedes(heap, child, at):
            break
        _swap(heap, child, at)
        at, child = child, 2 * child + 1
    return size


@kernel
def _precedes(heap: np.ndarray, one: int, other: int) -> bool:
    for field in range(SERIAL):
        if heap[one, field] != heap[other, field]:
            return bool(heap[one, field] < heap[other, field])
    return bool(heap[one, SERIAL] < heap[other, SERIAL])


@kernel
def _swap(heap: np.ndarray, one: int, other: int) -> None:
    for field in range(WIDTH):
        heap[one, field], heap[other, field] = heap[other, field], heap[one, field]
