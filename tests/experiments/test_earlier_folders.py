"""Results folders of earlier versions: those of 0.5 are read, those of 0.4 are refused in one sentence."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.experiments.stores import rows_of
from workbench.cli import main
from workbench.experiments.results_folder import FORMER, ROWS
from workbench.experiments.row_files import _line, _text
from workbench.experiments.store import FORMAT, Store
from workbench.runs.row import Row, kept
from workbench.runs.run import run_id

POINT = "a" * 32
SWEEP = "engine: shared_memory\nworkload: large_uniform\nmeasures: [drain_cycles]\nseeds: 2\n"
LINES_OF_0_5 = rb"""
34b204ae ["meta","format","3"]
f1885de1 ["meta","sweep","mine"]
41142575 ["point","a","{\"engine\":\"x\"}"]
90d438a0 ["origin","4e0930d429248668","{\"sources\":\"8c\"}"]
2f753734 ["row","r1",["a",1,"done","",0.5,"{\"cycles\":0.25}",5.0,"4e0930d429248668","5e"]]
""".lstrip()
"""A row file as version 0.5 wrote it."""


def row(seed: int) -> Row:
    return Row(run_id(POINT, seed), POINT, seed, "done", "", seed / 7, {"cycles": seed / 3}, "", "")


def with_row_file(folder: Path, content: bytes) -> None:
    (folder / ROWS).mkdir()
    (folder / ROWS / "00000000000000000001-far-1.rows").write_bytes(content)


@pytest.fixture
def folder_of_0_4(tmp_path, monkeypatch):
    """The current folder, with a sweep and a folder `out` that holds its SQLite file."""
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(SWEEP)
    Path("out").mkdir()
    Path("out/sweep.yaml").write_text(SWEEP)
    with closing(sqlite3.connect(Path("out", FORMER))) as base, base:
        base.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        base.execute("INSERT INTO meta VALUES ('format', '3')")
    return Path("out")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "mine.yaml", "--out", "out"],
        ["plan", "mine.yaml", "--out", "out"],
        ["results", "out"],
        ["status", "out"],
        ["export", "out", "--to", "paper"],
    ],
)
def test_a_folder_of_0_4_is_refused_in_one_sentence_and_left_as_it_is(folder_of_0_4, words, capsys):
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert main(words) == 2
    error = capsys.readouterr().err
    sentence = (
        "out was written by version 0.4: it holds store.sqlite and no row files. Convert it once with version 0.5: "
    )
    assert sentence + "workbench run out/sweep.yaml --out out" in error and error.count("\n") == 1
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in Path().iterdir()) == ["mine.yaml", "out"]


def test_a_folder_that_0_5_converted_is_read(tmp_path):
    with_row_file(tmp_path, LINES_OF_0_5)
    (tmp_path / f"{FORMER}.former-1").write_bytes(b"as 0.5 put it aside")
    (tmp_path / FORMER).write_bytes(b"a file of the user")
    wanted = Row("r1", "a", 1, "done", "", 0.5, {"cycles": 0.25}, '{"sources":"8c"}', "5e")
    assert rows_of(tmp_path, read_only=True) == [wanted]
    store = Store(tmp_path, "mine")
    assert store.notes == [] and store.identities() == {"a": {"engine": "x"}}
    store.add(row(9))
    store.close()
    assert sorted(rows_of(tmp_path)) == sorted([wanted, row(9)])


def test_row_files_of_format_2_are_read(tmp_path):
    old = [row(seed) for seed in range(5)]
    lines = [["meta", "format", "2"], ["meta", "sweep", "mine"], *(["run", *kept(one, 5.0, "")[:8]] for one in old)]
    with_row_file(tmp_path, b"".join(map(_line, map(_text, lines))))
    assert sorted(rows_of(tmp_path, read_only=True)) == sorted(old)
    store = Store(tmp_path, "mine")
    store.add(row(9))
    assert store.measured()[row(9).id] == "" and store.meta()["format"] == str(FORMAT)
    store.close()
    assert sorted(rows_of(tmp_path)) == sorted([*old, row(9)])
