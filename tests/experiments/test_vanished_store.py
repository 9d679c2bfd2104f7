"""A store that is no longer at its path: its driver notices, brings the rows to safety, and says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

import workbench as wb
from workbench.cli import main
from workbench.errors import StoreError
from workbench.experiments import store as stores
from workbench.experiments.progress import Silent
from workbench.experiments.results_folder import ROWS, FileGuard, has_store
from workbench.experiments.store import Store

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "seeds": 10,
    "measures": ["drain_cycles"],
}


def remove_rows(folder: Path) -> None:
    for file in folder.glob(f"{ROWS}/*"):
        file.unlink()


def remove_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def make_it_anew(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def move_away(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))


def give_to_another(folder: Path) -> None:
    """Another sweep has the folder now, and its driver has it open."""
    shutil.rmtree(folder)
    another = folder.with_name("another.yaml")
    another.write_text(yaml.safe_dump({**SWEEP, "seeds": 3}))
    wb.run(another, folder, workers=0)


class Vandal(Silent):
    """Does something to the folder when so many rows were kept."""

    def __init__(self, deed, folder: Path, after: int) -> None:
        self._deed, self._folder, self._left = deed, folder, after
        self.seen = 0

    def advance(self, row) -> None:
        self.seen += 1
        if self.seen == self._left:
            self._deed(self._folder)


def vandalised(tmp_path: Path, deed, after: int) -> tuple[Path, str, int]:
    """The folder of a sweep to which something was done, the sentence that its driver ended with, and rows it saw."""
    folder = tmp_path / "r"
    vandal = Vandal(deed, folder, after)
    with pytest.raises(StoreError) as raised:
        wb.run(SWEEP, folder, workers=0, progress=vandal)
    return folder, str(raised.value), vandal.seen


def kept_in(folder: Path) -> int:
    store = Store(folder, read_only=True)
    try:
        return len(list(store.rows()))
    finally:
        store.close()


@pytest.mark.parametrize("deed", [remove_rows, remove_folder, make_it_anew])
def test_rows_whose_files_were_removed_are_written_again(tmp_path, deed):
    folder, sentence, _ = vandalised(tmp_path, deed, 20)
    assert "r/rows were removed while" in sentence and "finished rows (20) were written there again" in sentence
    assert kept_in(folder) == 20
    again = Vandal(remove_rows, folder, -1)
    assert len(wb.run(SWEEP, folder, workers=0, progress=again).table) == 20
    assert again.seen == 0


def test_it_is_noticed_at_the_next_look_not_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "LOOK_SECONDS", 0.0)
    folder, sentence, seen = vandalised(tmp_path, remove_rows, 4)
    assert "finished rows (5)" in sentence
    assert (seen, kept_in(folder)) == (4, 5)


def test_rows_that_were_moved_away_are_whole_where_they_are(tmp_path):
    folder, sentence, _ = vandalised(tmp_path, move_away, 20)
    assert "moved" in sentence and "/moved/" in sentence and "finished rows (20)" in sentence
    assert not folder.exists()
    assert kept_in(tmp_path / "moved") == 20


def test_another_store_at_the_path_stays_as_it_is_and_the_rows_are_beside_it(tmp_path):
    folder, sentence, _ = vandalised(tmp_path, give_to_another, 20)
    beside = folder / f"{ROWS}.rescued-1"
    assert beside.name in sentence and "finished rows (20)" in sentence
    assert kept_in(folder) == 6
    (tmp_path / "again").mkdir()
    beside.rename(tmp_path / "again" / ROWS)
    assert kept_in(tmp_path / "again") == 20


def test_rows_that_cannot_be_written_again_are_counted_as_lost(tmp_path):
    def put_a_file_there(folder: Path) -> None:
        shutil.rmtree(folder)
        folder.write_text("not a folder")

    _, sentence, _ = vandalised(tmp_path, put_a_file_there, 20)
    assert "finished rows (20) are lost" in sentence


def test_rows_of_earlier_drivers_that_were_removed_are_written_again(tmp_path):
    folder = tmp_path / "r"
    wb.run({**SWEEP, "seeds": 5}, folder, workers=0)
    (earlier,) = (folder / ROWS).iterdir()
    with pytest.raises(StoreError, match="removed"):
        wb.run(SWEEP, folder, workers=0, progress=Vandal(lambda _: earlier.unlink(), folder, 2))
    assert kept_in(folder) == 20


def test_the_command_ends_with_status_2_and_never_says_that_rows_are_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("workbench.cli._run_arguments.Bar", lambda **_: Vandal(move_away, tmp_path / "out", 20))
    file = tmp_path / "s.yaml"
    file.write_text(yaml.safe_dump(SWEEP))
    assert main(["run", str(file), "--out", str(tmp_path / "out"), "--workers", "0"]) == 2
    output = capsys.readouterr()
    assert "kept in" not in output.out and "moved" in output.err


def test_an_anchor_tells_where_its_file_went(tmp_path):
    file = tmp_path / "a"
    file.write_text("x")
    anchor = FileGuard(file)
    assert anchor.holds() and anchor.now_at() == file
    file.rename(tmp_path / "b")
    assert not anchor.holds() and anchor.now_at() == tmp_path / "b"
    file.write_text("another")
    assert not anchor.holds()
    (tmp_path / "b").unlink()
    assert anchor.now_at() is None
    anchor.close()


def test_a_store_in_memory_is_nowhere_to_vanish_from():
    store = Store(None)
    store.prove_place()
    store.close()
    assert not has_store(Path("nowhere"))
