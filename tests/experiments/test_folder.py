"""Links in a results folder that came from somebody else do not lead to the user's own files."""

import os

import pytest

from tests.studies.tuning.small import small
from workbench.errors import StoreError
from workbench.experiments.folder import LOCK, held, write_whole
from workbench.studies.tuning import tune
from workbench.studies.tuning.journal import JOURNAL

LINKS = [os.symlink, os.link]


@pytest.fixture
def thesis(tmp_path):
    path = tmp_path / "thesis.tex"
    path.write_text("three years\nof work")
    yield path
    assert path.read_text() == "three years\nof work"


@pytest.mark.parametrize("link", LINKS)
def test_a_lock_that_leads_to_another_file_is_refused(tmp_path, thesis, link):
    folder = tmp_path / "out"
    folder.mkdir()
    link(thesis, folder / LOCK)
    with (
        pytest.raises(
            StoreError,
            match=r"driver\.lock leads to another file, .* put a copy in its place, or choose another folder",
        ),
        held(folder),
    ):
        pass


@pytest.mark.parametrize("link", LINKS)
def test_what_lies_beside_a_file_that_is_written_is_not_written_through(tmp_path, thesis, link):
    link(thesis, tmp_path / f".x.json.{os.getpid()}")
    write_whole(tmp_path / "x.json", "{}")
    assert (tmp_path / "x.json").read_text() == "{}" and not (tmp_path / "x.json").is_symlink()


@pytest.mark.parametrize("link", LINKS)
def test_a_journal_of_a_study_that_leads_to_another_file_is_refused(tmp_path, thesis, link):
    folder = tmp_path / "out"
    folder.mkdir()
    link(thesis, folder / JOURNAL)
    with pytest.raises(StoreError, match=r"study\.journal leads to another file"):
        tune(small(), folder, 1)
