"""Every row says what computed it: through upgrades, crashes and damage, and for whoever reads the folder."""

from __future__ import annotations

import json
import shutil
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.experiments.stores import rows_of
from tests.slow import examples
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.experiments import origins as row_origins
from workbench.experiments.results_folder import PROVENANCE, ROWS
from workbench.experiments.row_files import RowFiles
from workbench.experiments.store import FORMAT, Store
from workbench.mechanisms.measured_by import MeasuredBy
from workbench.runs import origin as run_origin
from workbench.runs.origin import environment, own_origin
from workbench.runs.row import Row, text_id
from workbench.runs.run import run_id

POINT = "a" * 32
SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "seeds": 5,
    "measures": ["drain_cycles"],
}


def row(seed: int, origin: str = "", measured: str = "", **measures: float) -> Row:
    numbers = measures or {"cycles": seed / 3}
    return Row(run_id(POINT, seed), POINT, seed, "done", "", seed / 7, numbers, origin, measured)


def origin_of(number: int) -> str:
    return json.dumps({"sources": f"{number:016x}", "python": "3.11.2", "when": "2026-01-01T00:00:00+00:00"})


def test_an_origin_is_kept_once_and_only_by_who_computes(tmp_path):
    store = Store(tmp_path, "mine")
    store.driven(3, 0)
    assert store.origins() == {}
    for seed in range(3):
        store.add(row(seed, origin_of(1), "5e"))
    store.add_all([row(7, origin_of(1), "5e"), row(8, origin_of(2), "5e")])
    store.close()
    assert sorted(Store(tmp_path, read_only=True).origins().values()) == [origin_of(1), origin_of(2)]
    (file,) = (tmp_path / ROWS).iterdir()
    kinds = [json.loads(line.partition(b" ")[2])[0] for line in file.read_bytes().splitlines()]
    assert kinds.index("origin") < kinds.index("row")
    assert kinds.count("origin") == 2


def test_two_drivers_with_different_origins_meet_in_one_folder(tmp_path):
    for number in (1, 2):
        store = Store(tmp_path, "mine")
        store.add_all(row(10 * number + k, origin_of(number), "5e") for k in range(number))
        store.close()
    assert {r.seed: r.origin for r in rows_of(tmp_path)} == {10: origin_of(1), 20: origin_of(2), 21: origin_of(2)}


def test_drivers_that_write_at_once_name_their_own_origins(tmp_path):
    one, other = (Store(tmp_path, "mine") for _ in range(2))
    for seed in range(4):
        (one, other)[seed % 2].add(row(seed, origin_of(seed % 2), "5e"))
    one.close()
    other.close()
    assert {r.seed: r.origin for r in rows_of(tmp_path)} == {k: origin_of(k % 2) for k in range(4)}


@pytest.mark.parametrize("measured", ["5e", "6f"])
def test_a_done_run_is_replaced_only_by_one_that_other_code_measured(tmp_path, measured):
    store = Store(tmp_path, "mine")
    store.add(row(1, origin_of(1), "5e", cycles=1.0))
    store.add(row(1, origin_of(2), measured, cycles=2.0))
    store.add(row(1, origin_of(3))._replace(status="failed", error="it broke."))
    assert store.done(MeasuredBy("5e")) == ({run_id(POINT, 1)} if measured == "5e" else set())
    store.close()
    (result,) = rows_of(tmp_path)
    assert result.measures == {"cycles": 1.0 if measured == "5e" else 2.0}
    assert result.origin == origin_of(1 if measured == "5e" else 2)


def test_rows_outlive_the_damaged_entry_of_their_origin(tmp_path):
    store = Store(tmp_path, "mine")
    store.add_all(row(seed, origin_of(seed % 2), "5e") for seed in range(4))
    store.close()
    file = next((tmp_path / ROWS).iterdir())
    text = file.read_bytes()
    assert text.count(b"0" * 15 + b"1") == 1
    file.write_bytes(text.replace(b"0" * 15 + b"1", b"0" * 15 + b"7"))
    store = Store(tmp_path, "mine")
    assert len(store.notes) == 1
    result = {r.seed: r.origin for r in store.rows()}
    store.close()
    assert result == {0: origin_of(0), 1: "", 2: origin_of(0), 3: ""}


@examples(10, 150)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8)), max_size=40))
def test_whoever_wrote_last_is_the_origin(tmp_path_factory, drivers):
    """Several drivers keep rows in turn: the first done row of a run stays."""
    folder, expected = tmp_path_factory.mktemp("turns"), dict[int, str]()
    for number, seed in drivers:
        store = Store(folder, "mine")
        store.add(row(seed, origin_of(number), ""))
        store.close()
        expected.setdefault(seed, origin_of(number))
    assert {r.seed: r.origin for r in rows_of(folder)} == expected
    shutil.rmtree(folder)


def test_a_newer_store_is_refused_and_left_as_it_is(tmp_path):
    store = Store(tmp_path, "mine")
    store.add(row(1, origin_of(1)))
    store.close()
    newer = RowFiles(tmp_path / ROWS)
    newer.add(meta={"format": str(FORMAT + 1)})
    newer.close()
    before = {file: file.read_bytes() for file in (tmp_path / ROWS).iterdir()}
    for read_only in (False, True):
        with pytest.raises(StoreError, match=rf"newer version \(format {FORMAT + 1}; this one reads {FORMAT}\)"):
            Store(tmp_path, "mine", read_only=read_only)
    assert {file: file.read_bytes() for file in (tmp_path / ROWS).iterdir()} == before


def test_an_older_version_finds_a_newer_store_whole(tmp_path):
    """0.4 takes every kind of line but `run` for a key and a value."""
    store = Store(tmp_path, "mine")
    store.add(row(1, origin_of(1), "5e"))
    store.close()
    (file,) = (tmp_path / ROWS).iterdir()
    lines = [json.loads(line.partition(b" ")[2]) for line in file.read_bytes().splitlines()]
    assert {kind for kind, *_ in lines} == {"meta", "origin", "row"}
    assert {len(line) for line in lines} == {3}


@pytest.mark.slow
def test_running_what_is_kept_leaves_provenance_as_it_is(tmp_path, monkeypatch):
    wb.run(SWEEP, tmp_path)
    before = (tmp_path / PROVENANCE).read_bytes()
    edited = {**environment(), "sources": "edited", "commit": "other"}
    monkeypatch.setattr(run_origin, "environment", lambda: edited)
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
    monkeypatch.setattr(run_origin, "environment", lambda: {**environment(), "sources": "edited"})
    own_origin.cache_clear()
    try:
        wb.run(SWEEP, tmp_path, seeds=6)
    finally:
        own_origin.cache_clear()
    assert main(["results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("rows of 2 origins meet: 10 of sources ")
    assert out.splitlines()[-1].endswith("; 2 of sources edited")


@pytest.mark.parametrize("workers", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
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
    files.add(origins={text_id(origin_of(1)): origin_of(1)}, meta={"format": str(FORMAT), "sweep": "mine"})
    store = Store(tmp_path, "mine")
    assert list(store.rows()) == []
    store.add(row(1, origin_of(1), "5e"))
    store.close()
    files.close()
    assert [r.origin for r in rows_of(tmp_path)] == [origin_of(1)]
