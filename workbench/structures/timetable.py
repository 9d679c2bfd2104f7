"""What is due next: a timetable of the near future, and tournaments over a fixed number of places or parties.

A wheel of 1,024 cycles holds what is due within its turn: a list a cycle, and a bitmap of the cycles that hold
something, searched a word at a time. What is due later lies in a binary heap. Entries come out ordered by (cycle,
serial number of their entry), whichever part holds them. At the handful of entries of one compute unit this takes a
third of a binary heap's time.

A tournament has one time a place, which may move both ways, for a few to some thousand places (the arenas of a heap);
of those due first, the lowest wins. Turns have a number with each time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import ALL_BITS, NO_BITS, kernel, left, trailing_zeros

NOW, SOONEST, FREE, LATER, SERIAL = range(5)


class Timetable(NamedTuple):
    """The arrays of one timetable; each entry carries a whole number."""

    counters: np.ndarray
    """int64[5]: the current cycle, the cycle of the earliest entry, the head of the free list, how many lie in the
    heap, the next serial number."""
    busy: np.ndarray
    """uint64[16]: which cycles of the wheel hold something."""
    first: np.ndarray
    """int32[1024]: the first entry of each cycle of the wheel, -1 for none."""
    last: np.ndarray
    """int32[1024]: the last entry of each cycle of the wheel."""
    link: np.ndarray
    """int32[capacity]: the entry after each entry."""
    load: np.ndarray
    """int64[capacity]: what each entry carries."""
    heap: np.ndarray
    """int64[capacity, 3]: cycle, serial number and load of what is due later."""


TURN = 1024
"""Cycles of one turn."""
WORDS = TURN // 64
NEVER = 1 << 62
"""A cycle after all others."""


def new_timetable(capacity: int) -> Timetable:
    """Make an empty timetable at cycle 0 for at most `capacity` entries at a time."""
    counters = np.zeros(5, np.int64)
    counters[SOONEST] = NEVER
    link = np.arange(1, capacity + 1, dtype=np.int32)
    link[-1] = -1
    nothing = ~np.zeros(TURN, np.int32)  # -1 everywhere
    return Timetable(
        counters,
        np.zeros(WORDS, np.uint64),
        nothing,
        nothing.copy(),
        link,
        np.zeros(capacity, np.int64),
        np.zeros((capacity, 3), np.int64),
    )


@kernel
def put(table: Timetable, cycle: int, load: int) -> None:
    """Enter something that is due at a cycle, not before the current one."""
    if cycle < table.counters[SOONEST]:
        table.counters[SOONEST] = cycle
    if cycle - table.counters[NOW] >= TURN:
        _put_later(table, cycle, load)
        return
    entry = np.int32(table.counters[FREE])
    table.counters[FREE] = table.link[entry]
    table.load[entry] = load
    table.link[entry] = -1
    slot = cycle & (TURN - 1)
    if table.first[slot] < 0:
        table.first[slot] = entry
        table.busy[slot >> 6] |= left(np.uint64(1), slot & 63)
    else:
        table.link[table.last[slot]] = entry
    table.last[slot] = entry


@kernel
def next_due(table: Timetable) -> int:
    """Return the cycle of the earliest entry, or NEVER."""
    return table.counters[SOONEST]


@kernel
def _search(table: Timetable) -> int:
    later = table.heap[0, 0] if table.counters[LATER] else NEVER
    now = table.counters[NOW]
    return first_busy(table.busy, now, later)


@kernel
def take(table: Timetable, cycle: int) -> int:
    """Take out the earliest entry, which is due at `cycle` (as `next_due` told), and make that the current cycle."""
    table.counters[NOW] = cycle
    # The heap goes first: the wheel takes entries of this cycle only within a turn, so they came later.
    if table.counters[LATER] and table.heap[0, 0] == cycle:
        load = _take_later(table)
        table.counters[SOONEST] = _search(table)
        return load
    slot = cycle & (TURN - 1)
    entry = table.first[slot]
    after = table.link[entry]
    table.first[slot] = after
    if after < 0:
        table.busy[slot >> 6] &= ~left(np.uint64(1), slot & 63)
        table.counters[SOONEST] = _search(table)
    table.link[entry] = table.counters[FREE]
    table.counters[FREE] = entry
    return table.load[entry]


@kernel
def _before(heap: np.ndarray, a: int, b: int) -> bool:
    return heap[a, 0] < heap[b, 0] or (heap[a, 0] == heap[b, 0] and heap[a, 1] < heap[b, 1])


@kernel
def _swap(heap: np.ndarray, a: int, b: int) -> None:
    for column in range(3):
        heap[a, column], heap[b, column] = heap[b, column], heap[a, column]


@kernel
def _put_later(table: Timetable, cycle: int, load: int) -> None:
    heap, at = table.heap, table.counters[LATER]
    heap[at, 0], heap[at, 1], heap[at, 2] = cycle, table.counters[SERIAL], load
    table.counters[LATER] += 1
    table.counters[SERIAL] += 1
    # The serial number keeps entries of one cycle in their order: a heap by itself does not.
    while at > 0 and _before(heap, at, (at - 1) // 2):
        _swap(heap, at, (at - 1) // 2)
        at = (at - 1) // 2


@kernel
def _take_later(table: Timetable) -> int:
    heap, load = table.heap, table.heap[0, 2]
    table.counters[LATER] -= 1
    size = table.counters[LATER]
    _swap(heap, 0, size)
    at, child = 0, 1
    while child < size:
        if child + 1 < size and _before(heap, child + 1, child):
            child += 1
        if not _before(heap, child, at):
            break
        _swap(heap, child, at)
        at, child = child, 2 * child + 1
    return load


@kernel
def first_busy(busy: np.ndarray, now: int, later: int) -> int:
    """Return the first cycle from `now` on that holds something, or `later` where none of this turn comes before it.

    Parameters
    ----------
    busy : uint64[WORDS]
        A bit a cycle of the turn; what it holds lies within one turn of `now`.
    later : int
        The earliest cycle of what lies beyond the wheel, or `NEVER`.

    Examples
    --------
    >>> busy = np.zeros(WORDS, np.uint64)
    >>> busy[2] = 1
    >>> first_busy(busy, 5, NEVER), first_busy(busy, 5, 7), first_busy(busy, 129, NEVER)
    (128, 7, 1152)
    """
    slot = now & (TURN - 1)
    word = slot >> 6
    bits = busy[word] & left(ALL_BITS, slot & 63)
    step = 0
    while bits == NO_BITS:
        step += 1
        # The first word is read twice: its cycles below `now` lie a turn ahead.
        if step > WORDS:
            return later
        word = (word + 1) & (WORDS - 1)
        bits = busy[word]
    bucket = word * 64 + trailing_zeros(bits)
    return min(now + ((bucket - slot) & (TURN - 1)), later)


def new_tournament(places: int) -> np.ndarray:
    """Make a tournament in which nothing is due: int64[2 leaves], leaf k at leaves + k, the earliest time at 1."""
    leaves = 1
    while leaves < places:
        leaves *= 2
    return np.full(2 * leaves, NEVER)


@kernel
def set_time(tournament: np.ndarray, place: int, time: int) -> None:
    """Say when a place is due."""
    node = tournament.size // 2 + place
    tournament[node] = time
    while node > 1:
        node >>= 1
        tournament[node] = min(tournament[2 * node], tournament[2 * node + 1])


@kernel
def first_place(tournament: np.ndarray) -> int:
    """Return the place that is due first."""
    node, leaves = 1, tournament.size // 2
    while node < leaves:
        node *= 2
        if tournament[node] > tournament[node >> 1]:
            node += 1
    return node - leaves


class Turns(NamedTuple):
    """A tournament of pairs; party k at leaves + k, the first of all at 1; at one time the lowest is first.

    It is for processes that ask one thing after another, each with one time and one number at a time. The number of a
    request tells its party, so that the root of the tree is the whole answer.
    """

    time: np.ndarray
    """int64[2 leaves], when the first of a subtree is due; `NEVER` = none in it is."""
    number: np.ndarray
    """int64[2 leaves], its number."""


def new_turns(parties: int) -> Turns:
    """Make turns of which none is due."""
    leaves = 1 << max(parties - 1, 0).bit_length()
    return Turns(np.full(2 * leaves, NEVER), np.zeros(2 * leaves, np.int64))


@kernel
def set_turn(turns: Turns, party: int, time: int, number: int) -> None:
    """Say when a party is due, and with which number."""
    node = turns.time.size // 2 + party
    turns.time[node], turns.number[node] = time, number
    while node > 1:
        node >>= 1
        one, other = 2 * node, 2 * node + 1
        if _is_before(turns, other, one):
            one = other
        turns.time[node], turns.number[node] = turns.time[one], turns.number[one]


@kernel
def _is_before(turns: Turns, one: int, other: int) -> bool:
    """Return whether a node is due before another."""
    sooner = turns.time[one] < turns.time[other]
    return bool(sooner or (turns.time[one] == turns.time[other] and turns.number[one] < turns.number[other]))
