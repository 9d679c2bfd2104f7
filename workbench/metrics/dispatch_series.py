"""What a dispatcher's record says over time: exact step functions of the cycle."""

from __future__ import annotations

import numpy as np

from workbench.metrics.dispatch_rows import releases
from workbench.metrics.dispatch_waits import last_dispatch
from workbench.metrics.steps import Steps, added_up
from workbench.records.dispatch import DispatchRecord


def waiting_over_time(record: DispatchRecord) -> Steps:
    """Return how many groups have joined their channels and are not, or not in all their parts, dispatched yet."""
    one = np.ones(len(record.arrival), np.int64)
    return added_up(0, (record.arrival, one), (last_dispatch(record), -one))


def running_over_time(record: DispatchRecord) -> Steps:
    """Return how many waves run, over all modules."""
    waves = record.sent.sum(axis=1, dtype=np.int64)
    return added_up(0, (record.cycle, waves), (releases(record), -waves))
