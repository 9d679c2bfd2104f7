"""Calendars of resources that serve one after the other: ports, banks, links.

A booking takes the first cycles from a wanted one on that are free. It is exact within 512 cycles of the current
cycle, so that a message that will cross a link later does not keep one from crossing it before; what finds no place
there queues behind everything booked so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import NO_BITS, allocating, apart, kernel, left, right

AHEAD = 512
"""Cycles from the current one on that are kept cycle by cycle."""
WORDS = AHEAD // 64


class Calendar(NamedTuple):
    """The arrays of several resources."""

    taken: np.ndarray
    """uint64[resources * 8]: the cycles of the window that are taken, in a circle."""
    end: np.ndarray
    """int64[resources]: the cycle behind the window."""
    behind: np.ndarray
    """int64[resources]: the cycle behind everything that was booked beyond a window; up to it all is taken."""


@allocating
def new_calendar(resources: int) -> Calendar:
    """Calendars with nothing in them."""
    return Calendar(
        np.zeros(resources * WORDS, np.uint64), np.zeros(resources, np.int64), np.zeros(resources, np.int64)
    )


@apart
def first_free(table: Calendar, resource: int, now: int, wanted: int, length: int) -> int:
    """The first cycle from `wanted` on at which so many cycles are free; `now` never goes back."""
    _advance(table, resource, now)
    end, run = table.end[resource], 0
    for cycle in range(wanted, end):
        run = 0 if _is_taken(table, resource, cycle) else run + 1
        if run == length:
            return cycle - length + 1
    return max(table.behind[resource], end, wanted)


@apart
def book(table: Calendar, resource: int, start: int, length: int) -> None:
    """Take so many cycles from one on that `first_free` has just told."""
    if start >= table.end[resource]:
        table.behind[resource] = start + length
        return
    for cycle in range(start, start + length):
        _mark(table, resource, cycle, True)


@kernel
def _advance(table: Calendar, resource: int, now: int) -> None:
    end = now + AHEAD
    for cycle in range(max(table.end[resource], now), end):
        _mark(table, resource, cycle, cycle < table.behind[resource])
    table.end[resource] = max(end, table.end[resource])


@kernel
def _is_taken(table: Calendar, resource: int, cycle: int) -> bool:
    word = table.taken[resource * WORDS + ((cycle >> 6) & (WORDS - 1))]
    return (right(word, cycle & 63) & np.uint64(1)) != NO_BITS


@kernel
def _mark(table: Calendar, resource: int, cycle: int, taken: bool) -> None:
    place, bit = resource * WORDS + ((cycle >> 6) & (WORDS - 1)), left(np.uint64(1), cycle & 63)
    if taken:
        table.taken[place] |= bit
    else:
        table.taken[place] &= ~bit
