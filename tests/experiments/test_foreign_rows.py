"""A folder whose rows are of other runs than its sweep now means says why."""

from __future__ import annotations

import json
import sqlite3

import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.experiments.folder import STORE
from workbench.experiments.store import Store

POLICY = """
from workbench.policies.placement import Placement


class MyFit(Placement):
    def answer(free, segments, length, params, memory):
        for start in range(segments - length + 1):
            if (free[start >> 6] >> (start & 63)) & 1 == 0:
                return -1
        return -1
"""
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
    base = sqlite3.connect(folder / STORE)
    ((point, text),) = base.execute("SELECT * FROM points").fetchall()
    said = json.loads(text)
    said["machine"]["segments"] = 999
    base.execute("UPDATE points SET identity = ? WHERE id = ?", (json.dumps(said), point))
    kept = [row._replace(point="x" * 32) for row in Store(folder / STORE, read_only=True).kept()]
    base.executemany("UPDATE runs SET point = ?, crc = ? WHERE id = ?", [(r.point, r.checksum(), r.id) for r in kept])
    base.commit()
    base.close()
    with pytest.raises(StoreError, match=r"machine.segments is another one since; run it again with"):
        wb.open_results("out")


def test_a_folder_without_any_row_is_shown_as_it_is(folder):
    base = sqlite3.connect(folder / STORE)
    base.execute("DELETE FROM runs")
    base.commit()
    base.close()
    assert len(wb.open_results("out").rows) == 0
