"""`workbench tune`: what it prints and keeps, and the way from there to the next sweep."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.tuning.small import small
from workbench.cli._tune import say_levers
from workbench.cli.main import main
from workbench.experiments.results_folder import default_folder

OTHER = "{regime: small_uniform, count: 20}"


@pytest.fixture
def study(tmp_path, monkeypatch) -> str:
    """A study in a folder of its own, of whose figures what is drawn is computed and no picture made."""
    monkeypatch.setattr("workbench.figures.figure_files.rendered", lambda sheet, kind: kind.encode())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "place.yaml").write_text(yaml.safe_dump(small(trials=6)))
    return "place.yaml"


@pytest.mark.slow
def test_a_study_says_how_to_go_on_and_what_it_says_can_be_run(study, capsys):
    assert main(["tune", study, "--out", "out", "--hold-out", OTHER]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "the one to take: the baseline, first_fit, fifo_head_only" in text
    assert "none of 2 comparisons can be decided at 3 seeds: " in text
    assert " workbench run out/best.yaml " in text
    assert "Does what the study place tuned hold on small_uniform_" in text
    assert "at 3 seeds that tuning never saw: " in text
    assert "vary: {front: out}" in text
    assert main(["run", "out/best.yaml"]) == 0
    assert "6 runs" in capsys.readouterr().out
    assert Path("out/best/sweep.yaml").is_file()
    first = sorted(Path("out/front").iterdir())[0]
    assert main(["run", str(first), "--seeds", "1", "--set", "figures=[]"]) == 0
    assert (first.with_suffix("") / "sweep.yaml").is_file()


@pytest.mark.slow
def test_what_it_says_fits_the_terminal(study, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["tune", study, "--out", "out", "--trials", "24", "--hold-out", OTHER]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    table = [line for line in lines if line.startswith("(inert lever)")]
    assert len(table) == 1
    assert [line for line in lines if line.startswith("    drain_cycles ") and " (" in line]
    assert "( ) against the baseline: a ratio above 1, a difference above 0 is better; [ ]" in lines
    assert not [line for line in lines if "nan" in line]


def test_a_share_that_noise_reaches_too_is_no_number(capsys):
    shares = {"front": [0.25, 0.75, 1.0], "drain_cycles": [0.61, 0.39, 0.4]}
    levers = ["policy.placement", "policy.queue.k", "(inert lever)"]
    say_levers(pd.DataFrame({"lever": levers, **shares}))
    _, meaning, *table = capsys.readouterr().out.splitlines()
    assert meaning == "(- = no more than a lever that does nothing reaches by chance)"
    assert [line.split() for line in table] == [
        ["front", "drain_cycles"],
        ["policy.placement", "-", "61"],
        ["policy.queue.k", "-", "-"],
        ["(inert", "lever)", "100", "40"],
    ]


@pytest.mark.slow
def test_the_same_for_a_program(study, capsys):
    assert main(["tune", study, "--out", "out", "--hold-out", OTHER, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["best"]["file"] == "out/best.yaml"
    assert output["best"]["trial"] in [row["trial"] for row in output["pareto"] if row["best"]]
    assert output["hold_out"]["folder"].startswith("out/hold_out/small_uniform_")
    *sentences, seeds = output["hold_out"]["sentences"]
    assert len(sentences) in (1, 3)
    assert seeds.startswith("none of 2 comparisons can be decided at 3 seeds: ")


def test_a_hold_out_that_cannot_be_run_leaves_nothing(study, capsys):
    assert main(["tune", study, "--hold-out", "large_uniform"]) == 2
    assert "hold-out: workload.size must draw at most 32 segments" in capsys.readouterr().err
    assert not Path("results").exists()


def test_results_of_a_sweep_beside_a_study_file_of_one_s_own_go_where_those_of_any_sweep_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text("mine: true\n")
    assert default_folder("next.yaml") == Path("results/next")
    assert default_folder("sweeps/placement/drain.yaml") == Path("results/placement/drain")
