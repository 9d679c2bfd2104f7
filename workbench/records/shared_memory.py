"""The record of a shared memory's run, enough to replay every event, and the event log derived from it.

The kinds of events: grant, release, refuse, move. The record holds nothing that can be derived from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SharedMemoryRecord(NamedTuple):
    """One run of the engine `shared_memory`: one row a workgroup in queue order, and the totals of the run."""

    segments: int
    """Segments of the memory."""
    layout: str
    """What a grant is: contiguous, scattered or compacting."""
    addressed: bool
    """Whether grants have addresses at all (a byte counter's have none)."""
    release_first: bool
    """Whether releases were applied before grants of the same cycle."""
    arrival: np.ndarray
    """int64[workgroups], the cycle at which each joined the queue."""
    asked: np.ndarray
    """int64[workgroups], segments that each asked for."""
    length: np.ndarray
    """int64[workgroups], segments that each took (more than asked for where a policy rounds up)."""
    grant: np.ndarray
    """int64[workgroups], the cycle of the grant; the segments are taken from then on."""
    start: np.ndarray
    """int64[workgroups], the cycle at which each began to run (later than the grant by the allocator's latency)."""
    release: np.ndarray
    """int64[workgroups], the cycle of the release."""
    base: np.ndarray
    """int32[workgroups], the first segment of the grant."""
    serial: np.ndarray
    """int32[workgroups], the place of each grant in the order of all grants."""
    refused: np.ndarray
    """bool[workgroups], whether each was ever refused."""
    attempts: int
    """Cycles in which the allocator tried, polls of a waiting head included."""
    blocked_cycles: int
    """Cycles in which the head had been refused although enough segments were free in total."""
    moves: np.ndarray
    """int64[moves, 5]: cycle, workgroup, old base, new base, and the workgroup for which space was made."""
    refusals: np.ndarray
    """int64[refusals, 3]: cycle, workgroup, free segments; empty unless events were asked for."""


def drain_cycle(record: SharedMemoryRecord) -> int:
    """Return the cycle at which the queue is empty and everything is released."""
    return int(record.release.max(initial=0))


KINDS = ("grant", "release", "refuse", "move")
_GRANT, _RELEASE, _REFUSE, _MOVE = range(4)


def events(record: SharedMemoryRecord) -> dict[str, np.ndarray]:
    """Return every event in its total order (cycle, rank, serial), as columns.

    Within a cycle releases come first (last when grants go first), then moves and grants in the order of the grants,
    then the refusal of the head. `start` is the first segment; of a refusal it is -1, and `length` is what was asked.

    Returns
    -------
    dict of arrays
        cycle, serial (0, 1, 2, ... in the total order), kind, workgroup, start, length.
    """
    parts = [_grants(record), _releases(record), _refusals(record), _moves(record)]
    cycle, rank, order, kind, workgroup, start, length = (np.concatenate(column) for column in zip(*parts, strict=True))
    place = np.lexsort((kind != _MOVE, order, rank, cycle))
    return {
        "cycle": cycle[place],
        "serial": np.arange(len(place)),
        "kind": np.array(KINDS)[kind[place]],
        "workgroup": workgroup[place],
        "start": start[place],
        "length": length[place],
    }


_Part = tuple[np.ndarray, ...]


def _part(cycle: np.ndarray, rank: int, order: np.ndarray, kind: int, *columns: np.ndarray) -> _Part:
    filled = [np.full(len(cycle), value, np.int64) for value in (rank, kind)]
    return (cycle, filled[0], order.astype(np.int64), filled[1], *(c.astype(np.int64) for c in columns))


def _grants(record: SharedMemoryRecord) -> _Part:
    rows = np.arange(len(record.grant))
    return _part(record.grant, 1, record.serial, _GRANT, rows, record.base, record.length)


def _releases(record: SharedMemoryRecord) -> _Part:
    rank = 0 if record.release_first else 3
    rows = np.arange(len(record.grant))
    return _part(record.release, rank, record.serial, _RELEASE, rows, last_base(record), record.length)


def _refusals(record: SharedMemoryRecord) -> _Part:
    cycle, workgroup = record.refusals[:, 0], record.refusals[:, 1]
    nowhere = np.full(len(cycle), -1)
    return _part(cycle, 2, np.arange(len(cycle)), _REFUSE, workgroup, nowhere, record.asked[workgroup])


def _moves(record: SharedMemoryRecord) -> _Part:
    cycle, workgroup, _, new, for_row = record.moves.T
    return _part(cycle, 1, record.serial[for_row], _MOVE, workgroup, new, record.length[workgroup])


def last_base(record: SharedMemoryRecord) -> np.ndarray:
    """Return the place of each workgroup's range when it was released: its base, or where compaction last moved it."""
    base = record.base.astype(np.int64)
    base[record.moves[:, 1]] = record.moves[:, 3]
    return base
