"""A million workgroups drained by one compute unit, under two policies, beside the same loop in C++."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.row import fastest, row
from workbench.engines.kit import FINE, STOP
from workbench.engines.shared_memory import admitted
from workbench.engines.shared_memory_loop import CONTIGUOUS, COUNT, Rules, drain_queue, new_state
from workbench.policies.placement import FirstFit, NearestBoundary
from workbench.workloads.workload import Workgroups

WORKGROUPS = 1_000_000
TIMES = 7
NO_LOGS = {"moves": 0, "refusals": 0}


def placement_drain() -> list[dict[str, Any]]:
    """N = 128."""
    return _drain("placement_drain", 128)


def placement_drain_1824() -> list[dict[str, Any]]:
    """N = 1824: 228 KiB in granules of 128 B."""
    return _drain("placement_drain_1824", 1824)


def _drain(name: str, segments: int) -> list[dict[str, Any]]:
    rows = [_ours(name, segments, policy) for policy in (FirstFit(), NearestBoundary())]
    reference = native("drain.cpp", str(segments), str(WORKGROUPS))
    if reference is not None:
        assert reference["events"] == 2 * WORKGROUPS
        rows.append(row(name, "C++ first fit", 2 * WORKGROUPS, "events", reference["seconds"]))
    return rows


def _ours(name: str, segments: int, policy: Any) -> dict[str, Any]:
    random = np.random.default_rng(1)
    lengths, durations = random.integers(1, 33, WORKGROUPS), random.integers(50, 201, WORKGROUPS)
    jobs = admitted(Workgroups(np.zeros(WORKGROUPS, np.int64), lengths, durations), policy, segments)
    rules = Rules(segments, 0, 1, 1, 1, 0, CONTIGUOUS, 0)
    states = [new_state(jobs, rules, NO_LOGS) for _ in range(TIMES + 1)]
    ready = policy.ready(segments)
    seconds = fastest(lambda: drain_queue(jobs, rules, ready, states.pop()), TIMES)
    state = new_state(jobs, rules, NO_LOGS)
    drain_queue(jobs, rules, ready, state)
    assert state.counters[STOP.fault] == FINE
    assert state.counters[COUNT.grants] == WORKGROUPS
    return row(name, policy.name, 2 * WORKGROUPS, "events", seconds)
