"""The runner at scale: 100,000 runs in one store, the fixed cost of a run, and what a second worker brings."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.row import row
from workbench.api import planned, run
from workbench.executors.cluster import close_all
from workbench.experiments.run_set import gather
from workbench.experiments.store import Store
from workbench.mechanisms.measured_by import measures_digest
from workbench.runs.origin import own_origin
from workbench.runs.row import Row

RUNS = 100_000
GRID: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {
        "synthetic": "random_workgroups",
        "count": 1,
        "size": {"uniform": [1, {"vary": list(range(2, 22))}]},
        "duration": {"uniform": [50, {"vary": [100, 200, 300, 400, 500]}]},
    },
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary", "best_fit", "worst_fit", "last_fit"]}},
}
EMPTY: dict[str, Any] = {**GRID, "seeds": 20}
"""500 points, one workgroup a run: what is left is what a run costs whatever it does."""

LONG: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 120_000},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "measures": ["drain_cycles"],
}


def runs_100000() -> list[dict[str, Any]]:
    """Planning, resume scan, gathering and memory, in a process of its own; every row has every measure."""
    code = f"from benchmarks.runner_scale import at_scale; at_scale({RUNS})"
    reply = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_here())
    return [row("runs_100000", variant, RUNS, "runs", float(s)) for variant, s in _pairs(reply.stdout)]


def at_scale(runs: int) -> None:
    """Print each step with its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        plan = _timed("planning 500 points x 200 seeds", lambda: planned({**GRID, "seeds": runs // 500}))
        many = {**GRID["workload"], "duration": {"uniform": [50, {"vary": list(range(100, 1100))}]}}
        most = _timed("planning 100,000 points x 1 seed", lambda: planned({**GRID, "workload": many, "seeds": 1}))
        assert len(plan) == len(most) == runs
        del most
        measures = {name: 1.25 * k for k, name in enumerate(plan.sweep.mechanism.measures)}
        store = Store(path, "scale")
        _timed("keeping every row, 100 at a time", lambda: _fill(store, plan, measures))
        store.close()
        store = _timed("opening: every row is proved", lambda: Store(path, "scale"))
        left = _timed("resume scan", lambda: [r for done in [store.done()] for r in plan.runs() if r.id not in done])
        assert not left
        result = _timed("gathering", lambda: gather(plan, store))
        table = _timed("the table of a gathered sweep", lambda: result.table)
        assert len(table) == runs
        store.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB\t0")


def _fill(store: Store, plan: Any, measures: dict[str, float]) -> None:
    made = own_origin(), measures_digest(plan.sweep.mechanism)
    rows = [Row(r.id, r.point.id, r.seed, "done", "", 0.01, measures, *made) for r in plan.runs()]
    for k in range(0, len(rows), 100):
        store.add_all(rows[k : k + 100])


def _timed(what: str, call: Any) -> Any:
    began = time.perf_counter()
    result = call()
    print(f"{what}\t{time.perf_counter() - began}")
    return result


def fixed_cost_of_a_run() -> list[dict[str, Any]]:
    """10,000 runs with one workgroup each, by every kind of worker, workers warm, rows kept on disk."""
    kinds: dict[str, dict[str, Any]] = {
        "in this process": {"workers": 1},
        "2 threads": {"workers": 2, "executor": "threads"},
        "2 processes": {"workers": 2},
        "Dask, local:2": {"executor": "local:2"},
    }
    rows = []
    for name, options in kinds.items():
        run({**EMPTY, "seeds": 2}, **options)
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            result = run(EMPTY, folder, **options)
            rows.append(row("fixed_cost_of_a_run", name, len(result.rows), "runs", time.perf_counter() - began))
        assert len(result.rows) == 10_000
        assert not result.failures
    close_all()
    return rows


def two_workers() -> list[dict[str, Any]]:
    """Runs of about 20 ms by one worker and by two: processes, and threads, whose engine releases the lock."""
    rows = []
    for kind in ("processes", "threads"):
        for workers in (1, 2):
            run({**LONG, "seeds": 4}, workers=workers, executor=kind)
            began = time.perf_counter()
            result = run({**LONG, "seeds": 150}, workers=workers, executor=kind)
            seconds = time.perf_counter() - began
            assert len(result.rows) == 300
            assert not result.failures
            each = sum(r.seconds for r in result.rows.values()) / 300 * 1e3
            rows.append(row("two_workers", f"{workers} {kind}, {each:.1f} ms a run", 300, "runs", seconds))
    return rows


def _pairs(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


def _here() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
