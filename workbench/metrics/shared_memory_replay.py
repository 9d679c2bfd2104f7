"""One pass over what happened in a shared memory: exact integrals over the event times, and wear by segment.

The pass rebuilds the free map from the record alone. Between two events nothing changes, so every time average is a sum
of products of whole numbers, exact whatever the number of cycles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.errors import InputError
from workbench.records.shared_memory import SharedMemoryRecord
from workbench.structures.free_map import (
    WORD,
    all_free,
    count_runs,
    longest_run,
    mark_free,
    mark_taken,
    next_free,
    next_taken,
)

CYCLES, WAITING_CYCLES, QUEUE, FREE, WAITING_FREE, WAITING_RUNS, FRAGMENTED = range(7)
EXTERNAL, CENTRE = range(2)


class Events(NamedTuple):
    """A record as the pass reads it."""

    arrival: np.ndarray
    granted_at: np.ndarray
    """int64[workgroups], the cycle of each grant, in the order of the queue."""
    grant: np.ndarray
    """int64[workgroups], cycles of the grants, in the order of `grants`."""
    grants: np.ndarray
    """int64[workgroups], rows in the order of their grants."""
    release: np.ndarray
    """int64[workgroups], cycles of the releases, in the order of `releases`."""
    releases: np.ndarray
    """int64[workgroups], rows in the order of their releases."""
    length: np.ndarray
    where: np.ndarray
    """int64[workgroups], the current first segment of each range."""
    moves: np.ndarray


class Totals(NamedTuple):
    """What the pass adds up."""

    whole: np.ndarray
    """int64[7], named by the constants above: cycles and sums over cycles."""
    real: np.ndarray
    """float64[2]: sums over the cycles with a waiting request of external fragmentation, and of the distance between
    the centre of the longest free run and the middle of the memory."""
    wear: np.ndarray
    """int64[segments + 1], differences of the number of times that each segment was granted."""


def replay(record: SharedMemoryRecord) -> Totals:
    """Add up one run, from the first arrival to the last release.

    Raises
    ------
    InputError
        A range of the record, of an engine of somebody's own, does not lie in the memory.
    """
    _check_ranges(record)
    totals = Totals(np.zeros(7, np.int64), np.zeros(2), np.zeros(record.segments + 1, np.int64))
    grants, releases = record.serial.argsort(kind="stable"), record.release.argsort(kind="stable")
    events = Events(
        record.arrival,
        record.grant,
        record.grant[grants],
        grants,
        record.release[releases],
        releases,
        record.length,
        record.base.astype(np.int64),
        record.moves,
    )
    if grants.size:
        _pass(events, all_free(record.segments), record.segments, record.layout == "scattered", totals)
    return totals


def _check_ranges(record: SharedMemoryRecord) -> None:
    """Refuse ranges outside of the memory, at which compiled code would write past its arrays."""
    if record.layout == "scattered":
        return
    row, first = _outside(record.base, record.length, record.moves, record.segments)
    if row >= 0:
        last = first + int(record.length[row]) - 1
        raise InputError(
            f"the record of a run puts workgroup {row} into segments {first} to {last}, but the memory has "
            f"segments 0 to {record.segments - 1}."
        )


@kernel
def _outside(base: np.ndarray, length: np.ndarray, moves: np.ndarray, segments: int) -> tuple[int, int]:
    """Return the first workgroup that was granted or moved to a range outside of the memory, and its base; or -1."""
    for row in range(base.size):
        if base[row] < 0 or base[row] + length[row] > segments:
            return row, base[row]
    for k in range(moves.shape[0]):
        row = moves[k, 1]
        if moves[k, 3] < 0 or moves[k, 3] + length[row] > segments:
            return row, moves[k, 3]
    return -1, 0


@kernel
def _pass(events: Events, free: np.ndarray, segments: int, scattered: bool, totals: Totals) -> None:
    rows = events.grants.size
    arrived = granted = released = moved = 0
    head = taken = 0
    now = events.arrival[0]
    while released < rows:
        while released < rows and events.release[released] == now:
            row = events.releases[released]
            taken -= events.length[row]
            if not scattered:
                mark_free(free, events.where[row], events.length[row])
            released += 1
        while arrived < rows and events.arrival[arrived] == now:
            arrived += 1
        while granted < rows and events.grant[granted] == now:
            row = events.grants[granted]
            moved = _move_for(events, free, row, moved, totals)
            taken += events.length[row]
            if not scattered:
                mark_taken(free, events.where[row], events.length[row])
                _count_wear(totals, events.where[row], events.length[row])
            granted += 1
        while head < arrived and events.granted_at[head] <= now:
            head += 1
        following = _following(events, arrived, granted, released)
        if released < rows:
            _add(events, free, segments, taken, arrived - granted, head, following - now, totals)
        now = following


@kernel
def _following(events: Events, arrived: int, granted: int, released: int) -> int:
    rows = events.grants.size
    soonest = 1 << 62
    if arrived < rows:
        soonest = min(soonest, events.arrival[arrived])
    if granted < rows:
        soonest = min(soonest, events.grant[granted])
    if released < rows:
        soonest = min(soonest, events.release[released])
    return soonest


@kernel
def _move_for(events: Events, free: np.ndarray, row: int, moved: int, totals: Totals) -> int:
    while moved < events.moves.shape[0] and events.moves[moved, 4] == row:
        other, old, new = events.moves[moved, 1], events.moves[moved, 2], events.moves[moved, 3]
        mark_free(free, old, events.length[other])
        mark_taken(free, new, events.length[other])
        events.where[other] = new
        _count_wear(totals, new, events.length[other])
        moved += 1
    return moved


@kernel
def _count_wear(totals: Totals, start: int, length: int) -> None:
    totals.wear[start] += 1
    totals.wear[start + length] -= 1


@kernel
def _add(
    events: Events, free: np.ndarray, segments: int, taken: int, waiting: int, head: int, cycles: int, totals: Totals
) -> None:
    whole, left = totals.whole, segments - taken
    whole[CYCLES] += cycles
    whole[QUEUE] += waiting * cycles
    whole[FREE] += left * cycles
    if waiting == 0:
        return
    whole[WAITING_CYCLES] += cycles
    whole[WAITING_FREE] += left * cycles
    whole[WAITING_RUNS] += count_runs(free) * cycles
    if left > 0:
        longest = longest_run(free)
        if longest < events.length[head] <= left:
            whole[FRAGMENTED] += cycles
        totals.real[EXTERNAL] += cycles * (1.0 - longest / left)
        totals.real[CENTRE] += cycles * abs(_start_of(free, longest) + longest / 2 - segments / 2)


@kernel
def _start_of(free: np.ndarray, longest: int) -> int:
    """Return the lowest run of free segments that is so long."""
    start = next_free(free, 0)
    while start < free.size * WORD:
        end = next_taken(free, start)
        if end - start == longest:
            return start
        start = next_free(free, end)
    return 0
