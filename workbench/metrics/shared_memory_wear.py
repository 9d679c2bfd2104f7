"""How often each segment of a shared memory was granted."""

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
    if record.layout == "scattered" or not record.addressed:
        raise InputError("there is no wear by segment: these grants are not ranges of segments.")
    moved = record.moves[:, 1]
    base = np.concatenate([record.base, record.moves[:, 3]])
    beyond = base + np.concatenate([record.length, record.length[moved]])
    room = record.segments + 1
    return (np.bincount(base, minlength=room) - np.bincount(beyond, minlength=room))[:-1].cumsum()
