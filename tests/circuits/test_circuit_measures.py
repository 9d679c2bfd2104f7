"""Area, levels, registers and delay of a point's circuits: columns and objectives beside what the engine measures."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import math
import shutil
from typing import Any

import pytest

import workbench as wb
from tests.needs import needs
from workbench.circuits import circuit_of, synthesis
from workbench.circuits import measures as circuit_measures
from workbench.circuits.synthesis import TABLE, key_of, synthesised
from workbench.circuits.yosys import TookTooLong
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.policies.placement import BestFit, Placement
from workbench.policies.probes import BitSerial, ExactRun, GroupedRun, SharedRun

SYNTHESIS = importlib.import_module("workbench.circuits.synthesis")
NAMES = ["area_gates", "levels", "registers", "relative_area", "relative_delay"]
MACHINE = {"preset": "patent_dispatch", "vgprs_a_unit": 16384, "sgprs_a_unit": 0}
"""16 blocks of vector registers a unit, and no scalar ones."""
GROUPS = {"synthetic": "random_groups", "count": 30, "waves": 4, "vgpr_blocks": {"uniform": [1, 4]}}
DISPATCH: dict[str, Any] = {
    "engine": "dispatch",
    "machine": MACHINE,
    "workload": GROUPS,
    "policy": {"probe": {"vary": ["exact_run", "bit_serial", {"grouped_run": {"groups": 8}}]}},
    "baseline": {"probe": "exact_run"},
    "seeds": 2,
    "measures": ["makespan_cycles", *NAMES],
}
MEMORY: dict[str, Any] = {
    "engine": "shared_memory",
    "machine": {"segments": 16},
    "workload": {"synthetic": "random_workgroups", "count": 20, "size": {"uniform": [1, 8]}},
    "policy": {"placement": {"vary": ["best_fit", "worst_fit"]}},
    "baseline": {"placement": "best_fit"},
    "measures": ["drain_cycles", *NAMES],
}


class HighEnd(Placement):
    """Take the highest start; a policy of one's own has no circuit."""

    def answer(see):
        return see.segments - see.length if see.free[0] & 1 else -1


def shipped() -> dict[str, dict[str, str]]:
    with TABLE.open() as file:
        return {row["key"]: row for row in csv.DictReader(file)}


def row_of(policy: Any, size: Any) -> dict[str, str]:
    return shipped()[key_of(circuit_of(policy, size))]


@pytest.fixture
def without_the_extra(monkeypatch):
    """No synthesiser, and nothing remembered of one."""
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if "yosys" in name else find(name))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    circuit_measures._outcome.cache_clear()
    circuit_measures._checked.cache_clear()
    yield
    circuit_measures._outcome.cache_clear()
    circuit_measures._checked.cache_clear()


def by_probe(results: Any, measure: str) -> dict[str, float]:
    return results.table.groupby("policy.probe")[measure].first().to_dict()


@pytest.mark.parametrize("workers", [1, 2])
def test_they_are_columns_of_a_dispatcher_s_sweep_wherever_it_runs(workers, without_the_extra):
    results = wb.run(DISPATCH, workers=workers)
    assert not results.failures
    probes = {"exact_run": ExactRun(), "bit_serial": BitSerial(), "grouped_run(groups=8)": GroupedRun(groups=8)}
    for name, probe in probes.items():
        row = row_of(probe, 16)
        assert {measure: by_probe(results, measure)[name] for measure in NAMES[:-1]} == {
            measure: float(row[measure]) for measure in NAMES[:-1]
        }
        assert by_probe(results, "relative_delay")[name] == probe.round_cycles([16]) * float(row["relative_delay"])
    assert results.table.groupby("policy.probe")[NAMES].nunique().max(axis=None) == 1


def test_the_probes_of_several_resources_add_up_and_a_shared_one_is_one_circuit():
    machine = {"preset": "patent_dispatch", "vgpr_granule": 8, "sgpr_granule": 32}
    shared = SharedRun(width=64)
    policy = {"probe": {"vary": ["prefix_suffix_tree", {"shared_run": {"width": 64}}]}}
    plan = wb.plan({**DISPATCH, "machine": machine, "policy": policy, "baseline": {"probe": "prefix_suffix_tree"}})
    tree, together = (circuit_measures.parts_of(point.setup) for point in plan.points)
    assert [size for _, size in tree.circuits] == [64, 32]
    assert (together.circuits, together.cycles) == (((shared, (64, 32)),), 2)
    rows = [row_of(probe, size) for probe, size in tree.circuits]
    setup = plan.points[0].setup
    assert circuit_measures.area_gates(setup) == sum(int(row["area_gates"]) for row in rows)
    assert circuit_measures.levels(setup) == max(int(row["levels"]) for row in rows)


def test_a_policy_without_a_circuit_has_no_figures():
    results = wb.run(MEMORY)
    assert not results.failures
    table = results.table.set_index("policy.placement")
    assert table.loc["best_fit", "area_gates"] == float(row_of(BestFit(), 16)["area_gates"])
    assert all(math.isnan(table.loc["worst_fit", name]) for name in NAMES)
    own = wb.run({**MEMORY, "policy": {"placement": HighEnd()}, "baseline": {"placement": HighEnd()}})
    assert own.table["registers"].isna().all()


def test_a_sweep_that_does_not_name_them_has_none():
    results = wb.run({key: value for key, value in MEMORY.items() if key != "measures"})
    assert not set(NAMES) & set(results.table.columns)


def test_what_a_circuit_cannot_have_is_said_before_anything_runs():
    policy = {"policy": {"placement": "first_fit"}, "baseline": {"placement": "first_fit"}}
    large = {**MEMORY, **policy, "machine": {"segments": 4096}}
    with pytest.raises(InputError, match=r"segments must be from 2 to 1024 for a circuit\. Got 4096\. Nearest: 1024"):
        wb.run(large)


def test_without_the_extra_one_sentence_says_what_is_missing(tmp_path, monkeypatch, capsys, without_the_extra):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "sweep.yaml").write_text(
        "engine: shared_memory\nmachine: {segments: 11}\nworkload: large_uniform\n"
        "policy: {placement: first_fit}\nmeasures: [area_gates]\n".replace("large_uniform", str(MEMORY["workload"]))
    )
    assert main(["run", str(tmp_path / "sweep.yaml"), "--out", str(tmp_path / "out")]) == 2
    message = capsys.readouterr().err
    assert "synthesising a circuit needs an optional part" in message and "[circuits]" in message
    assert not (tmp_path / "out").exists()


def test_a_name_of_theirs_is_taken():
    def area_gates(record):
        return 1.0

    own = wb.measure(unit="gates", better="lower", description="the user's")(area_gates)
    with pytest.raises(InputError, match="area_gates is already a measure of dispatch"):
        wb.add_measure("dispatch", own)


def test_they_are_objectives_of_a_study(without_the_extra):
    study = {key: value for key, value in DISPATCH.items() if key != "measures"} | {
        "policy": {
            "probe": {
                "tune": [
                    {"exact_run": {"timing": "comb_1cycle"}},
                    {"grouped_run": {"groups": {"tune": {"values": [4, 8]}}}},
                ]
            }
        },
        "objectives": ["relative_area", "relative_delay", "groups_per_kilocycle"],
        "sampler": {"nsga2": {"population": 4, "seed": 0}},
        "trials": 8,
        "holdout_seeds": {"first": 100, "count": 2},
    }
    trials = wb.tune(study).trials
    assert set(trials["status"]) == {"done"}
    (groups,) = {row["policy.probe.grouped_run.groups"] for _, row in trials.iterrows() if row["front"]} - {8.0}
    smallest = trials[trials["policy.probe.grouped_run.groups"] == groups].iloc[0]
    assert smallest["relative_area"] == float(row_of(GroupedRun(groups=int(groups)), 16)["relative_area"])


def test_a_bundle_with_them_is_verified(tmp_path):
    results = wb.run(MEMORY, tmp_path / "runs")
    results.export(tmp_path / "paper")
    assert main(["verify", str(tmp_path / "paper")]) == 0


@needs("pyosys")
def test_one_synthesis_a_circuit_whoever_asks_and_a_time_out_is_not_tried_again(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    asked: list[str] = []
    run = synthesis.run_script

    def counting(script: str, folder: Any, seconds: float) -> None:
        asked.append(script)
        run(script, folder, seconds)

    monkeypatch.setattr(SYNTHESIS, "run_script", counting)
    workload = {**MEMORY["workload"], "size": {"uniform": [1, 5]}}
    few = {"machine": {"segments": 5}, "workload": workload, "policy": {"placement": "best_fit"}}
    sweep = {**MEMORY, **few, "seeds": 2}
    assert not wb.run(sweep, workers=1).failures
    circuit_measures._outcome.cache_clear()
    assert not wb.run(sweep, workers=1).failures
    assert len(asked) == 1

    def too_long(script: str, folder: Any, seconds: float) -> None:
        asked.append(script)
        raise TookTooLong("a synthesiser did not end within 600 s.")

    monkeypatch.setattr(SYNTHESIS, "run_script", too_long)
    late = wb.run({**sweep, "machine": {"segments": 6}}, workers=1)
    assert [row.error for row in late.failures] == ["a synthesiser did not end within 600 s."] * 2
    assert len(asked) == 2


@needs("pyosys")
def test_a_synthesis_anew_gives_the_figures_of_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    row = row_of(GroupedRun(groups=8), 16)
    monkeypatch.setattr(SYNTHESIS, "shipped", lambda circuit, by: None)
    anew = synthesised(circuit_of(GroupedRun(groups=8), 16))
    if anew.by == row["by"]:
        assert {name: str(value) for name, value in anew._asdict().items()} == {
            name: row[name] for name in anew._fields
        }
