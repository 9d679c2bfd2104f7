"""Files of a figure: the same bytes every time, each whole or not at all, and CSV that reads back as what was drawn."""

from __future__ import annotations

import csv
import functools
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.figures.stand_ins import record, runs
from workbench.errors import StoreError
from workbench.figures import figure
from workbench.figures.figure_files import as_csv, save

DRAWN_ANEW = """
import hashlib, sys
from pathlib import Path
from tests.figures.test_save import compared, figure, save
recipe = figure("layout_over_time")
data = recipe.data(compared())
for path in save(recipe.draw(data), data, Path(sys.argv[1]), "layout"):
    print(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
"""


@functools.cache
def compared():
    """Two policies, measured when a test first wants them: a file is collected by every worker."""
    return runs({"first_fit": [record([(0, 0, 4, 0, 4), (0, 1, 3, 4, 4)])], "best_fit": [record([(0, 0, 7, 0, 8)])]})


OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("layout_over_time", "remaining_over_time")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wear_by_segment", *OTHERS])
def test_the_same_data_give_the_same_bytes(tmp_path, name, monkeypatch):
    recipe = figure(name)
    data = recipe.data(compared())
    first = {path.name: path.read_bytes() for path in save(recipe.draw(data), data, tmp_path / "a", name)}
    monkeypatch.setattr(time, "time", lambda: 2e9)
    again = {path.name: path.read_bytes() for path in save(recipe.draw(data), data, tmp_path / "b", name)}
    assert first == again
    assert list(first) == [f"{name}.pdf", f"{name}.png", f"{name}.csv"]
    pdf = first[f"{name}.pdf"]
    assert pdf.startswith(b"%PDF") and b"CreationDate" not in pdf
    assert b"/Type3" not in pdf and b"/FontFile2" in pdf


@pytest.mark.slow
def test_the_same_bytes_in_another_process(tmp_path):
    messages = [
        subprocess.run(
            [sys.executable, "-c", DRAWN_ANEW, str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert messages[0] == messages[1] and len(messages[0].splitlines()) == 3


def test_csv_reads_back_as_what_is_drawn(tmp_path):
    recipe = figure("remaining_over_time")
    data = recipe.data(compared())
    (path,) = save(recipe.draw(data), data, tmp_path, "remaining", kinds=[])
    rows = list(csv.DictReader(path.open()))
    columns = data.columns()
    assert list(rows[0]) == list(columns)
    assert [int(row["time_cycles"]) for row in rows] == columns["time_cycles"].tolist()
    assert [float(row["mean_workgroups"]) for row in rows] == columns["mean_workgroups"].tolist()
    assert {row["low_workgroups"] for row in rows} == {""}


def test_numbers_and_names_survive_csv():
    third = 1 / 3
    text = as_csv({"name": ["a, b", 'says "c"'], "x": np.array([third, np.nan]), "yes": np.array([True, False])})
    rows = list(csv.reader(text.splitlines()))
    assert rows[1] == ["a, b", repr(third), "True"] and float(rows[1][1]) == third
    assert rows[2] == ['says "c"', "", "False"]


def test_columns_of_different_length_are_a_mistake_of_ours():
    with pytest.raises(ValueError, match="zip"):
        as_csv({"a": [1, 2], "b": [1]})


@pytest.fixture
def unrendered(monkeypatch):
    """What is tested is what becomes of the files, not what is in them."""
    monkeypatch.setattr("workbench.figures.figure_files.rendered", lambda sheet, kind: kind.encode())


@pytest.mark.usefixtures("unrendered")
def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    recipe = figure("wear_by_segment")
    data = recipe.data(compared())
    with pytest.raises(StoreError, match="cannot be made: Not a directory"):
        save(recipe.draw(data), data, tmp_path / "file" / "figures", "wear")


@pytest.mark.usefixtures("unrendered")
def test_a_failure_leaves_the_files_of_before(tmp_path, monkeypatch):
    recipe = figure("wear_by_segment")
    data = recipe.data(compared())
    before = {path: path.read_bytes() for path in save(recipe.draw(data), data, tmp_path, "wear")}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StoreError, match="No space left on device"):
        save(recipe.draw(data), data, tmp_path, "wear")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
