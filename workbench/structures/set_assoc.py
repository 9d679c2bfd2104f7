"""Sets of entries that know in which order they were used and in which they came: the sets of a TLB or of a cache.

An entry is a row of eight whole numbers, a cache line. Two intrusive lists run through the rows of each set, one by the
last use, one by the insertion. So the least or most recently used entry, and the one that came first, are found in one
step. Free entries of a set are a stack, the lowest on top at the start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import kernel

ROW = 8
"""Numbers of an entry, and of a set."""
OLDER, NEWER, EARLIER, LATER, PAGE, READY, PUSHER, OWNER = range(ROW)
"""Of an entry: the neighbors by use and by insertion (-1 = none), its page (-1 = free), and the cycle from which it can
be used. Then who pushed it (-1 = none, or it has been used since), and the cache that it is of."""
NEWEST, OLDEST, LATEST, EARLIEST, FREE, HELD, FIRST, WAYS = range(ROW)
"""Of a set: the ends of its lists, the top of its free stack, how many entries it holds, its first entry, its size."""
NONE: Any = np.int64(-1)
"""No entry, no page; of the type of what arrays hold, so that Numba compiles its users once."""


class EntrySets(NamedTuple):
    """The arrays of several sets."""

    entries: np.ndarray
    """int64[entries * 8]."""
    sets: np.ndarray
    """int64[sets * 8]."""


def new_entry_sets(ways: np.ndarray, owner: np.ndarray) -> EntrySets:
    """Make empty sets of so many entries each, which lie one behind the other: int64[sets] ways and owners."""
    total, after = int(ways.sum()), ways.cumsum()
    entries, sets = np.full((total, ROW), NONE), np.full((ways.size, ROW), NONE)
    sets[:, HELD], sets[:, FIRST], sets[:, WAYS] = 0, after - ways, ways
    sets[:, FREE] = np.where(ways > 0, after - ways, NONE)
    entries[:, OLDER], entries[:, OWNER] = np.arange(1, total + 1), np.repeat(owner, ways)
    entries[after[ways > 0] - 1, OLDER] = NONE
    return EntrySets(entries.reshape(-1), sets.reshape(-1))


@kernel
def set_of(key: int, sets: int) -> int:
    """Return the set, of so many, of a key: the remainder, without a division where the sets are a power of two.

    >>> set_of(13, 1), set_of(13, 4), set_of(13, 6)
    (0, 1, 1)
    """
    return key % sets if sets & (sets - 1) else key & (sets - 1)


@kernel
def take_free(table: EntrySets, at: int) -> int:
    """Take an entry off the free stack of a set, or -1 when the set is full."""
    entry = table.sets[at * ROW + FREE]
    if entry != NONE:
        table.sets[at * ROW + FREE] = table.entries[entry * ROW + OLDER]
    return entry


@kernel
def insert(table: EntrySets, at: int, entry: int, page: int, ready: int, pusher: int) -> None:
    """Put a page into an entry that was taken: it is the newest by use and the latest by insertion."""
    entries, row, here = table.entries, at * ROW, entry * ROW
    entries[here + PAGE], entries[here + READY], entries[here + PUSHER] = page, ready, pusher
    _link_newest(table, row, entry)
    latest = table.sets[row + LATEST]
    entries[here + EARLIER], entries[here + LATER] = latest, NONE
    if latest == NONE:
        table.sets[row + EARLIEST] = entry
    else:
        entries[latest * ROW + LATER] = entry
    table.sets[row + LATEST] = entry
    table.sets[row + HELD] += 1


@kernel
def replace(table: EntrySets, at: int, entry: int, page: int, ready: int, pusher: int) -> None:
    """Let a page take the entry of another, as if that were removed and this inserted there."""
    entries, here = table.entries, entry * ROW
    entries[here + PAGE], entries[here + READY], entries[here + PUSHER] = page, ready, pusher
    touch(table, at, entry)
    renew(table, at, entry)


@kernel
def renew(table: EntrySets, at: int, entry: int) -> None:
    """Make an entry the one that came last."""
    entries, row, here = table.entries, at * ROW, entry * ROW
    latest = table.sets[row + LATEST]
    if latest == entry:
        return
    earlier, later = entries[here + EARLIER], entries[here + LATER]
    if earlier == NONE:
        table.sets[row + EARLIEST] = later
    else:
        entries[earlier * ROW + LATER] = later
    # The entry is not the latest, so another one follows it.
    entries[later * ROW + EARLIER] = earlier
    entries[here + EARLIER], entries[here + LATER] = latest, NONE
    entries[latest * ROW + LATER] = entry
    table.sets[row + LATEST] = entry


@kernel
def touch(table: EntrySets, at: int, entry: int) -> None:
    """Make an entry the newest of its set."""
    entries, row, here = table.entries, at * ROW, entry * ROW
    newest = table.sets[row + NEWEST]
    if newest == entry:
        return
    older, newer = entries[here + OLDER], entries[here + NEWER]
    if older == NONE:
        table.sets[row + OLDEST] = newer
    else:
        entries[older * ROW + NEWER] = newer
    # The entry is not the newest, so another one follows it.
    entries[newer * ROW + OLDER] = older
    entries[here + OLDER], entries[here + NEWER] = newest, NONE
    entries[newest * ROW + NEWER] = entry
    table.sets[row + NEWEST] = entry


@kernel
def remove(table: EntrySets, at: int, entry: int) -> None:
    """Take an entry out of its set and lay it on the free stack."""
    entries, row, here = table.entries, at * ROW, entry * ROW
    _unlink_used(table, row, entry)
    earlier, later = entries[here + EARLIER], entries[here + LATER]
    if earlier == NONE:
        table.sets[row + EARLIEST] = later
    else:
        entries[earlier * ROW + LATER] = later
    if later == NONE:
        table.sets[row + LATEST] = earlier
    else:
        entries[later * ROW + EARLIER] = earlier
    entries[here + PAGE] = NONE
    entries[here + OLDER] = table.sets[row + FREE]
    table.sets[row + FREE] = entry
    table.sets[row + HELD] -= 1


@kernel
def _link_newest(table: EntrySets, row: int, entry: int) -> None:
    entries, newest = table.entries, table.sets[row + NEWEST]
    entries[entry * ROW + OLDER], entries[entry * ROW + NEWER] = newest, NONE
    if newest == NONE:
        table.sets[row + OLDEST] = entry
    else:
        entries[newest * ROW + NEWER] = entry
    table.sets[row + NEWEST] = entry


@kernel
def _unlink_used(table: EntrySets, row: int, entry: int) -> None:
    entries = table.entries
    older, newer = entries[entry * ROW + OLDER], entries[entry * ROW + NEWER]
    if older == NONE:
        table.sets[row + OLDEST] = newer
    else:
        entries[older * ROW + NEWER] = newer
    if newer == NONE:
        table.sets[row + NEWEST] = older
    else:
        entries[newer * ROW + OLDER] = older
