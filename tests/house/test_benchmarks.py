"""Every benchmark of `workbench bench` runs, on little: what it measures is the same code as at its full size."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import numpy as np
import pytest

import benchmarks
from benchmarks import mutants
from tests.slow import compiled_only
from workbench.metrics import dispatch_rows, statistics

SMALL = {
    "placement_drain": {"WORKGROUPS": 2_000, "TIMES": 1},
    "placement_drain_1824": {"WORKGROUPS": 2_000, "TIMES": 1},
    "place_free": {"STEPS": 20_000},
    "dispatch_full": {"GROUPS": 2_000, "SIMPY_GROUPS": 200, "MANY_GROUPS": 4_000},
    "dispatch_full_256": {"GROUPS": 2_000, "SIMPY_GROUPS": 200},
    "malloc_warp": {"THREADS": 3_200, "SPAN": 100_000},
    "pool_replay": {"REQUESTS": 5_000, "LIVE": 300},
    "pool_replay_growth": {"CACHED_BLOCKS": (1_000, 2_000), "CHURN": 1_000},
    "torch_allocator": {"REQUESTS": 5_000, "LIVE": 300},
    "probe_exact_128": {"MASKS": 256, "ROUNDS": 1, "TIMES": 2},
    "translation_lru": {"ACCESSES": 20_000, "PAGES": 1_000},
    "translation_directory": {"ACCESSES": 400_000},
    "translation_evictions": {"ACCESSES": 20_000, "TURNS": 1, "SIZES": (32,)},
    "two_workers": {"RUNS": 200},
    "costs_of_a_run": {"LONG": 2, "ROUNDS": 1, "POINTS": 2_000},
    "identity": {"LOOKS": 100},
    "importers": {"BYTES": 200_000, "KERNELS": 2_000},
}
OF_ONE_SIZE = (
    "sweep_10000_runs", "runs_100000", "fixed_cost_of_a_run", "pool_service", "first_results", "translation_stream",
    "tuner_overhead", "node",
)  # fmt: skip
"""They take minutes, and call nothing but what users call: sweeps, studies and the service."""


def test_every_benchmark_is_run_here_or_is_of_one_size():
    assert {*SMALL, *OF_ONE_SIZE} == set(benchmarks.BENCHMARKS)


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("name", [*SMALL])
def test_it_runs_and_counts_what_was_done(name, monkeypatch):
    room = importlib.import_module(benchmarks.BENCHMARKS[name].partition(":")[0])
    for constant, value in SMALL[name].items():
        assert hasattr(room, constant), constant
        monkeypatch.setattr(room, constant, value)
    rows = benchmarks.run([name])
    assert rows
    assert all(row["items"] > 0 and row["items_per_second"] > 0 for row in rows)


@pytest.mark.slow
def test_faults_come_from_their_seed_each_once_and_can_be_planted():
    drawn = [*mutants.drawn(12, 36)]
    assert drawn == [*mutants.drawn(12, 36)] != [*mutants.drawn(12, 37)]
    assert len({(fault.source, fault.function, fault.place) for fault in drawn}) == 12
    assert all(mutants._planted(fault) and mutants.tests_of(fault.source) for fault in drawn)
    assert all(fault.was != fault.becomes for fault in drawn)


@pytest.mark.slow
def test_a_planted_fault_is_in_the_function_that_everybody_has():
    """Of a quantile `share * len(values)` becomes a sum, which is no place of 200 numbers."""
    kept, file = statistics.quantile.__code__, statistics.quantile.__code__.co_filename
    module = ast.parse(Path(file).read_text(encoding="utf-8"))
    node = next(node for name, _, node in mutants._places(module) if ast.unparse(node) == "share * len(values)")
    mutants._change(node)
    assert dispatch_rows.quantile(np.arange(200), 0.5) == 99
    try:
        mutants._plant(file, compile(module, file, "exec"))
        with pytest.raises(ValueError, match="out of bounds"):
            dispatch_rows.quantile(np.arange(200), 0.5)
    finally:
        statistics.quantile.__code__ = kept
    assert dispatch_rows.quantile(np.arange(200), 0.5) == 99
