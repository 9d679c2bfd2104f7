"""What a run costs its driver, by each way of running many: processor time of the driver's process alone.

    python -m benchmarks.costs_of_a_run

A run has one workgroup, so what is measured is what any run costs whatever it does. The ways take turns, round by
round; the least processor time of all rounds counts, of a short and of a long sweep. Their difference is that of the
runs that the long one has more. Rows are kept on disk. Workers have processes of their own, whose time is not the
driver's. Short runs are handed over in bundles; a run of 0.15 s or more is a bundle by itself, which "long runs" stand
for.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import workbench as wb
from workbench.api import gather, run
from workbench.executors import bundles
from workbench.executors.cluster import close_all

SHORT, LONG = 1, 3
"""Seeds of the two sweeps."""
SIZES = range(2, 22)
"""Sizes of the sweeps: 25 points each."""
GRID: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {
        "synthetic": "random_workgroups",
        "count": 1,
        "size": {"uniform": [1, 20]},
        "duration": {"uniform": [50, {"vary": [100, 200, 300, 400, 500]}]},
    },
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary", "best_fit", "worst_fit", "last_fit"]}},
}
ROUNDS = 3
SHARDS = 4
POINTS = 100_000
WAYS: dict[str, dict[str, Any]] = {
    "this process (workers 0)": {"workers": 0},
    "2 own processes": {"workers": 2},
    "2 own processes, long runs": {"workers": 2},
    "Dask, local:2": {"executor": "local:2"},
    "Dask, local:2, long runs": {"executor": "local:2"},
    "a shard of 4 (workers 0)": {"workers": 0, "shard": f"1/{SHARDS}"},
}


def _sweep(seeds: int) -> dict[str, Any]:
    """Return a sweep of 25 points a size."""
    size = {"uniform": [1, {"vary": list(SIZES)}]}
    return {**GRID, "workload": {**GRID["workload"], "size": size}, "seeds": seeds}


def costs_of_a_run() -> list[dict[str, Any]]:
    """Measure the driver's time for a run by each way, for gathering it, and for planning its point."""
    rows = [*_runs(), _gathering(), *_planning()]
    close_all()
    return rows


def _runs() -> list[dict[str, Any]]:
    for name in WAYS:
        _driven(SHORT, name)  # compiles, and starts what is kept
    least = {(name, seeds): float("inf") for name in WAYS for seeds in (SHORT, LONG)}
    for _ in range(ROUNDS):
        for name, seeds in least:
            least[name, seeds] = min(least[name, seeds], _driven(seeds, name))
    more = 25 * len(SIZES) * (LONG - SHORT)
    return [_cost(name, more, "runs", max(least[name, LONG] - least[name, SHORT], 1e-9)) for name in WAYS]


def _driven(seeds: int, name: str) -> float:
    """Return the processor time of the driver of the runs of so many seeds; of a shard, the sweep has as many more."""
    options = WAYS[name]
    whole = seeds * (SHARDS if "shard" in options else 1)
    usual = bundles.MOST
    bundles.MOST = 1 if name.endswith("long runs") else usual
    try:
        with tempfile.TemporaryDirectory() as folder:
            spent, results = _timed(lambda: run(_sweep(whole), folder, **options))
    finally:
        bundles.MOST = usual
    assert len(results.rows) == 25 * len(SIZES) * seeds
    assert not results.failures
    return spent


def _gathering() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        sweep = _sweep(LONG)
        parts = [f"{place}/{k}" for k in range(1, SHARDS + 1)]
        for number, part in enumerate(parts, 1):
            run(sweep, part, shard=f"{number}/{SHARDS}", workers=0)
        spent = []
        for _ in range(ROUNDS):
            seconds, folder = _timed(lambda: gather(parts, f"{place}/all"))
            spent.append(seconds)
            shutil.rmtree(folder)
    return _cost(f"gathering {SHARDS} shards", 25 * len(SIZES) * LONG, "runs", min(spent))


def _planning() -> list[dict[str, Any]]:
    """Plan many points, and a hundredth of them as a shard, with the peak of memory that Python allocates."""
    durations = {"vary": list(range(100, 100 + POINTS // (5 * len(SIZES))))}
    usual = _sweep(1)
    sweep = {**usual, "workload": {**usual["workload"], "duration": {"uniform": [50, durations]}}}
    rows = []
    for shard, points in ((None, POINTS), ("1/100", POINTS // 100)):
        seconds = min(_timed(lambda: wb.plan(sweep, shard=shard))[0] for _ in range(2))  # noqa: B023 - called at once
        tracemalloc.start()
        assert len(wb.plan(sweep, shard=shard)) == points
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        name = "planning them all" if shard is None else f"planning shard {shard}"
        rows.append(_cost(f"{name}, peak {peak:.0f} MiB", points, "points", seconds))
    return rows


def _cost(variant: str, items: int, unit: str, seconds: float) -> dict[str, Any]:
    return {"variant": variant, "items": items, "unit": unit, "seconds": seconds}


def _timed(act: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    began = process_time()
    result = act()
    return process_time() - began, result


def main() -> None:
    """Print microseconds an item."""
    for one in costs_of_a_run():
        each = one["seconds"] / one["items"] * 1e6
        print(f"{one['variant']:45}{each:10.1f} us a {one['unit'][:-1]}", flush=True)


if __name__ == "__main__":
    main()
