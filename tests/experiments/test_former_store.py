"""Folders of version 0.4: what their SQLite file holds is kept in row files from the first driver on."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.experiments.stores import rows_of
from tests.slow import LONG
from workbench.errors import StoreError
from workbench.experiments.former_store import FORMAT, _checksum, _meta_checksum, _origin_checksum
from workbench.experiments.results_folder import FORMER, ROWS, has_store
from workbench.experiments.row import Row, kept, origin_id, run_id
from workbench.experiments.store import Store, _line, _text

POINT, ORIGIN = "a" * 32, '{"sources":"8c"}'
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points (id TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (
    id TEXT PRIMARY KEY, point TEXT NOT NULL, seed INTEGER NOT NULL, status TEXT NOT NULL,
    error TEXT NOT NULL, seconds REAL NOT NULL, measures TEXT NOT NULL {more}
) WITHOUT ROWID;
"""
MORE = {
    1: "",
    2: ", at REAL, crc INTEGER",
    3: ", at REAL, crc INTEGER, origin TEXT NOT NULL DEFAULT '', measured TEXT NOT NULL DEFAULT '', origin_crc INTEGER",
}


def row(seed: int, format: int = 3) -> Row:
    origin = ORIGIN if format == 3 and seed % 2 else ""
    return Row(
        run_id(POINT, seed), POINT, seed, "done", "", seed / 7, {"cycles": seed / 3}, origin, "5e" if origin else ""
    )


def former(folder: Path, rows: list[Row], format: int = 3, logged: bool = False) -> Path:
    """Write a store as versions 0.1 to 0.4 wrote it; with its rows in the write-ahead log, as a kill leaves them."""
    folder.mkdir(exist_ok=True)
    path = folder / FORMER
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.executescript(TABLES.format(more=MORE[format]))
        meta = {"format": str(format), "sweep": "mine"}
        base.executemany("INSERT INTO meta VALUES (?, ?)", {**meta, "checksum": _meta_checksum(meta)}.items())
        base.execute("INSERT INTO points VALUES (?, ?)", (POINT, '{"engine":"x"}'))
        if format == 3:
            base.execute("CREATE TABLE origins (id TEXT PRIMARY KEY, origin TEXT NOT NULL) WITHOUT ROWID")
            base.execute("INSERT INTO origins VALUES (?, ?)", (origin_id(ORIGIN), ORIGIN))
        if logged:
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA wal_autocheckpoint=0")
        for one in (kept(one, 5.0, origin_id(one.origin)) for one in rows):
            values = {1: one[:7], 2: (*one[:8], _checksum(one))}.get(
                format, (*one[:8], _checksum(one), one.origin, one.measured, _origin_checksum(one))
            )
            base.execute(f"INSERT INTO runs VALUES ({', '.join('?' * len(values))})", values)
        if logged:
            whole, log = path.read_bytes(), (folder / f"{FORMER}-wal").read_bytes()
    if logged:
        path.write_bytes(whole)
        (folder / f"{FORMER}-wal").write_bytes(log)
    return path


@pytest.mark.parametrize("logged", [False, True])
@pytest.mark.parametrize("format", [1, 2, 3])
def test_its_rows_are_read_and_go_on_in_row_files(tmp_path, format, logged):
    rows = [row(seed, format) for seed in range(30)]
    path = former(tmp_path, rows, format, logged)
    assert has_store(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert sorted(rows_of(tmp_path, read_only=True)) == sorted(rows)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    store = Store(tmp_path, "mine")
    assert store.notes == [] and store.meta()["format"] == str(FORMAT)
    assert store.identities() == {POINT: {"engine": "x"}}
    store.add(row(99))
    store.close()
    assert not path.exists() and (tmp_path / f"{FORMER}.former-1").read_bytes() == before[FORMER]
    assert sorted(rows_of(tmp_path)) == sorted([*rows, row(99)])


def test_one_of_another_sweep_and_a_newer_one_are_refused_and_left_as_they_are(tmp_path):
    path = former(tmp_path, [row(1)])
    before = path.read_bytes()
    with pytest.raises(StoreError, match="belongs to the sweep 'mine', not to 'other'"):
        Store(tmp_path, "other")
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as base, base:
        meta = {"format": "4", "sweep": "mine"}
        base.executemany("REPLACE INTO meta VALUES (?, ?)", {**meta, "checksum": _meta_checksum(meta)}.items())
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"newer version \(format 4\)"):
            Store(tmp_path, "mine", read_only=read_only)


@pytest.mark.parametrize("column", ["measures", "origin", "measured", "origin_crc"])
def test_a_row_that_is_not_what_was_written_is_left_out_and_the_file_is_kept(tmp_path, column):
    path = former(tmp_path, [row(seed) for seed in range(5)])
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f"UPDATE runs SET {column} = '7' WHERE seed = 2")
    with pytest.raises(StoreError, match=r"is damaged; running the sweep into this folder again keeps every row"):
        rows_of(tmp_path, read_only=True)
    store = Store(tmp_path, "mine")
    (note,) = store.notes
    store.close()
    assert "rows of it that can be read (4) were kept, and the file is now store.sqlite.damaged-1" in note
    assert (tmp_path / "store.sqlite.damaged-1").is_file()
    assert {one.seed for one in rows_of(tmp_path)} == {0, 1, 3, 4}


@pytest.mark.parametrize("own", [b"my notes, no database\n" * 40, b"\0" * 4096])
def test_a_file_of_one_s_own_in_its_place_is_kept(tmp_path, own):
    (tmp_path / FORMER).write_bytes(own)
    store = Store(tmp_path, "mine")
    store.close()
    assert (tmp_path / "store.sqlite.damaged-1").read_bytes() == own
    assert "store.sqlite.damaged-1" in store.notes[0]


def test_after_any_flipped_bit_nothing_is_invented_and_the_file_is_kept(tmp_path):
    """What SQLite cannot read any more is done anew, and the file stays for who can read more of it."""
    rows = {one.id: one for one in map(row, range(24))}
    content = former(tmp_path / "whole", [*rows.values()]).read_bytes()
    for place, bit in enumerate(range(0, 8 * len(content), 8 * len(content) // (1500 if LONG else 60) + 1)):
        folder = tmp_path / str(place)
        folder.mkdir()
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        (folder / FORMER).write_bytes(damaged)
        store = Store(folder, "mine")
        result = {one.id: one._replace(origin="") for one in store.rows()}
        store.close()
        assert all(one == rows[key]._replace(origin="") for key, one in result.items()), bit
        assert store.notes or len(result) == 24, bit
        (aside,) = (file for file in folder.iterdir() if file.name.startswith(FORMER + "."))
        assert aside.read_bytes() == bytes(damaged), bit


TAKEN_OVER = """
import os, sys
from pathlib import Path
from workbench.experiments import store as stores
from workbench.experiments.store import RowFiles
step, seen = int(sys.argv[2]), 0
written, put_aside = RowFiles._write, stores.put_aside

def write(self, folder, lines):
    if step == 1:
        os.write(self._own(folder), lines[: len(lines) // 2])
        os._exit(9)
    written(self, folder, lines)

def aside(path, damaged):
    if step == 2:
        os._exit(9)
    return put_aside(path, damaged)

RowFiles._write, stores.put_aside = write, aside
stores.Store(Path(sys.argv[1]), "mine").close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2])
def test_a_driver_that_is_killed_while_it_takes_over_loses_nothing(tmp_path, step):
    rows = [row(seed) for seed in range(30)]
    former(tmp_path, rows)
    assert subprocess.run([sys.executable, "-c", TAKEN_OVER, str(tmp_path), str(step)], timeout=60).returncode == 9
    assert sorted(rows_of(tmp_path, read_only=True)) == sorted(rows)
    assert sorted(rows_of(tmp_path)) == sorted(rows)
    assert not (tmp_path / FORMER).exists()


def test_row_files_of_format_2_are_read_too(tmp_path):
    old = [row(seed, 2) for seed in range(5)]
    lines = [["meta", "format", "2"], ["meta", "sweep", "mine"], *(["run", *kept(one, 5.0, "")[:8]] for one in old)]
    (tmp_path / ROWS).mkdir()
    (tmp_path / ROWS / "00000000000000000001-far-1.rows").write_bytes(b"".join(map(_line, map(_text, lines))))
    assert sorted(rows_of(tmp_path, read_only=True)) == sorted(old)
    store = Store(tmp_path, "mine")
    store.add(row(9))
    assert store.measured()[row(9).id] == "5e" and store.meta()["format"] == str(FORMAT)
    store.close()
    assert sorted(rows_of(tmp_path)) == sorted([*old, row(9)])
