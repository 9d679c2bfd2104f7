"""The engine `dispatch` against queueing theory: wave slots of one-wave groups are the servers of a queue."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest

from tests.engines.dispatch_cases import Case, Row
from workbench.records.dispatch import DispatchRecord

SERVICE = 100_000
"""Mean service in cycles; with it a cycle more or less is 1e-5 of what is measured."""

BATCHES = 20


def queue(seed: int, count: int, servers: int, load: float, channel: int = 0, priority: int = 1) -> list[Row]:
    """Memoryless arrivals and services, in whole cycles."""
    random = np.random.default_rng(seed)
    arrivals = np.cumsum(random.exponential(SERVICE / (load * servers), count)).astype(np.int64).tolist()
    services = np.maximum(random.exponential(SERVICE, count).astype(np.int64), 1).tolist()
    return [Row(a, channel, priority, duration=s) for a, s in zip(arrivals, services, strict=True)]


def dispatched(rows: list[Row], modules: int, slots: int = 1, **options: int) -> DispatchRecord:
    return Case(rows, modules=modules, slots=slots, workgroups=slots, options=options).engine(events=False)


def starts(rows: list[Row], servers: int, gap: int) -> list[int]:
    """Kiefer and Wolfowitz: each takes the server that is free first; two starts are `gap` cycles apart."""
    free = [0] * servers
    messages, last = [], -gap
    for row in rows:
        last = max(row.arrival, free[0], last + gap)
        heapq.heapreplace(free, last + row.duration)
        messages.append(last)
    return messages


@pytest.mark.parametrize(("gap", "at_once"), [(1, 1), (0, 64)])
@pytest.mark.parametrize(("modules", "slots"), [(1, 1), (3, 1), (2, 4)])
def test_every_start_of_a_first_come_first_served_queue(modules, slots, gap, at_once):
    rows = [
        row._replace(arrival=row.arrival // 10_000, duration=row.duration // 10_000 + 1)
        for row in queue(3, 600, modules * slots, 0.95)
    ]
    record = dispatched(rows, modules, slots, dispatches_a_round=at_once)
    assert record.cycle.tolist() == starts(rows, modules * slots, gap)
    assert record.group.tolist() == list(range(600))


def erlang_c(servers: int, load: float) -> float:
    """The probability that an arrival waits."""
    offered = servers * load
    full = offered**servers / math.factorial(servers) / (1 - load)
    return full / (sum(offered**k / math.factorial(k) for k in range(servers)) + full)


def waits(record: DispatchRecord, priority: int = 1) -> np.ndarray:
    mine = record.priority[record.group] == priority
    return (record.cycle - record.arrival[record.group])[mine] / SERVICE


def assert_mean(values: np.ndarray, expected: float) -> None:
    """Within four standard errors of the means of batches, which are all but independent; the error itself is small."""
    means = np.array([batch.mean() for batch in np.array_split(values, BATCHES)])
    error = means.std(ddof=1) / math.sqrt(BATCHES)
    assert abs(means.mean() - expected) < 4 * error
    assert error < 0.2 * expected


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (4, 0.7)])
def test_mean_wait_of_m_m_c(servers, load):
    """Erlang's C formula: the mean wait is C / (c mu - lambda)."""
    record = dispatched(queue(7, 6_000, servers, load), servers)
    assert_mean(waits(record), erlang_c(servers, load) / (servers * (1 - load)))


def test_mean_waits_by_priority():
    """Cobham: W_k = W_0 / ((1 - sigma_{k-1}) (1 - sigma_k)) for a queue without preemption; a channel a priority."""
    rows = queue(11, 4_000, 1, 0.3, channel=0, priority=1) + queue(12, 4_000, 1, 0.3, channel=1, priority=2)
    record = dispatched(rows, 1)
    assert_mean(waits(record, 1), 0.6 / (1 - 0.3))
    assert_mean(waits(record, 2), 0.6 / ((1 - 0.3) * (1 - 0.6)))
