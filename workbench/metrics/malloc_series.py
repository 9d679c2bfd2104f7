"""Who waits for memory over time, and how long the calls of a run take, from the shortest to the longest."""

from __future__ import annotations

import numpy as np

from workbench.metrics.malloc import latencies
from workbench.metrics.steps import Steps, added_up
from workbench.records.malloc import MallocRecord

SHARES = np.arange(0, 101, 5)
"""Per cent of all threads that got memory."""


def waiting_over_time(record: MallocRecord) -> Steps:
    """Count over time the threads that have called and have neither an address nor a refusal."""
    asks = record.request >= 0
    came, ready = record.arrival[asks], record.ready[record.request[asks]]
    ones = np.ones(len(came), np.int64)
    return added_up(0, (came, ones), (ready, -ones))


def latency_by_share(record: MallocRecord) -> np.ndarray:
    """Return the latency that so many per cent of the threads do not exceed: float64[21], NaN where nobody got
    memory."""
    latency = latencies(record)
    return np.percentile(latency, SHARES) if len(latency) else np.full(len(SHARES), np.nan)
