"""How often each segment of a shared memory was granted, and for how long it was held."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.records.shared_memory import SharedMemoryRecord


def grants_by_segment(record: SharedMemoryRecord) -> np.ndarray:
    """Return how often each segment was granted: int64[segments]; a range that compaction moves counts at its new place
    too.

    Raises
    ------
    InputError
        The grants are no ranges (scattered) or have no addresses (a byte counter's).
    """
    if not has_ranges(record):
        raise InputError("there is no wear by segment: these grants are not ranges of segments.")
    moved = record.moves[:, 1]
    base = np.concatenate([record.base, record.moves[:, 3]])
    beyond = base + np.concatenate([record.length, record.length[moved]])
    room = record.segments + 1
    return (np.bincount(base, minlength=room) - np.bincount(beyond, minlength=room))[:-1].cumsum()


def held_by_segment(record: SharedMemoryRecord) -> np.ndarray:
    """Return for how many cycles each segment was taken, int64[segments]; a range that compaction moves counts from
    then on at its new place.

    Raises
    ------
    InputError
        As `grants_by_segment`.
    """
    if not has_ranges(record):
        raise InputError("there is no time by segment: these grants are not ranges of segments.")
    cycle, moved, old, new = record.moves[:, :4].T
    rest, length = record.release[moved] - cycle, record.length
    changes = np.zeros(record.segments + 1, np.int64)
    for base, size, cycles in (
        (record.base, length, record.release - record.grant),
        (old, length[moved], -rest),
        (new, length[moved], rest),
    ):
        np.add.at(changes, base, cycles)
        np.add.at(changes, base + size, -cycles)
    return changes[:-1].cumsum()


def has_ranges(record: SharedMemoryRecord) -> bool:
    """Return whether the grants are ranges of segments."""
    return record.layout != "scattered" and record.addressed
