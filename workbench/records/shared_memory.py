"""What happened in a shared memory: enough to replay every event, and nothing that can be derived from it."""

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
    """int64[moves, 5]: cycle, workgroup, old base, new base, and the workgroup for which room was made."""
    refusals: np.ndarray
    """int64[refusals, 3]: cycle, workgroup, free segments; empty unless events were asked for."""


def drain_cycle(record: SharedMemoryRecord) -> int:
    """Return the cycle at which the queue is empty and everything is released."""
    return int(record.release.max(initial=0))
