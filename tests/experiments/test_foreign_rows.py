"""A folder whose rows are of other runs than its sweep now means says why."""

from __future__ import annotations

import json
import platform
import shutil

import pytest

import workbench as wb
from tests.experiments.stores import edited
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.experiments.results_folder import ROWS
from workbench.experiments.store import Store
from workbench.runs.run import run_id

POLICY = """
from workbench.policies.placement import Placement


class MyFit(Placement):
    def answer(see):
        for start in range(see.segments - see.length + 1):
            if (see.free[start >> 6] >> (start & 63)) & 1 == 0:
                return -1
        return -1
"""
HERE = ".".join(platform.python_version_tuple()[:2])
SWEEP = "engine: shared_memory\nworkload: large_uniform\npolicy: {placement: 'my_fit.py:MyFit'}\nseeds: 2\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_fit.py").write_text(POLICY)
    (tmp_path / "mine.yaml").write_text(SWEEP)
    wb.run("mine.yaml", "out")
    return tmp_path / "out"


def test_an_edited_policy_is_named(folder, capsys):
    (folder.parent / "my_fit.py").write_text(
        POLICY.replace("return -1\n        return -1", "return -1\n        return -2")
    )
    assert main(["trust", "out", "--yes"]) == 0
    assert main(["results", "out"]) == 2
    assert capsys.readouterr().err == (
        "workbench: none of the 2 rows in out is of its sweep as it reads now: the policy of placement was edited "
        "since; run it again with: workbench run out/sweep.yaml --out out\n"
    )


def test_a_newer_engine_is_named(folder, monkeypatch):
    from workbench.engines.shared_memory import SharedMemory

    monkeypatch.setattr(SharedMemory, "revision", 999)
    with pytest.raises(StoreError, match="the engine shared_memory gives other results since"):
        wb.open_results("out")


def test_another_lever_is_named(folder):
    def changed(line):
        kind, key, value = line
        if kind == "point":
            content = json.loads(value)
            content["machine"]["segments"] = 999
            return [kind, key, json.dumps(content)]
        return [kind, key, ["x" * 32, *value[1:]]] if kind == "row" else line

    edited(folder, changed)
    with pytest.raises(StoreError, match=r"machine.segments is another one since; run it again with"):
        wb.open_results("out")


def test_a_folder_without_any_row_is_shown_as_it_is(folder):
    edited(folder, lambda line: None if line[0] == "row" else line)
    assert len(wb.open_results("out").rows) == 0


def reworded(folder, origin: str) -> None:
    """Let every row of a folder be of another plan and of this origin; empty = as format 2 kept it."""
    store = Store(folder, read_only=True)
    rows = [row._replace(id=run_id("x" * 32, row.seed), point="x" * 32, origin=origin) for row in store.rows()]
    store.close()
    if not origin:
        rows = [row._replace(measured="") for row in rows]
    shutil.rmtree(folder / ROWS)
    store = Store(folder, "mine")
    store.add_all(rows)
    store.close()


@pytest.mark.parametrize(
    ("origin", "reason"),
    [
        ("", "they were made by workbench 0.4 or older, which named runs otherwise"),
        (
            '{"python":"2.7.18","sources":"8c"}',
            f"they were made under Python 2.7, and this is {HERE}, which names runs otherwise",
        ),
    ],
)
def test_rows_that_were_named_otherwise_say_so_when_they_are_looked_at_and_run_into(folder, capsys, origin, reason):
    reworded(folder, origin)
    assert main(["results", "out"]) == 2
    assert f"none of the 2 rows in out is of its sweep as it reads now: {reason}; run" in capsys.readouterr().err
    note = f"none of the 2 rows in this folder is kept for this sweep: {reason}"
    assert main(["plan", "mine.yaml", "--out", "out"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == note
    assert main(["run", "mine.yaml", "--out", "out"]) == 1
    assert f"{note}; they stay, and every run is done again.\n" in capsys.readouterr().err
    assert len(list(Store(folder, read_only=True).rows())) == 4
    assert main(["run", "mine.yaml", "--out", "out", "--seeds", "3"]) == 1
    assert "named" not in capsys.readouterr().err
    assert len(wb.open_results("out").rows) == 3
