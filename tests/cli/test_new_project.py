"""`workbench new project`, `sweep`, `study` and `notebook`: files that run as written, and never over a user's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import workbench as wb
from workbench.cli import main
from workbench.cli._new_example import NOTEBOOKS, STUDIES, SWEEPS, shipped
from workbench.cli._new_files import write_new
from workbench.cli._new_project import write_project
from workbench.errors import InputError
from workbench.notebooks.notebook_file import read_notebook

ROOT = Path(__file__).parent.parent.parent


def make(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    """Make a target of a project with this Python."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["make", target, f"PYTHON={sys.executable}"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_project_is_a_plan_a_study_and_a_notebook_of_its_own_rule(tmp_path, capsys):
    assert main(["new", "project", "mine", "--into", str(tmp_path)]) == 0
    output, folder = capsys.readouterr().out, tmp_path / "mine"
    assert f"try it:  cd {folder} && make run" in output
    names = ["Makefile", "README.md", "my_fit.py", "notebook.ipynb", "study.yaml", "sweep.yaml", "test_my_fit.py"]
    assert sorted(path.name for path in folder.iterdir()) == names
    rules = {str(point.coordinates["policy.placement"]) for point in wb.plan(folder / "sweep.yaml").points}
    assert rules == {"first_fit", "nearest_boundary", "my_fit"}
    assert read_notebook(folder / "notebook.ipynb").parameters == ["sweep", "seeds"]
    readme = (folder / "README.md").read_text()
    assert readme.startswith("# mine\n")
    assert len(readme.splitlines()) == 10
    assert "PROJECT" not in readme + (folder / "notebook.ipynb").read_text()


@pytest.mark.slow
def test_its_targets_give_a_figure_a_tested_rule_and_a_paper(tmp_path):
    write_project(tmp_path / "mine")
    sweep = tmp_path / "mine" / "sweep.yaml"
    sweep.write_text(sweep.read_text().replace("seeds: 100", "seeds: 3"))
    for target in ("run", "test", "paper"):
        done = make(sweep.parent, target)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (sweep.parent / "results" / "sweep" / "figures" / "drain_difference.pdf").is_file()
    assert (sweep.parent / "paper" / "main.pdf").is_file() == (shutil.which("pdflatex") is not None)


@pytest.mark.slow
def test_its_study_takes_the_rule(tmp_path):
    write_project(tmp_path / "mine")
    study = str(tmp_path / "mine" / "study.yaml")
    few = ["--trials", "3", "--set", "holdout_seeds.count=3", "--set", "report_seeds=3"]
    assert main(["tune", study, *few, "--out", str(tmp_path / "out"), "--json"]) == 0


def test_a_folder_with_a_file_of_the_users_is_left_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/sweep.yaml").write_text("theirs")
    assert main(["new", "project", "mine"]) == 2
    assert capsys.readouterr().err == "workbench: mine is a folder with files in it; choose another name.\n"
    assert [path.name for path in Path("mine").iterdir()] == ["sweep.yaml"]
    Path("taken").write_text("theirs")
    assert main(["new", "project", "taken"]) == 2
    assert "taken: no file can be written there" in capsys.readouterr().err
    assert Path("taken").read_text() == "theirs"


def test_files_are_written_all_or_none(tmp_path):
    (tmp_path / "b").write_text("theirs")
    with pytest.raises(InputError, match=r"/b: no file can be written there"):
        write_new({tmp_path / "a": b"1", tmp_path / "b" / "c": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize("engine", SWEEPS.sources)
def test_a_copied_sweep_is_one_of_its_engine_and_reads_no_other_file(tmp_path, engine):
    (path,) = SWEEPS.write(engine, None, tmp_path)
    assert path == tmp_path / f"{engine}.yaml"
    assert wb.plan(path).sweep.config["engine"] == engine
    assert "../" not in path.read_text()


@pytest.mark.parametrize("engine", STUDIES.sources)
def test_a_copied_study_is_one_of_its_engine(tmp_path, engine):
    (path,) = STUDIES.write(engine, "mine", tmp_path)
    assert path == tmp_path / "mine.yaml"
    assert yaml.safe_load(path.read_text())["engine"] == engine


@pytest.mark.parametrize("engine", NOTEBOOKS.sources)
def test_a_copied_lesson_has_what_it_reads_beside_it(tmp_path, engine):
    path, *others = NOTEBOOKS.write(engine, None, tmp_path)
    text = path.read_text()
    assert "../" not in text
    assert others
    assert all(str(other.relative_to(tmp_path)) in text for other in others)
    for other in others:
        assert other.read_bytes() == shipped(str(other.relative_to(tmp_path))).read_bytes()


def test_a_second_copy_keeps_what_is_the_same_and_refuses_what_a_user_changed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "notebook", "shared_memory"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "wrote shared_memory.ipynb",
        "wrote what it reads: sweeps/placement/drain.yaml",
        "use it:  workbench notebook shared_memory.ipynb",
    ]
    assert main(["new", "notebook", "shared_memory"]) == 2
    sentence = "workbench: shared_memory.ipynb exists already; choose another name, or another folder with --into.\n"
    assert capsys.readouterr().err == sentence
    assert main(["new", "notebook", "shared_memory", "again.ipynb"]) == 0
    assert capsys.readouterr().out.splitlines() == ["wrote again.ipynb", "use it:  workbench notebook again.ipynb"]
    Path("sweeps/placement/drain.yaml").write_text("mine")
    assert main(["new", "notebook", "shared_memory", "third"]) == 2
    assert "sweeps/placement/drain.yaml exists already" in capsys.readouterr().err
    assert not Path("third.ipynb").exists()
    assert Path("sweeps/placement/drain.yaml").read_text() == "mine"


def test_an_engine_without_such_a_file_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "sweep", "dispach"]) == 2
    line = capsys.readouterr().err
    assert line.startswith("workbench: unknown engine with a sweep to copy 'dispach'; there are dispatch, malloc,")
    assert line.endswith("Did you mean dispatch?\n")
    assert not list(tmp_path.iterdir())


def test_every_lesson_is_a_notebook_that_can_be_read():
    for source in NOTEBOOKS.sources.values():
        assert json.loads(shipped(source).read_text())["nbformat"] == 4
