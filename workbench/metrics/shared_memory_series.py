"""What a shared memory's record says over time: exact step functions of the cycle (spec 1, R33)."""

from __future__ import annotations

import numpy as np

from workbench.metrics.steps import Steps, added_up
from workbench.records.shared_memory import SharedMemoryRecord


def queue_over_time(record: SharedMemoryRecord) -> Steps:
    """Return how many workgroups have joined the queue and are not granted yet (spec 1, R33a)."""
    one = np.ones(len(record.grant), np.int64)
    return added_up(0, (record.arrival, one), (record.grant, -one))


def free_over_time(record: SharedMemoryRecord) -> Steps:
    """Return how many segments are free (spec 1, R33b); before the first grant and after the last release all are."""
    return added_up(record.segments, (record.grant, -record.length), (record.release, record.length))
