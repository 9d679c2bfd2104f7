"""Ten thousand runs of a thousand workgroups: a sweep of 50 points and 200 seeds, from the plan to the table."""

from __future__ import annotations

import resource
import tempfile
import time
from typing import Any

from benchmarks.row import row
from workbench.api import planned, run
from workbench.executors import cores

SWEEP: dict[str, Any] = {
    "engine": "shared_memory",
    "machine": {"segments": 128},
    "workload": {
        "synthetic": "random_workgroups",
        "count": 1000,
        "size": {"uniform": [1, {"vary": [4, 8, 12, 16, 24, 32, 40, 48, 56, 64]}]},
        "duration": {"uniform": [50, 200]},
    },
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary", "best_fit", "worst_fit", "last_fit"]}},
    "seeds": 200,
    "measures": ["drain_cycles", "mean_external_fragmentation"],
}


def sweep_10000_runs() -> list[dict[str, Any]]:
    """In as many processes as there are cores, into a store on disk; and the fixed cost of a run with nothing in it."""
    with tempfile.TemporaryDirectory() as folder:
        run(SWEEP, f"{folder}/first", seeds=1, workers=cores())
        began = time.perf_counter()
        results = run(SWEEP, f"{folder}/all", workers=cores())
        seconds = time.perf_counter() - began
        assert len(results.rows) == 10_000
        assert not results.failures
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    whole = row("sweep_10000_runs", f"{cores()} processes, peak {peak / 1024:.0f} MiB", 10_000, "runs", seconds)
    return [whole, _fixed()]


def _fixed() -> dict[str, Any]:
    empty = {**SWEEP, "workload": {**SWEEP["workload"], "count": 1}}
    began = time.perf_counter()
    results = run(empty, workers=1)
    seconds = time.perf_counter() - began
    assert len(results.rows) == len(planned(empty)) == 10_000
    return row("sweep_10000_runs", "one workgroup a run, one process: the fixed cost of a run", 10_000, "runs", seconds)
