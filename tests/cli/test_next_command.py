"""`workbench run` ends with one line: the command that goes on from its results."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from workbench.cli import main

SWEEP = """\
engine: shared_memory
workload: {regime: large_uniform, count: 50}
policy: {placement: {vary: [first_fit, best_fit, nearest_boundary]}}
baseline: {placement: first_fit}
measures: [drain_cycles]
"""
BROKEN = """
import workbench as wb


class Broken(wb.policies.Placement):
    def answer(see):
        return 1 // (see.segments - 64)
"""


@pytest.fixture
def last_line(tmp_path, monkeypatch, capsys):
    """Return what runs a sweep and returns the last line that is printed."""
    monkeypatch.chdir(tmp_path)
    Path("sweep.yaml").write_text(SWEEP)

    def run(*words: str) -> str:
        main(["run", *words])
        return capsys.readouterr().out.splitlines()[-1]

    return run


def test_an_undecided_comparison_is_run_again_with_the_seeds_that_tell(last_line):
    chosen = ["--set", "machine.segments=64"]
    line = last_line("sweep.yaml", "--seeds", "3", *chosen, "--out", "my results")
    command, _, why = line.removeprefix("next: ").partition("  ")
    assert why == "(as many seeds as tell the least effect)"
    words = shlex.split(command)
    assert words[:6] == ["workbench", "run", "sweep.yaml", *chosen, "--seeds"]
    assert int(words[6]) > 3
    assert words[7:] == ["--out", "my results"]
    assert (
        last_line(*words[2:]) == "next: workbench export 'my results' --to paper  (tables, figures, numbers in LaTeX)"
    )


def test_a_list_of_seeds_is_not_replaced(last_line):
    Path("sweep.yaml").write_text(f"{SWEEP}seeds: [7, 8, 9]\n")
    assert last_line("sweep.yaml", "--out", "kept").startswith("next: workbench export kept --to paper")


def test_runs_that_failed_are_tried_again(last_line):
    Path("mine.py").write_text(BROKEN)
    words = ["sweep.yaml", "--set", "policy.placement=mine.py:Broken", "--set", "machine.segments=64"]
    expected = shlex.join(["workbench", "run", *words, "--seeds", "2", "--out", "kept"])
    assert last_line(*words, "--seeds", "2", "--out", "kept") == f"next: {expected}  (tries what failed again)"


def test_json_is_one_object_and_no_further_line(last_line):
    assert json.loads(last_line("sweep.yaml", "--seeds", "2", "--out", "kept", "--json"))["runs"] == 6
