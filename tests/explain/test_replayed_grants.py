"""The grants of a run, replayed on the circuit of its placement."""

from __future__ import annotations

import json
import subprocess

import pytest

import workbench as wb
from tests.needs import needs
from tests.slow import thinned
from workbench.circuits import circuit_of, differences
from workbench.cli import main
from workbench.errors import InputError
from workbench.explain.replayed_grants import replayed, setup_with
from workbench.policies.placement import FirstFit, LastFit

SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": 32},
    "workload": {"synthetic": "random_workgroups", "count": 60, "size": {"uniform": [1, 12]}, "duration": 40,
                 "arrival": {"poisson": {"per_kilocycle": 200}}},
    "policy": {"placement": {"vary": ["first_fit", {"nearest_boundary": {"tie": "alternate"}}, "best_fit", "buddy"]}},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("point", thinned(range(4), 3))
def test_a_circuit_grants_what_the_run_granted(point):
    setup = wb.plan(SWEEP).points[point].setup
    policy, segments, case = replayed(setup, 3)
    grants = [step.outputs["start"] for step in case if step.outputs["granted"]]
    with wb.step(SWEEP, 3, point=point) as run:
        assert grants == [one.answer for one in run if one.answer >= 0]
    assert len(grants) == 60
    assert any(not step.outputs["granted"] for step in case)
    assert any(step.inputs["frees"] and step.inputs["request"] for step in case)
    assert [str(one) for one in differences(circuit_of(policy, segments), [case])] == []
    assert next(differences(circuit_of(LastFit(), segments), [case]), None) is not None


@pytest.mark.slow
@needs("iverilog")
def test_the_command_writes_a_bench_that_replays_the_run(tmp_path, capsys):
    sweep = tmp_path / "s.json"
    sweep.write_text(json.dumps(SWEEP))
    asked = ["circuit", "write", "nearest_boundary", "--run", str(sweep), "--seed", "3", "--to", "bench", "--out"]
    assert main([*asked, str(tmp_path / "b")]) == 0
    compile((tmp_path / "b" / "test_nearest_boundary.py").read_text(), "bench", "exec")
    sources = [str(tmp_path / "b" / f"{name}nearest_boundary.v") for name in ("", "bench_")]
    subprocess.run(["iverilog", "-g2012", "-o", str(tmp_path / "run"), *sources], check=True)
    said = subprocess.run(["vvp", str(tmp_path / "run")], check=True, capture_output=True, text=True).stdout
    assert said.split() == ["0", "wrong"]


def test_what_cannot_be_replayed_is_one_sentence(tmp_path, capsys):
    plan = wb.plan(SWEEP)
    with pytest.raises(InputError, match="no point of the sweep has the placement first_fit; there is best_fit"):
        setup_with(wb.plan(SWEEP, set={"policy.placement": "best_fit"}), FirstFit())
    with pytest.raises(InputError, match="not those of dispatch"):
        replayed(wb.plan({"engine": "dispatch", "workload": {"synthetic": "random_groups"}}).points[0].setup, 0)
    moving = wb.plan({**SWEEP, "policy": {"placement": {"compaction": {"base": "first_fit"}}}})
    with pytest.raises(InputError, match="compaction moves or scatters"):
        replayed(moving.points[0].setup, 3)
    sweep = tmp_path / "s.json"
    sweep.write_text(json.dumps(SWEEP))
    assert main(["circuit", "write", "last_fit", "--run", str(sweep)]) == 2
    assert "there is first_fit, nearest_boundary, best_fit, buddy" in capsys.readouterr().err
    assert len(plan.points) == 4
