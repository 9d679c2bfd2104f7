"""Every row says what computed it: through upgrades, crashes and damage, and for whoever reads the folder."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.depth import long
from tests.experiments.stores import rows_of
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.experiments import provenance
from workbench.experiments import provenance as row_origins
from workbench.experiments.provenance import environment, own_origin
from workbench.experiments.repair import salvage
from workbench.experiments.results_folder import PROVENANCE, STORE
from workbench.experiments.row import Kept, MeasuredBy, Row, kept, origin_id, run_id
from workbench.experiments.row_files import RowFiles, _written
from workbench.experiments.sqlite_store import SqliteRows
from workbench.experiments.store import FORMAT, ROWS, Store

KINDS = ["sqlite", "rows"]
POINT = "a" * 32
SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "seeds": 5,
    "measures": ["drain_cycles"],
}
FORMAT_2 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points (id TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (
    id TEXT PRIMARY KEY, point TEXT NOT NULL, seed INTEGER NOT NULL, status TEXT NOT NULL,
    error TEXT NOT NULL, seconds REAL NOT NULL, measures TEXT NOT NULL, at REAL, crc INTEGER
) WITHOUT ROWID;
INSERT INTO meta VALUES ('format', '2'), ('sweep', 'mine');
"""


def row(seed: int, origin: str = "", measured: str = "", **measures: float) -> Row:
    numbers = measures or {"cycles": seed / 3}
    return Row(run_id(POINT, seed), POINT, seed, "done", "", seed / 7, numbers, origin, measured)


def origin_of(number: int) -> str:
    return json.dumps({"sources": f"{number:016x}", "python": "3.11.2", "when": "2026-01-01T00:00:00+00:00"})


def of_format_2(path: Path, rows: list[Row]) -> None:
    """Write a store as 0.4 wrote it."""
    base = sqlite3.connect(path)
    base.executescript(FORMAT_2)
    results = [kept(one, 5.0, "") for one in rows]
    base.executemany(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [(*one[:8], one.checksum()) for one in results]
    )
    base.commit()
    base.close()


def files_of_format_2(folder: Path, rows: list[Row]) -> None:
    folder.mkdir()
    lines = [["meta", "format", "2"], ["meta", "sweep", "mine"], *(["run", *kept(one, 5.0, "")[:8]] for one in rows)]
    (folder / "00000000000000000001-far-1.rows").write_bytes(b"".join(map(_written, lines)))


def old_store(folder: Path, kind: str, rows: list[Row]) -> Path:
    if kind == "sqlite":
        of_format_2(folder / STORE, rows)
    else:
        files_of_format_2(folder / ROWS, rows)
    return folder / STORE


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_of_format_2_is_upgraded_and_its_rows_are_of_unknown_origin(tmp_path, kind):
    old = [row(seed) for seed in range(5)]
    path = old_store(tmp_path, kind, old)
    assert sorted(rows_of(path, read_only=True)) == sorted(old)
    store = Store(path, "mine")
    assert store.notes == []
    assert store.meta()["format"] == str(FORMAT)
    store.add(row(9, origin_of(1), "5e"))
    store.close()
    assert sorted(rows_of(path, read_only=True)) == sorted([*old, row(9, origin_of(1), "5e")])


@pytest.mark.parametrize("kind", KINDS)
def test_an_origin_is_kept_once_and_only_by_who_computes(tmp_path, kind):
    store = Store(tmp_path / STORE, "mine", kind)
    store.driven(3, 0)
    assert store.origins() == {}
    for seed in range(3):
        store.add(row(seed, origin_of(1), "5e"))
    store.add_all([row(7, origin_of(1), "5e"), row(8, origin_of(2), "5e")])
    store.close()
    assert sorted(Store(tmp_path / STORE, read_only=True).origins().values()) == [origin_of(1), origin_of(2)]
    if kind == "rows":
        (file,) = (tmp_path / ROWS).iterdir()
        kinds = [json.loads(line.partition(b" ")[2])[0] for line in file.read_bytes().splitlines()]
        assert kinds.index("origin") < kinds.index("row")
        assert kinds.count("origin") == 2


@pytest.mark.parametrize("kind", KINDS)
def test_two_drivers_with_different_origins_meet_in_one_folder(tmp_path, kind):
    path = tmp_path / STORE
    for number in (1, 2):
        store = Store(path, "mine", kind)
        store.add_all(row(10 * number + k, origin_of(number), "5e") for k in range(number))
        store.close()
    assert {r.seed: r.origin for r in rows_of(path)} == {10: origin_of(1), 20: origin_of(2), 21: origin_of(2)}


def test_drivers_that_write_at_once_name_their_own_origins(tmp_path):
    one, other = (Store(tmp_path / STORE, "mine", "rows") for _ in range(2))
    for seed in range(4):
        (one, other)[seed % 2].add(row(seed, origin_of(seed % 2), "5e"))
    one.close()
    other.close()
    assert {r.seed: r.origin for r in rows_of(tmp_path / STORE)} == {k: origin_of(k % 2) for k in range(4)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measured", ["5e", "6f"])
def test_a_done_run_is_replaced_only_by_one_that_other_code_measured(tmp_path, kind, measured):
    store = Store(tmp_path / STORE, "mine", kind)
    store.add(row(1, origin_of(1), "5e", cycles=1.0))
    store.add(row(1, origin_of(2), measured, cycles=2.0))
    store.add(row(1, origin_of(3))._replace(status="failed", error="it broke."))
    assert store.done(MeasuredBy("5e")) == ({run_id(POINT, 1)} if measured == "5e" else set())
    store.close()
    (result,) = rows_of(tmp_path / STORE)
    assert result.measures == {"cycles": 1.0 if measured == "5e" else 2.0}
    assert result.origin == origin_of(1 if measured == "5e" else 2)


def test_a_row_without_a_checksum_is_damage_since_format_2(tmp_path):
    path = old_store(tmp_path, "sqlite", [row(seed) for seed in range(5)])
    base = sqlite3.connect(path)
    base.execute("UPDATE runs SET crc = NULL, measures = '{\"cycles\": 999}' WHERE seed = 3")
    base.commit()
    base.close()
    with pytest.raises(StoreError, match="is damaged"):
        rows_of(path, read_only=True)
    store = Store(path, "mine")
    (note,) = store.notes
    assert "4 intact rows were kept" in note
    store.close()
    assert {r.seed for r in rows_of(path)} == {0, 1, 2, 4}


def test_rows_of_format_1_in_a_store_that_was_upgraded_since_are_kept(tmp_path):
    path = tmp_path / STORE
    base = sqlite3.connect(path)
    base.executescript(FORMAT_2.replace(", at REAL, crc INTEGER", ""))
    old = kept(row(1), 0.0, "")
    base.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", old[:7])
    base.executescript("ALTER TABLE runs ADD COLUMN at REAL; ALTER TABLE runs ADD COLUMN crc INTEGER;")
    base.commit()
    base.close()
    assert [r.seed for r in rows_of(path)] == [1]


@pytest.mark.parametrize("column", ["origin", "measured", "origin_crc"])
def test_a_damaged_origin_of_a_row_is_found(tmp_path, column):
    path = tmp_path / STORE
    store = Store(path, "mine")
    store.add_all(row(seed, origin_of(seed % 2), "5e") for seed in range(4))
    store.close()
    base = sqlite3.connect(path)
    base.execute(f"UPDATE runs SET {column} = '7' WHERE seed = 2")
    base.commit()
    base.close()
    with pytest.raises(StoreError, match="is damaged"):
        rows_of(path, read_only=True)
    assert {r.seed for r in rows_of(path)} == {0, 1, 3}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_outlive_the_damaged_entry_of_their_origin(tmp_path, kind):
    path = tmp_path / STORE
    store = Store(path, "mine", kind)
    store.add_all(row(seed, origin_of(seed % 2), "5e") for seed in range(4))
    store.close()
    file = path if kind == "sqlite" else next((tmp_path / ROWS).iterdir())
    text = file.read_bytes()
    assert text.count(b"0" * 15 + b"1") == 1
    file.write_bytes(text.replace(b"0" * 15 + b"1", b"0" * 15 + b"7"))
    store = Store(path, "mine")
    assert len(store.notes) == 1
    result = {r.seed: r.origin for r in store.rows()}
    store.close()
    assert result == {0: origin_of(0), 1: "", 2: origin_of(0), 3: ""}


UPGRADE = """
import os, sys, time
from pathlib import Path
from workbench.experiments.sqlite_store import SqliteRows
from workbench.experiments.store import Store
step, seen = int(sys.argv[2]), 0
taken = SqliteRows.upgrade

def slowly(self, values):
    base, seen = self._base, 0
    def traced(statement):
        nonlocal seen
        seen += 1
        if seen == step:
            print("here", flush=True)
            time.sleep(600)  # stands for a kill at this step
    base.set_trace_callback(traced)
    taken(self, values)
    base.set_trace_callback(None)

SqliteRows.upgrade = slowly
Store(Path(sys.argv[1]), "mine").close()
print("ended", flush=True)
"""


@long
@pytest.mark.parametrize("format_1", [False, True])
def test_an_upgrade_that_is_killed_leaves_the_one_or_the_other(tmp_path, format_1):
    """Killed with SIGKILL before each of its statements, until it ends of itself."""
    rows, seen, ended, step = [row(seed) for seed in range(30)], [], False, 0
    while not ended:
        step += 1
        folder = tmp_path / str(step)
        folder.mkdir()
        old_store(folder, "sqlite", rows)
        if format_1:
            base = sqlite3.connect(folder / STORE)
            base.executescript(
                "ALTER TABLE runs DROP COLUMN at; ALTER TABLE runs DROP COLUMN crc; UPDATE meta SET value = '1' "
                "WHERE key = 'format'"
            )
            base.close()
        ended = killed_before(step, folder / STORE)
        seen.append(shape_of(folder / STORE))
        assert sorted(rows_of(folder / STORE, read_only=True)) == sorted(rows)
        store = Store(folder / STORE, "mine")
        assert store.notes == []
        assert store.meta()["format"] == str(FORMAT)
        assert sorted(store.rows()) == sorted(rows)
        store.close()
        assert sorted(rows_of(folder / STORE)) == sorted(rows)
    before, after = ("1" if format_1 else "2", 7 if format_1 else 9, 3), (str(FORMAT), 12, 4)
    assert seen == [before] * seen.count(before) + [after] * seen.count(after)
    assert seen.count(before) > 6
    assert seen[-1] == after


def shape_of(path: Path) -> tuple[str, int, int]:
    """The format that a store names, and how many columns its rows and how many tables it has."""
    base = sqlite3.connect(path)
    ((name,),) = base.execute("SELECT value FROM meta WHERE key = 'format'")
    columns = base.execute("PRAGMA table_info(runs)").fetchall()
    ((tables,),) = base.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'")
    base.close()
    return name, len(columns), tables


def killed_before(step: int, path: Path) -> bool:
    """Upgrade a store in a process that is killed before a statement; True if there were fewer."""
    child = subprocess.Popen([sys.executable, "-c", UPGRADE, str(path), str(step)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    message = child.stdout.readline()
    child.kill()
    child.wait()
    child.stdout.close()
    return message == "ended\n"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8)), max_size=40), st.sampled_from(KINDS), st.booleans())
def test_whoever_wrote_last_is_the_origin(tmp_path_factory, drivers, kind, old):
    """Several drivers keep rows in turn, in a new folder or one of format 2: the first done row of a run stays."""
    folder = tmp_path_factory.mktemp("turns")
    expected = dict.fromkeys(range(3), "") if old else {}
    if old:
        old_store(folder, kind, [row(seed) for seed in range(3)])
    for number, seed in drivers:
        store = Store(folder / STORE, "mine", "auto" if old else kind)
        store.add(row(seed, origin_of(number), ""))
        store.close()
        expected.setdefault(seed, origin_of(number))
    store = Store(folder / STORE, "mine", "auto" if old else kind)
    assert {r.seed: r.origin for r in store.rows()} == expected
    store.close()
    if kind == "sqlite":
        salvaged = salvage((folder / STORE).read_bytes(), b"")
        assert {one.seed: one.row(salvaged.origins).origin for one in salvaged.rows} == expected
    shutil.rmtree(folder)


def test_a_newer_store_is_refused_and_left_as_it_is(tmp_path):
    store = Store(tmp_path / STORE, "mine")
    store.add(row(1, origin_of(1)))
    store.close()
    newer = SqliteRows(tmp_path / STORE)
    newer.upgrade({"format": str(FORMAT + 1)})
    newer.close()
    before = (tmp_path / STORE).read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match=rf"newer version \(format {FORMAT + 1}; this one reads {FORMAT}\)"):
            Store(tmp_path / STORE, "mine", read_only=read_only)
    assert (tmp_path / STORE).read_bytes() == before


def test_an_older_version_finds_a_newer_store_whole(tmp_path):
    """0.4 proves every row by the checksum of its outcome before it looks at the format: it must refuse, not mend."""
    store = Store(tmp_path / STORE, "mine")
    store.add_all(row(seed, origin_of(1), "5e") for seed in range(3))
    store.close()
    base = sqlite3.connect(tmp_path / STORE)
    request = "SELECT id, point, seed, status, error, seconds, measures, at, crc FROM runs"
    assert all(crc == Kept(*values).checksum() for *values, crc in base.execute(request))
    base.close()
    (tmp_path / "x").mkdir()
    store = Store(tmp_path / "x" / STORE, "mine", "rows")
    store.add(row(1, origin_of(1), "5e"))
    store.close()
    (file,) = (tmp_path / "x" / ROWS).iterdir()
    lines = [json.loads(line.partition(b" ")[2]) for line in file.read_bytes().splitlines()]
    assert {kind for kind, *_ in lines} == {"meta", "origin", "row"}
    assert {len(line) for line in lines} == {3}  # 0.4 takes every kind but `run` for a key and a value


@pytest.mark.parametrize("kind", KINDS)
def test_running_what_is_kept_leaves_provenance_as_it_is(tmp_path, kind, monkeypatch):
    wb.run(SWEEP, tmp_path, store=kind)
    before = (tmp_path / PROVENANCE).read_bytes()
    edited = {**environment(), "sources": "edited", "commit": "other"}
    for room in (row_origins, provenance):
        monkeypatch.setattr(room, "environment", lambda: edited)
    own_origin.cache_clear()
    try:
        wb.run(SWEEP, tmp_path)
        assert (tmp_path / PROVENANCE).read_bytes() == before
        results = wb.run(SWEEP, tmp_path, seeds=7)
    finally:
        own_origin.cache_clear()
    origins = json.loads((tmp_path / PROVENANCE).read_text())["origins"]
    assert [(origin["rows"], origin["commit"] == "other") for origin in origins] == [(10, False), (4, True)]
    assert sum(origin["seconds"] for origin in origins) == pytest.approx(
        sum(one.seconds for one in results.rows.values()), abs=2e-3
    )
    assert results.notes == [
        row_origins.origins_sentence(results.origins),
    ]
    assert results.notes[0].startswith("rows of 2 origins meet: 10 of sources ")


def test_commands_say_that_rows_of_several_origins_meet(tmp_path, capsys, monkeypatch):
    wb.run(SWEEP, tmp_path)
    assert main(["results", str(tmp_path)]) == 0
    assert "origins" not in capsys.readouterr().out
    monkeypatch.setattr(row_origins, "environment", lambda: {**environment(), "sources": "edited"})
    own_origin.cache_clear()
    try:
        wb.run(SWEEP, tmp_path, seeds=6)
    finally:
        own_origin.cache_clear()
    assert main(["results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("rows of 2 origins meet: 10 of sources ")
    assert out.splitlines()[-1].endswith("; 2 of sources edited")


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_every_row_names_the_process_that_computed_it(tmp_path, workers):
    results = wb.run(SWEEP, tmp_path, workers=workers)
    (origin,) = results.origins
    assert origin.rows == 10
    assert origin.facts["sources"]
    assert set(origin.facts) == {"commit", "machine", "packages", "python", "sources"}
    assert all(session <= time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()) for session in origin.sessions)


def test_the_folder_of_several_drivers_is_read_while_one_is_killed(tmp_path):
    """A driver that is killed between an origin's line and its row leaves an origin without rows."""
    files = RowFiles(tmp_path / ROWS)
    files.upgrade({"format": str(FORMAT), "sweep": "mine"})
    files.add([], {origin_id(origin_of(1)): origin_of(1)})
    store = Store(tmp_path / STORE, "mine")
    assert list(store.rows()) == []
    store.add(row(1, origin_of(1), "5e"))
    store.close()
    files.close()
    assert [r.origin for r in rows_of(tmp_path / STORE)] == [origin_of(1)]


def test_a_store_whose_driver_is_new_is_made_in_one_piece(tmp_path):
    SqliteRows(tmp_path / STORE).close()
    store = Store(tmp_path / STORE, "mine")
    assert list(store.rows()) == []
    store.close()
