"""A results folder of version 0.5 is read by this one: its rows are shown, and a run simulates them again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

import workbench as wb
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.experiments.earlier_rows import _by_levers
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep

FOLDER = Path(__file__).parents[1] / "data" / "results_of_0_5"
"""Written by version 0.5 at commit 823d687c."""

DRAINED = {"first_fit": [4368, 4228, 4212, 4062, 4175], "nearest_boundary": [4160, 4229, 4277, 4104, 4210]}
"""The cycles that its rows hold, by policy and seed."""


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(FOLDER, tmp_path / "kept")


def drained(results):
    table = results.table
    return {
        policy: table[table["policy.placement"] == policy].sort_values("seed")["drain_cycles"].tolist()
        for policy in DRAINED
    }


def test_its_rows_are_shown_with_the_version_that_kept_them(folder):
    before = sorted(path.name for path in folder.rglob("*"))
    results = wb.open_results(folder)
    assert drained(results) == DRAINED
    assert results.notes[0] == (
        f"10 rows are of workbench 0.5.0.dev0, and this is {wb.__version__}, which names runs otherwise; simulate them "
        f"again with: workbench run {folder}/sweep.yaml --out {folder}"
    )
    assert len(results.summary()) == 2
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_a_run_simulates_them_again_and_gives_the_same(folder):
    results = wb.run(folder / "sweep.yaml", folder, workers=0)
    assert drained(results) == DRAINED
    assert {row.origin for row in results.rows.values()} != {
        row.origin for row in wb.open_results(FOLDER).rows.values()
    }
    assert not any("0.5.0" in note for note in wb.open_results(folder).notes)


def test_the_command_prints_them(folder, capsys):
    assert main(["results", str(folder)]) == 0
    printed = capsys.readouterr()
    assert "workbench 0.5.0.dev0" in printed.out + printed.err
    assert "4,210" in printed.out


def test_a_sweep_of_other_levers_has_none_of_them(folder):
    sweep = yaml.safe_load((folder / "sweep.yaml").read_text())
    (folder / "sweep.yaml").write_text(yaml.safe_dump({**sweep, "machine": {"segments": 64}}))
    with pytest.raises(StoreError, match="none of the 10 rows"):
        wb.open_results(folder)


def test_levers_that_were_added_do_not_count_where_a_run_is_as_before():
    """The slots, the options and the levers of specification 7, which version 0.5 did not have."""
    patent = {"preset": "patent_dispatch"}
    sweep = {"engine": "dispatch", "machine": patent, "workload": "head_of_line", "seeds": 1}
    added = {"machine": {**patent, "dies": [8, 8]}, "policy": {"die": "first_die"}, "options": {"pending_depth": 2}}
    texts = []
    for more in ({}, added):
        (point,) = make_plan(read_sweep({**sweep, **more})).points
        (text,) = _by_levers([("point", point.setup.identity())])
        texts.append(text)
    named = ("dies", "barriers_a_module", "admission", '"die"', "concurrency", "pending_depth", "spread", "progress")
    assert [name for name in named if name in texts[0]] == []
    assert [name for name in named if name in texts[1]] == ["dies", '"die"', "pending_depth"]
