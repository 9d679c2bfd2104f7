"""Every benchmark of `workbench bench` runs, on little: what it measures is the same code as at its full size."""

from __future__ import annotations

import ast
import gc
import importlib
from pathlib import Path

import numpy as np
import pytest

import benchmarks
from benchmarks import costs_of_a_run, kept_ratios, mutants, turns
from tests.slow import compiled_only
from workbench.docs import _facts
from workbench.metrics import dispatch_rows, statistics

SMALL = {
    "placement_drain": {"WORKGROUPS": 2_000},
    "placement_drain_1824": {"WORKGROUPS": 2_000},
    "place_free": {"STEPS": 20_000},
    "probe_exact_128": {"MASKS": 256, "TIMES": 2},
    "dispatch_full": {"GROUPS": 2_000, "SIMPY_GROUPS": 200, "ROUNDS": 1},
    "dispatch_full_256": {"GROUPS_256": 2_000, "SIMPY_GROUPS": 200, "ROUNDS_256": 1},
    "translation_lru": {"ACCESSES": 20_000, "PAGES": 1_000, "ROUNDS": 1},
    "translation_evictions": {"ACCESSES": 20_000, "ROUNDS": 1, "SIZES": (32,)},
    "pool_growth": {"CACHED_BLOCKS": (1_000, 2_000), "CHURN": 1_000},
    "importers": {"BYTES": 200_000, "KERNELS": 2_000, "ROUNDS": 1},
    "tuner_overhead": {"TRIALS": 12, "ROUNDS": 1},
    "first_results": {"ROUNDS": 1},
}


def test_every_benchmark_is_run_here():
    assert set(SMALL) == set(benchmarks.BENCHMARKS)


def test_the_kept_data_have_every_benchmark_with_its_ratio_between_its_quartiles():
    rows = kept_ratios.kept()
    assert [*dict.fromkeys(row["name"] for row in rows)] == [*benchmarks.BENCHMARKS]
    assert all(0 < float(row["low"]) <= float(row["ratio"]) <= float(row["high"]) for row in rows)
    assert all(int(row["rounds"]) >= 5 for row in rows)


def test_rows_that_are_measured_again_replace_their_own_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_ratios, "DATA", tmp_path / "speed.csv")
    monkeypatch.setattr(_facts, "SPEED", tmp_path / "speed.csv")
    made = turns.row("place_free", "first_fit", "C++", 10, "operations", turns.Ratio(0.5, 0.25, 2.0), 7)
    absent = turns.row("dispatch_full", "16 modules", "SimPy", 10, "groups", None, 7)
    kept_ratios.keep([absent, made])
    first, second = kept_ratios.kept()
    assert (first["name"], first["rounds"], second["ratio"]) == ("place_free", "7", "")
    text = _facts.speed_table()
    assert "| `place_free` | first_fit | C++ | 0.5 | 0.25 to 2 |" in text
    assert "| `dispatch_full` | 16 modules | SimPy (not installed) | - |  |" in text


@pytest.mark.slow
@compiled_only
@pytest.mark.usefixtures("looks_at_new_objects")
@pytest.mark.parametrize("name", [*SMALL])
def test_it_runs_and_counts_what_was_done(name, monkeypatch):
    room = importlib.import_module(benchmarks.BENCHMARKS[name].partition(":")[0])
    monkeypatch.setattr(turns, "ROUNDS", 1)
    for constant, value in SMALL[name].items():
        assert hasattr(room, constant), constant
        monkeypatch.setattr(room, constant, value)
    rows = benchmarks.run([name])
    assert rows
    assert all(row["name"] == name and row["items"] > 0 for row in rows)
    assert all(row["ratio"] > 0 for row in rows if row["rounds"])
    assert all(row["rounds"] or row["reference"].endswith("(not installed)") for row in rows)


@pytest.mark.slow
@compiled_only
@pytest.mark.usefixtures("looks_at_new_objects")
def test_the_costs_of_a_run_are_measured_for_every_way(monkeypatch):
    for constant, value in {"LONG": 2, "ROUNDS": 1, "POINTS": 2_000, "SIZES": range(2, 4)}.items():
        monkeypatch.setattr(costs_of_a_run, constant, value)
    rows = costs_of_a_run.costs_of_a_run()
    assert [row["variant"] for row in rows[: len(costs_of_a_run.WAYS)]] == [*costs_of_a_run.WAYS]
    assert all(row["items"] > 0 for row in rows)


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
        gc.freeze()  # the plant looks at everything
    assert dispatch_rows.quantile(np.arange(200), 0.5) == 99
