"""A notebook whose data files were edited is executed again, with one sentence that names the file."""

from __future__ import annotations

import os

import nbformat
import pytest

from tests.notebooks.test_batch import finished, tasks_of, written
from workbench.cli.main import main
from workbench.notebooks import run_notebooks
from workbench.notebooks.execution import MARK, kept

CELL = """
import glob, os, sys
import numpy as np
sys.path.insert(0, "elsewhere")
from helper import AIM
print(open("a.csv").read(), np.loadtxt("deep/b.csv"), glob.glob("listed/*"), AIM)
if not os.path.exists("made.txt"):
    open("made.txt", "w").write("1")
print(open("made.txt").read())
try:
    open("absent.csv")
except FileNotFoundError:
    pass
with open("count.txt", "r+") as count:
    number = int(count.read()) + 1
    count.seek(0)
    count.write(str(number))
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A folder with a notebook that reads much, and its batch."""
    folder = tmp_path_factory.mktemp("lab")
    for name in ("deep", "listed", "elsewhere"):
        (folder / name).mkdir()
    for name in ("a.csv", "deep/b.csv", "listed/c.csv", "count.txt"):
        (folder / name).write_text("1\n")
    (folder / "elsewhere/helper.py").write_text("AIM = 1\n")
    written(folder, CELL, parameters=None)
    assert run(folder).status == "done"
    return folder


def run(folder):
    (one,) = run_notebooks(folder / "study.ipynb", out=folder / "out").runs
    return one


def reads(folder):
    return nbformat.read(folder / "out" / "study.ipynb", as_version=4).metadata[MARK]["reads"]


def test_what_a_notebook_reads_stands_in_its_output_and_what_it_writes_does_not(lab):
    assert sorted(reads(lab)) == ["a.csv", "absent.csv", "deep/b.csv", "elsewhere/helper.py", "listed"]
    assert run(lab).status == "kept"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.csv", "deep/b.csv", "listed/d.csv", "elsewhere/helper.py", "absent.csv"])
def test_an_edit_of_a_file_that_a_notebook_reads_has_it_executed_again(lab, capsys, name):
    assert run(lab).status == "kept"
    stamp = (lab / "a.csv").stat()
    (lab / name).write_text("AIM = 2\n" if name.endswith(".py") else "2\n")
    os.utime(lab / name, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert main(["notebook", str(lab / "study.ipynb"), "--out", str(lab / "out")]) == 0
    changed = name if "listed" not in name else "listed"
    message = capsys.readouterr().err
    assert message.startswith(
        f"study.ipynb: ran again, as {changed!r} is not what it was when the notebook read it.\ndone: "
    )
    assert run(lab).status == "kept"


@pytest.mark.parametrize(
    "reads",
    [3, [1], {"a.csv": 3}, {"/dev/zero": "0"}, {"a.csv": [["0"]]}, {"\0": "00"}, {"../" * 3000: "00"}, {"": None}],
    ids=repr,
)
def test_a_record_that_somebody_made_up_is_no_reason_to_keep_an_output(tmp_path, reads):
    (tmp_path / "a.csv").write_text("1")
    (task,) = tasks_of(written(tmp_path, "1", parameters=None))
    output = finished(tmp_path / "out", task).output
    assert kept(tmp_path / "out", task).changed == ""
    node = nbformat.read(output, as_version=4)
    node.metadata[MARK]["reads"] = reads
    nbformat.write(node, output)
    assert kept(tmp_path / "out", task).changed
