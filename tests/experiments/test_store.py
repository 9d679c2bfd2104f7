"""The store: what is kept stays, what is damaged is told apart from what is intact."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

import workbench as wb
from tests.experiments.stores import rows_of
from tests.slow import LONG
from workbench.cli import main
from workbench.errors import StoreError
from workbench.experiments.progress import status
from workbench.experiments.results_folder import ROWS, has_store
from workbench.experiments.store import Store
from workbench.runs.row import Row, text_id
from workbench.runs.run import run_id

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "seeds": 5,
    "measures": ["drain_cycles"],
}


ORIGINS = {text_id(text): text for text in ('{"sources":"8c"}', '{"sources":"ünd 9d"}')}


def row(seed: int, status: str = "done", point: str = "a" * 32, **measures: float) -> Row:
    """A row of one of two origins, or of an unknown one."""
    error = "" if status == "done" else 'it is broken; ünd so, "dane"]].'
    origin = [*ORIGINS.values(), ""][seed % 3]
    numbers = measures or {"cycles": seed * 1.1}
    return Row(run_id(point, seed), point, seed, status, error, seed / 7, numbers, origin, "5e" if origin else "")


def filled(folder: Path, rows: list[Row]) -> Path:
    folder.mkdir(exist_ok=True)
    store = Store(folder, "mine")
    store.add_points([("a" * 32, '{"engine":"x"}')])
    store.add_all(rows)
    store.close()
    return folder


def test_what_is_kept_is_read_again_by_whoever_opens_the_folder(tmp_path):
    rows = [row(seed, long=1.5, nan=float("inf")) for seed in range(30)] + [row(99, "failed")]
    filled(tmp_path, rows)
    for options in ({}, {"read_only": True}):
        store = Store(tmp_path, **options)
        assert sorted(store.rows()) == sorted(rows)
        assert [r.id for r in store.rows()] == sorted(r.id for r in rows)
        assert store.measured() == {r.id: r.measured for r in rows[:30]}
        assert store.identities() == {"a" * 32: {"engine": "x"}}
        assert store.meta()["sweep"] == "mine"
        store.close()


def test_what_measured_a_row_may_be_any_text(tmp_path):
    rows = [
        row(seed)._replace(measured=text) for seed, text in enumerate(("", "5e", '"a"=b', "\\=1", "5e ünd=1", "]]=2"))
    ]
    filled(tmp_path, rows)
    store = Store(tmp_path, read_only=True)
    assert store.measured() == {r.id: r.measured for r in rows}
    store.close()


def test_a_run_that_is_done_stays_and_a_failure_may_be_tried_again(tmp_path):
    filled(tmp_path, [row(1, cycles=1.0), row(2, "failed")])
    store = Store(tmp_path)
    store.add_all([row(1, cycles=2.0), row(2, cycles=3.0)])
    store.add(row(2, "failed"))
    store.close()
    assert {r.seed: (r.status, r.measures) for r in rows_of(tmp_path)} == {
        1: ("done", {"cycles": 1.0}),
        2: ("done", {"cycles": 3.0}),
    }


def test_a_store_of_another_sweep_is_refused(tmp_path):
    filled(tmp_path, [row(1)])
    with pytest.raises(StoreError, match="belongs to the sweep 'mine', not to 'other'"):
        Store(tmp_path, "other")


def test_the_table_is_the_same_in_memory_and_in_a_folder(tmp_path):
    table = wb.run(SWEEP, tmp_path / "r").table
    assert table.equals(wb.run(SWEEP).table)
    assert wb.open_results(tmp_path / "r").table.equals(table)


def test_the_files_of_several_drivers_are_merged(tmp_path):
    filled(tmp_path, [row(1), row(2, "failed")])
    one, other = Store(tmp_path), Store(tmp_path)
    one.add(row(2))
    other.add_all([row(2, "failed"), row(3)])
    one.close()
    other.close()
    assert len(list((tmp_path / ROWS).iterdir())) == 3
    assert sorted(r.seed for r in rows_of(tmp_path) if r.status == "done") == [1, 2, 3]


def test_a_line_that_was_cut_short_is_ignored_and_a_damaged_one_costs_itself(tmp_path):
    filled(tmp_path, [row(seed) for seed in range(9)])
    (file,) = (tmp_path / ROWS).iterdir()
    text = file.read_bytes()
    file.write_bytes(text[:-20])
    assert [r.seed for r in sorted(rows_of(tmp_path), key=lambda r: r.seed)] == list(range(8))
    assert Store(tmp_path, read_only=True).notes == []
    lines = text.splitlines(keepends=True)
    last = next(k for k in reversed(range(len(lines))) if b'"done"' in lines[k])
    lines[last] = lines[last].replace(b"done", b"dane")
    file.write_bytes(b"".join(lines))
    store = Store(tmp_path)
    assert len(list(store.rows())) == 8
    assert store.notes == [f"{file}: 1 damaged lines were left out."]
    store.add(row(100))
    store.close()
    assert len(rows_of(tmp_path)) == 9


def test_a_full_disk_leaves_whole_lines_behind(tmp_path, monkeypatch):
    filled(tmp_path, [row(1)])
    store = Store(tmp_path)
    store.add(row(2))
    written = os.write
    monkeypatch.setattr(os, "write", lambda file, text: full(file, text, written))
    with pytest.raises(StoreError, match=r"cannot be used: No space left on device. Rows that were kept"):
        store.add(row(3))
    monkeypatch.undo()
    assert {r.seed for r in store.rows()} == {1, 2}
    store.add(row(4))
    store.close()
    assert {r.seed for r in rows_of(tmp_path)} == {1, 2, 4}


def full(file: int, text: bytes, written) -> int:
    if len(text) > 50:
        return written(file, text[:50])
    raise OSError(28, "No space left on device")


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


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_to_can_be_opened():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "r"
        wb.run(SWEEP, folder)
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


ROWS_FLIPPED = 24


def flips(content: bytes) -> list[int]:
    """Bits at fixed places: of the ends of lines, and everywhere in equal steps."""
    steps = range(0, 8 * len(content), 8 * len(content) // (1500 if LONG else 40) + 1)
    return sorted({*(8 * place + 1 for place, byte in enumerate(content) if byte == 10), *steps})


def test_after_any_flipped_bit_one_run_more_has_every_row_and_repeats_at_most_one(tmp_path):
    """At most the row that holds the bit is run again, and nothing is invented."""
    whole = filled(tmp_path / "whole", [row(seed) for seed in range(ROWS_FLIPPED)])
    rows = {one.id: one for one in map(row, range(ROWS_FLIPPED))}
    (file,) = whole.rglob("*.rows")
    content, noticed = file.read_bytes(), 0
    for bit in flips(content):
        folder = shutil.copytree(whole, tmp_path / "flipped")
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        (folder / file.relative_to(whole)).write_bytes(damaged)
        assert status(folder).done == len(rows_of(folder, read_only=True)), bit
        store = Store(folder, "mine")
        kept = {one.id: one for one in store.rows()}
        assert all(one._replace(origin="") == rows[key]._replace(origin="") for key, one in kept.items()), bit
        assert len(kept) >= ROWS_FLIPPED - 1 and all("damaged" in note for note in store.notes), bit
        noticed += bool(store.notes)
        store.add_all(rows.values())
        store.driven(ROWS_FLIPPED, len(kept))
        store.close()
        assert len(rows_of(folder)) == ROWS_FLIPPED, bit
        shutil.rmtree(folder)
    assert noticed >= 30


def test_a_run_into_a_damaged_folder_does_the_damaged_run_anew(tmp_path, capsys):
    sweep = tmp_path / "drain.yaml"
    sweep.write_text(yaml.safe_dump(SWEEP))
    command = ["run", str(sweep), "--out", str(tmp_path / "r")]
    assert main(command) == 0
    (file,) = (tmp_path / "r" / ROWS).iterdir()
    file.write_bytes(file.read_bytes().replace(b'"done"', b'"dane"', 1))
    capsys.readouterr()
    assert main(command) == 0
    assert f"{file.name}: 1 damaged lines were left out." in "".join(capsys.readouterr())
    assert len(wb.open_results(tmp_path / "r").table) == 10


def test_who_only_looks_leaves_nothing_behind(tmp_path):
    filled(tmp_path, [row(1)])
    there = sorted(tmp_path.rglob("*"))
    store = Store(tmp_path, read_only=True)
    assert len(list(store.rows())) == 1
    store.close()
    assert sorted(tmp_path.rglob("*")) == there


def test_who_looks_beside_a_driver_sees_what_it_has_kept(tmp_path):
    filled(tmp_path, [row(1)])
    driver = Store(tmp_path, "mine")
    looks = []
    for seed in (2, 3):
        driver.add(row(seed))
        looks.append(len(rows_of(tmp_path, read_only=True)))
    assert looks == [2, 3]
    driver.close()


def test_a_folder_has_a_store_where_it_has_rows(tmp_path):
    assert not has_store(tmp_path)
    filled(tmp_path, [row(1)])
    assert has_store(tmp_path)
