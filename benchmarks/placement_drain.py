"""A million workgroups drained by one compute unit, under two policies; the reference is the same loop in C++."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.turns import Side, compared, spent
from workbench.engines.kit import FINE, STOP
from workbench.engines.shared_memory import admitted
from workbench.engines.shared_memory_loop import CONTIGUOUS, COUNT, Rules, drain_queue, new_state
from workbench.policies.placement import FirstFit, NearestBoundary
from workbench.workloads.workload import Workgroups

WORKGROUPS = 1_000_000
NO_LOGS = {"moves": 0, "refusals": 0}


def placement_drain() -> list[dict[str, Any]]:
    """N = 128."""
    return _drain("placement_drain", 128)


def placement_drain_1824() -> list[dict[str, Any]]:
    """N = 1824: 228 KiB in granules of 128 B."""
    return _drain("placement_drain_1824", 1824)


def _drain(name: str, segments: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    lengths, durations = random.integers(1, 33, WORKGROUPS), random.integers(50, 201, WORKGROUPS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workgroups"
        path.write_bytes(np.r_[lengths, durations].astype(np.int32).tobytes())
        reference = native(
            "drain.cpp",
            2 * WORKGROUPS,
            (segments, WORKGROUPS, path),
            lambda printed: printed["events"] == 2 * WORKGROUPS,
        )
        rows = []
        for policy in (FirstFit(), NearestBoundary()):
            ours = _ours(segments, policy, lengths, durations)
            rows += compared(name, policy.name, "events", ours, {"C++, first fit": reference})
    return rows


def _ours(segments: int, policy: Any, lengths: np.ndarray, durations: np.ndarray) -> Side:
    jobs = admitted(Workgroups(np.zeros(WORKGROUPS, np.int64), lengths, durations), policy, segments)
    rules = Rules(segments, 0, 1, 1, 1, 0, CONTIGUOUS, 0)
    ready = policy.ready(segments)

    def run() -> float:
        state = new_state(jobs, rules, NO_LOGS)
        seconds = spent(lambda: drain_queue(jobs, rules, ready, state))
        assert state.counters[STOP.fault] == FINE
        assert state.counters[COUNT.grants] == WORKGROUPS
        return seconds

    return Side(2 * WORKGROUPS, run)
