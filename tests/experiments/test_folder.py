"""Runs write over no file of the user's: neither one in their place, nor one that a link in the folder leads to."""

import os

import pytest
import yaml

import workbench as wb
from tests.tuning.small import small
from workbench.cli import main
from workbench.errors import StoreError
from workbench.experiments import results_folder
from workbench.experiments.results_folder import (
    FILES,
    LOCK,
    OWN,
    PROVENANCE,
    SWEEP,
    TABLE,
    held,
    write_own,
    write_whole,
)
from workbench.tuning import tune
from workbench.tuning.storages import JOURNAL

LINKS = [os.symlink, os.link]


@pytest.fixture
def thesis(tmp_path):
    path = tmp_path / "thesis.tex"
    path.write_text("three years\nof work")
    yield path
    assert path.read_text() == "three years\nof work"


@pytest.mark.parametrize("link", LINKS)
def test_a_lock_that_leads_to_another_file_is_refused(tmp_path, thesis, link):
    place = tmp_path / "out"
    place.mkdir()
    link(thesis, place / LOCK)
    with (
        pytest.raises(
            StoreError,
            match=r"driver\.lock leads to another file, .* put a copy in its place, or choose another folder",
        ),
        held(place),
    ):
        pass


@pytest.mark.parametrize("link", LINKS)
def test_what_lies_beside_a_file_that_is_written_is_not_written_through(tmp_path, thesis, link):
    link(thesis, tmp_path / f".x.json.{os.getpid()}")
    write_whole(tmp_path / "x.json", "{}")
    assert (tmp_path / "x.json").read_text() == "{}" and not (tmp_path / "x.json").is_symlink()


@pytest.mark.parametrize("link", LINKS)
def test_a_journal_of_a_study_that_leads_to_another_file_is_refused(tmp_path, thesis, link):
    place = tmp_path / "out"
    place.mkdir()
    link(thesis, place / JOURNAL)
    with pytest.raises(StoreError, match=r"study\.journal leads to another file"):
        tune(small(), place, 1)


SWEEP_OF_TWO = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 10},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "seeds": 1,
    "measures": ["drain_cycles"],
}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_user_s_in_the_place_of_a_run_s_is_refused_and_stays(tmp_path, name, capsys):
    sweep = tmp_path / "mine.yaml" if name != SWEEP else tmp_path / SWEEP
    sweep.write_text(yaml.safe_dump(SWEEP_OF_TWO))
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() if name == SWEEP else b"three years of work")
    before = contents(tmp_path)
    assert main(["run", str(sweep), "--out", str(tmp_path)]) == 2
    assert f"{name} is not as a run has left it, and runs would write over it; move it away" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_all_files_of_the_user_s_are_named_in_one_sentence_and_nothing_joins_them(tmp_path):
    for name in (SWEEP, PROVENANCE, TABLE):
        (tmp_path / name).write_text("three years of work")
    before = contents(tmp_path)
    with pytest.raises(StoreError) as refusal:
        wb.run(SWEEP_OF_TWO, tmp_path)
    assert str(refusal.value) == (
        f"{tmp_path / SWEEP}, {PROVENANCE}, {TABLE} are not as a run has left them, and runs would write over them; "
        "move them away, or choose another folder."
    )
    assert contents(tmp_path) == before


@pytest.mark.parametrize("content", ["{", "[]", '{"sweep.yaml": "5e"}', "\xff"])
def test_a_damaged_mark_is_named_and_not_what_it_marks(tmp_path, content):
    wb.run(SWEEP_OF_TWO, tmp_path)
    (tmp_path / OWN).write_text(content, encoding="latin-1")
    with pytest.raises(StoreError, match=r"\.own\.json, which says what runs have written .* is damaged; move it away"):
        wb.run(SWEEP_OF_TWO, tmp_path)
    (tmp_path / OWN).unlink()
    assert len(wb.run(SWEEP_OF_TWO, tmp_path, seeds=2).table) == 4


def test_a_lock_that_drivers_have_signed_stays(tmp_path):
    wb.run(SWEEP_OF_TWO, tmp_path)
    (tmp_path / SWEEP).write_text("edited")
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=r"sweep\.yaml is not as a run has left it"):
        wb.run(SWEEP_OF_TWO, tmp_path)
    assert contents(tmp_path) == before and LOCK in before


def test_figures_of_the_user_s_are_refused_too(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "drain.pdf").write_text("mine")
    with pytest.raises(StoreError, match="figures is not as a run has left it"):
        wb.run(SWEEP_OF_TWO, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


def test_runs_write_over_what_they_have_left_and_not_over_what_was_edited_since(tmp_path):
    wb.run(SWEEP_OF_TWO, tmp_path)
    wb.run(SWEEP_OF_TWO, tmp_path, seeds=3)
    assert yaml.safe_load((tmp_path / SWEEP).read_text())["seeds"] == {"first": 0, "count": 3}
    (tmp_path / SWEEP).write_text((tmp_path / SWEEP).read_text() + "# a thought\n")
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=r"sweep\.yaml is not as a run has left it"):
        wb.run(SWEEP_OF_TWO, tmp_path, seeds=4)
    assert contents(tmp_path) == before


def test_the_folder_of_an_earlier_version_is_taken_as_it_is(tmp_path):
    wb.run(SWEEP_OF_TWO, tmp_path)
    (tmp_path / OWN).unlink()
    wb.run(SWEEP_OF_TWO, tmp_path, seeds=2)
    (tmp_path / PROVENANCE).write_text("edited")
    with pytest.raises(StoreError, match=r"provenance\.json is not"):
        wb.run(SWEEP_OF_TWO, tmp_path, seeds=2)


def test_a_run_that_is_killed_between_the_mark_and_the_file_leaves_no_stranger(tmp_path, monkeypatch):
    with held(tmp_path):
        write_own(tmp_path / SWEEP, "first")
        whole = results_folder.write_whole

        def killed(path, content):
            if path.name == SWEEP:
                raise KeyboardInterrupt
            whole(path, content)

        monkeypatch.setattr(results_folder, "write_whole", killed)
        with pytest.raises(KeyboardInterrupt):
            write_own(tmp_path / SWEEP, "second")
    monkeypatch.undo()
    assert (tmp_path / SWEEP).read_text() == "first"
    with held(tmp_path):
        write_own(tmp_path / SWEEP, "third")
    assert (tmp_path / SWEEP).read_text() == "third"


def test_a_study_writes_over_no_table_of_the_user_s(tmp_path):
    (tmp_path / "trials.csv").write_text("mine")
    with pytest.raises(StoreError, match=r"trials\.csv is not as a run has left it"):
        tune(small(), tmp_path, 1)
    assert (tmp_path / "trials.csv").read_text() == "mine"
