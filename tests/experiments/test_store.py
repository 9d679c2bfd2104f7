"""Both kinds of store: what is kept stays, what is damaged is told apart from what is intact."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.depth import LONG, long
from tests.experiments.stores import rows_of
from workbench import files
from workbench.cli import main
from workbench.errors import StoreError
from workbench.experiments.progress import status
from workbench.experiments.repair import log_of, salvage
from workbench.experiments.results_folder import STORE, held
from workbench.experiments.row import Row, origin_id, run_id
from workbench.experiments.sqlite_store import SqliteRows
from workbench.experiments.store import ROWS, Store, has_store

KINDS = ["sqlite", "rows"]
SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "seeds": 5,
    "measures": ["drain_cycles"],
}


ORIGINS = {origin_id(text): text for text in ('{"sources":"8c"}', '{"sources":"ünd 9d"}')}


def row(seed: int, status: str = "done", point: str = "a" * 32, **measures: float) -> Row:
    """A row of one of two origins, or of an unknown one."""
    error = "" if status == "done" else "it is broken; ünd so."
    origin = [*ORIGINS.values(), ""][seed % 3]
    numbers = measures or {"cycles": seed * 1.1}
    return Row(run_id(point, seed), point, seed, status, error, seed / 7, numbers, origin, "5e" if origin else "")


def filled(folder: Path, kind: str, rows: list[Row]) -> Path:
    folder.mkdir(exist_ok=True)
    store = Store(folder / STORE, "mine", kind)
    store.add_points([("a" * 32, '{"engine":"x"}')])
    store.add_all(rows)
    store.close()
    return folder / STORE


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_is_read_again_by_whoever_opens_the_folder(tmp_path, kind):
    rows = [row(seed, long=1.5, nan=float("inf")) for seed in range(30)] + [row(99, "failed")]
    path = filled(tmp_path, kind, rows)
    for options in ({}, {"read_only": True}):
        store = Store(path, **options)
        assert sorted(store.rows()) == sorted(rows)
        assert [r.id for r in store.rows()] == sorted(r.id for r in rows)
        assert store.done() == {r.id for r in rows[:30]}
        assert store.identities() == {"a" * 32: {"engine": "x"}}
        assert store.meta()["sweep"] == "mine"
        store.close()
    assert path.is_file() == (kind == "sqlite")
    assert (tmp_path / ROWS).is_dir() == (kind == "rows")


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_done_stays_and_a_failure_may_be_tried_again(tmp_path, kind):
    path = filled(tmp_path, kind, [row(1, cycles=1.0), row(2, "failed")])
    store = Store(path)
    store.add_all([row(1, cycles=2.0), row(2, cycles=3.0)])
    store.add(row(2, "failed"))
    store.close()
    assert {r.seed: (r.status, r.measures) for r in rows_of(path)} == {
        1: ("done", {"cycles": 1.0}),
        2: ("done", {"cycles": 3.0}),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_of_another_sweep_is_refused(tmp_path, kind):
    path = filled(tmp_path, kind, [row(1)])
    with pytest.raises(StoreError, match="belongs to the sweep 'mine', not to 'other'"):
        Store(path, "other")


def test_one_folder_keeps_rows_in_one_way(tmp_path):
    path = filled(tmp_path, "sqlite", [row(1)])
    with pytest.raises(StoreError, match=r"keeps its rows in the file store.sqlite already"):
        Store(path, "mine", "rows")
    path = filled(tmp_path / "other", "rows", [row(1)])
    with pytest.raises(StoreError, match="keeps its rows in the folder rows already"):
        Store(path, "mine", "sqlite")


def test_on_a_network_file_system_rows_go_to_files(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"22 1 8:1 / / rw - ext4 /dev/a rw\n23 22 0:9 / {tmp_path}/far rw - nfs4 host:/x rw\n")
    monkeypatch.setattr(files, "_MOUNTS", mounts)
    for name, kind in (("far", ROWS), ("near", STORE)):
        wb.run(SWEEP, tmp_path / name)
        assert {ROWS, STORE} & {path.name for path in (tmp_path / name).iterdir()} == {kind}


def test_the_table_is_the_same_whichever_way_rows_are_kept(tmp_path):
    tables = [wb.run(SWEEP, tmp_path / kind, store=kind).table for kind in KINDS]
    assert tables[0].equals(tables[1])
    assert wb.open_results(tmp_path / "rows").table.equals(tables[0])


def test_the_files_of_several_drivers_are_merged(tmp_path):
    path = filled(tmp_path, "rows", [row(1), row(2, "failed")])
    one, other = Store(path), Store(path)
    one.add(row(2))
    other.add_all([row(2, "failed"), row(3)])
    one.close()
    other.close()
    assert len(list((tmp_path / ROWS).iterdir())) == 3
    assert sorted(r.seed for r in rows_of(path) if r.status == "done") == [1, 2, 3]


def test_a_line_that_was_cut_short_is_ignored_and_a_damaged_one_costs_itself(tmp_path):
    path = filled(tmp_path, "rows", [row(seed) for seed in range(9)])
    (file,) = (tmp_path / ROWS).iterdir()
    text = file.read_bytes()
    file.write_bytes(text[:-20])
    assert [r.seed for r in sorted(rows_of(path), key=lambda r: r.seed)] == list(range(8))
    assert Store(path, read_only=True).notes == []
    lines = text.splitlines(keepends=True)
    last = next(k for k in reversed(range(len(lines))) if b'"done"' in lines[k])
    lines[last] = lines[last].replace(b"done", b"dane")
    file.write_bytes(b"".join(lines))
    store = Store(path)
    assert len(list(store.rows())) == 8
    assert store.notes == [f"{file}: 1 damaged lines were left out."]
    store.add(row(100))
    store.close()
    assert len(rows_of(path)) == 9


def test_a_full_disk_leaves_whole_lines_behind(tmp_path, monkeypatch):
    path = filled(tmp_path, "rows", [row(1)])
    store = Store(path)
    store.add(row(2))
    written = os.write
    monkeypatch.setattr(os, "write", lambda file, text: full(file, text, written))
    with pytest.raises(StoreError, match=r"cannot be used: No space left on device. Rows that were kept"):
        store.add(row(3))
    monkeypatch.undo()
    assert {r.seed for r in store.rows()} == {1, 2}
    store.add(row(4))
    store.close()
    assert {r.seed for r in rows_of(path)} == {1, 2, 4}


def full(file: int, text: bytes, written) -> int:
    if len(text) > 50:
        return written(file, text[:50])
    raise OSError(28, "No space left on device")


def test_a_store_of_format_1_is_read_and_goes_on(tmp_path):
    base = sqlite3.connect(tmp_path / STORE)
    base.executescript(
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE points (id TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE runs (id TEXT PRIMARY KEY, point TEXT NOT NULL, seed INTEGER NOT NULL, status TEXT NOT NULL,"
        " error TEXT NOT NULL, seconds REAL NOT NULL, measures TEXT NOT NULL) WITHOUT ROWID;"
        "INSERT INTO meta VALUES ('format', '1');"
    )
    old = row(2)
    base.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", (*old[:6], '{"cycles": 2.2}'))
    base.commit()
    base.close()
    assert rows_of(tmp_path / STORE, read_only=True) == [old]
    store = Store(tmp_path / STORE)
    store.add(row(1))
    store.close()
    assert sorted(rows_of(tmp_path / STORE)) == sorted([old, row(1)])


READ = """
import os, sys, workbench as wb
from pathlib import Path
folder = Path(sys.argv[1])
wb.open_results(folder).table, wb.status(folder)
if os.getuid() == 0:
    os.setuid(65534)
try:
    (folder / "new").touch()
except OSError:
    print(len(wb.open_results(folder).table), wb.status(folder).done)
"""


@long
@pytest.mark.parametrize("logged", [False, True])
def test_a_folder_that_cannot_be_written_to_can_be_opened(logged):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "r"
        wb.run(SWEEP, folder)
        if logged:  # as a killed driver leaves it
            base = sqlite3.connect(folder / STORE, isolation_level=None)
            base.execute("PRAGMA wal_autocheckpoint=0")
            base.execute("UPDATE meta SET value = 'of the log' WHERE key = 'sweep'")
            for file in (STORE, STORE + "-wal"):
                shutil.copy(folder / file, Path(name) / file)
            base.close()
            for file in (STORE, STORE + "-wal"):
                shutil.move(Path(name) / file, folder / file)
        Path(name).chmod(0o755)
        folder.chmod(0o555)
        reply = subprocess.run(
            [sys.executable, "-c", READ, str(folder)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        folder.chmod(0o755)
        assert reply.stdout == "10 10\n", reply.stderr


ROW_COUNT = 400


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> bytes:
    path = filled(tmp_path_factory.mktemp("whole"), "sqlite", every_row())
    return path.read_bytes()


def every_row() -> list[Row]:
    """Some with so many measures that their records reach into overflow pages, by more and by less than a page."""
    return [
        row(seed, **{f"measure_{k}": k / 3 for k in range(seed if seed % 5 == 0 else 1)}) for seed in range(ROW_COUNT)
    ]


def test_every_row_of_an_intact_file_is_found_in_its_pages(content):
    salvaged = salvage(content, b"")
    assert sorted(kept.row(salvaged.origins) for kept in salvaged.rows) == sorted(every_row())
    assert salvaged.points == {"a" * 32: '{"engine":"x"}'}
    assert salvaged.meta["sweep"] == "mine"


@long
@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 2**20), st.binary(min_size=1, max_size=300)), min_size=1, max_size=4))
def test_nothing_is_invented_and_little_is_lost_in_damaged_pages(content, damages):
    damaged = bytearray(content)
    pages = set()
    for at, junk in damages:
        at %= len(content) - len(junk)
        damaged[at : at + len(junk)] = junk
        pages |= {at // 4096, (at + len(junk)) // 4096}
    known = {one.id: one for one in every_row()}
    salvaged = salvage(bytes(damaged), b"")
    results = [kept.row(ORIGINS) for kept in salvaged.rows]
    assert all(known[one.id] == one for one in results)
    assert salvaged.origins.items() <= ORIGINS.items()
    assert len(results) >= ROW_COUNT - 40 * len(pages)


@pytest.mark.parametrize("damage", ["tail", "head", "middle", "row"])
def test_a_damaged_store_is_put_aside_and_its_intact_rows_go_on(tmp_path, content, damage):
    path = tmp_path / STORE
    middle = len(content) // 2 // 4096 * 4096
    place = content.find(b"done", middle)
    path.write_bytes(
        {
            "tail": content[:-6000],
            "head": b"\xff" * 4096 + content[4096:],
            "middle": content[:middle] + os.urandom(4096) + content[middle + 4096 :],
            "row": content[:place] + b"dome" + content[place + 4 :],
        }[damage]
    )
    with pytest.raises(StoreError, match=r"is damaged; running the sweep into this folder again keeps every row"):
        rows_of(path, read_only=True)
    store = Store(path, "mine")
    (note,) = store.notes
    result = {r.id: r for r in store.rows()}
    store.add_all(every_row())
    store.close()
    known = {r.id: r for r in every_row()}
    assert result.items() <= known.items()
    assert len(result) >= ROW_COUNT - (1 if damage == "row" else 80)
    assert note == (
        f"{path} was damaged: {len(result)} intact rows were kept, and the damaged file is store.sqlite.damaged-1."
    )
    assert (tmp_path / "store.sqlite.damaged-1").is_file()
    assert sorted(rows_of(path)) == sorted(every_row())


@pytest.mark.parametrize("own", [b"my notes, no database\n" * 40, b"", b"\0" * 4096])
def test_a_file_of_one_s_own_in_the_place_of_a_store_is_kept_and_the_sentence_says_where(tmp_path, own):
    path, aside = tmp_path / "store.sqlite", tmp_path / "store.sqlite.damaged-1"
    path.write_bytes(own)
    store = Store(path, "mine")
    store.close()
    if own:
        assert store.notes == [
            f"{path} held no row that the workbench could read: it is kept as {aside}, and a new file was begun."
        ]
        assert aside.read_bytes() == own
    else:  # an empty file is an empty database, and nothing of anybody's
        assert store.notes == []
        assert not aside.exists()


def test_one_row_that_is_left_of_a_damaged_file_is_one_row(tmp_path):
    path = tmp_path / "store.sqlite"
    store = Store(path, "mine")
    store.add_all(every_row()[:1])
    store.close()
    path.write_bytes(b"\xff" * 100 + path.read_bytes()[100:])
    store = Store(path, "mine")
    store.close()
    assert store.notes == [f"{path} was damaged: 1 intact row was kept, and the damaged file is {path.name}.damaged-1."]


ROWS_FLIPPED = 24


def in_a_log(folder: Path) -> None:
    """Some of the rows where a killed driver leaves them: in the write-ahead log."""
    filled(folder / "live", "sqlite", [row(seed) for seed in range(ROWS_FLIPPED // 2)])
    live = Store(folder / "live" / STORE, "mine")
    for seed in range(ROWS_FLIPPED):
        live.add(row(seed))
    for name in (STORE, STORE + "-wal"):
        shutil.copy(folder / "live" / name, folder / name)
    live.close()
    shutil.rmtree(folder / "live")


MADE = {
    "sqlite": lambda folder: filled(folder, "sqlite", [row(seed) for seed in range(ROWS_FLIPPED)]),
    "log": in_a_log,
    "rows": lambda folder: filled(folder, "rows", [row(seed) for seed in range(ROWS_FLIPPED)]),
}


def flips(content: bytes) -> list[int]:
    """Bits at fixed places: of the header of an SQLite file and what says who may write to it, of the ends of lines
    of another one, and everywhere in equal steps.
    """
    header = [8 * byte + byte % 8 for byte in range(0, 100, 1 if LONG else 5)]
    versions = [8 * byte + bit for byte in (18, 19, 47) for bit in range(0, 8, 1 if LONG else 3)]
    steps = range(0, 8 * len(content), 8 * len(content) // (1500 if LONG else 40) + 1)
    ends = [8 * place + 1 for place, byte in enumerate(content) if byte == 10]
    return sorted({*(header + versions if content[:6] == b"SQLite" else ends), *steps})


@pytest.mark.parametrize("made", MADE)
def test_after_any_flipped_bit_one_run_more_has_every_row_and_repeats_at_most_one(tmp_path, made):
    """At most the row that holds the bit is run again, the damaged file is kept, and nothing is damaged afterwards."""
    whole = tmp_path / "whole"
    whole.mkdir()
    MADE[made](whole)
    rows = {one.id: one for one in map(row, range(ROWS_FLIPPED))}
    name = {"sqlite": STORE, "log": STORE + "-wal", "rows": next(whole.rglob("*.rows"), whole).name}[made]
    (file,) = whole.rglob(name)
    content = file.read_bytes()
    mended = 0
    for bit in flips(content):
        folder = shutil.copytree(whole, tmp_path / "flipped")
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        (folder / file.relative_to(whole)).write_bytes(damaged)
        with suppress(StoreError):
            rows_of(folder / STORE, read_only=True)
            status(folder)
        store = Store(folder / STORE, "mine")
        kept = {one.id: one for one in store.rows()}
        assert all(one._replace(origin="") == rows[key]._replace(origin="") for key, one in kept.items()), bit
        assert len(kept) >= ROWS_FLIPPED - 1 and all("damaged" in note for note in store.notes), bit
        mended += bool(store.notes)
        store.add_all(rows.values())
        store.driven(ROWS_FLIPPED, len(kept))
        store.close()
        again = Store(folder / STORE, "mine")
        assert (again.notes == [] or made == "rows") and len(list(again.rows())) == ROWS_FLIPPED, bit
        again.close()
        aside = [path for path in folder.iterdir() if path.name == f"{STORE}.damaged-1"]
        assert [path.read_bytes() for path in aside] == (
            [bytes(damaged)] if store.notes and made == "sqlite" else []
        ), bit
        shutil.rmtree(folder)
    assert mended >= {"sqlite": 20, "log": 0, "rows": 30}[made]


def test_a_run_into_a_damaged_folder_says_once_what_was_damaged_and_ends_well(tmp_path, capsys):
    sweep = tmp_path / "drain.yaml"
    sweep.write_text(yaml.safe_dump(SWEEP))
    command = ["run", str(sweep), "--out", str(tmp_path / "r")]
    assert main(command) == 0
    content = (tmp_path / "r" / STORE).read_bytes()
    schema, name = content.index(b"CREATE TABLE points"), content.index(b"sweepdrain")
    for byte, bit in ((18, 3), (47, 3), (schema + 13, 1), (schema + 30, 7), (name + 6, 0)):
        damaged = bytearray(content)
        damaged[byte] ^= 1 << bit
        (tmp_path / "r" / STORE).write_bytes(damaged)
        capsys.readouterr()
        assert main(command) == 0, (byte, bit)
        assert "10 intact rows were kept, and the damaged file is" in "".join(capsys.readouterr()), (byte, bit)
        assert main(command) == 0
        assert "intact rows" not in "".join(capsys.readouterr()), (byte, bit)


def test_a_crash_while_mending_leaves_one_whole_file(tmp_path, content):
    mended = tmp_path / (STORE + ".mended")
    mended.write_bytes(content)
    (tmp_path / (STORE + "-wal")).write_bytes(b"of the damaged file")
    assert len(rows_of(tmp_path / STORE)) == ROW_COUNT
    assert not mended.exists()


def test_rows_behind_a_damaged_place_in_the_log_are_kept(tmp_path):
    rows = [row(seed) for seed in range(60)]
    path = tmp_path / "live" / STORE
    path.parent.mkdir()
    store = SqliteRows(path)
    store._base.execute("PRAGMA wal_autocheckpoint=0")
    live = Store(path, "mine")
    for one in rows:
        live.add(one)
    log = bytearray(log_of(path))
    (tmp_path / STORE).write_bytes(path.read_bytes())
    log[len(log) // 3 : len(log) // 3 + 10] = b"damaged!!!"
    (tmp_path / (STORE + "-wal")).write_bytes(log)
    live.close()
    store.close()
    assert sorted(rows_of(tmp_path / STORE)) == sorted(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_who_only_looks_leaves_nothing_behind(tmp_path, kind):
    path = filled(tmp_path, kind, [row(1)])
    there = sorted(tmp_path.rglob("*"))
    store = Store(path, read_only=True)
    assert len(list(store.rows())) == 1
    assert sorted(tmp_path.rglob("*")) == there
    store.close()
    assert sorted(tmp_path.rglob("*")) == there


def test_who_looks_beside_a_driver_sees_what_it_has_kept(tmp_path):
    path = filled(tmp_path, "sqlite", [row(1)])
    driver = Store(path, "mine")
    looks = []
    for seed in (2, 3):
        driver.add(row(seed))
        looks.append(len(rows_of(path, read_only=True)))
    assert looks == [2, 3]
    driver.close()
    with held(tmp_path):  # a driver that is about to open it: what it then keeps must be seen
        early = Store(path, read_only=True)
        driver = Store(path, "mine")
        driver.add(row(4))
        assert len(list(early.rows())) == 4
        driver.close()
        early.close()


def test_a_folder_has_a_store_of_either_kind(tmp_path):
    assert not has_store(tmp_path, STORE)
    for kind in KINDS:
        filled(tmp_path / kind, kind, [row(1)])
        assert has_store(tmp_path / kind, STORE)
