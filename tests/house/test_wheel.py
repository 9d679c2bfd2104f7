"""The wheel, installed outside of this tree: what a user has who has no clone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SWEEP = """\
engine: shared_memory
workload: {regime: large_uniform, count: 50}
policy: {placement: {vary: [first_fit, best_fit]}}
baseline: {placement: first_fit}
seeds: 8
measures: [drain_cycles]
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Python in an environment of its own: with the wheel, and what it depends on from this one, but not this tree."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    program = folder / "bin" / "python"
    (place,) = folder.glob("lib/python*/site-packages")
    here = next(path for path in map(Path, sys.path) if (path / "numba").is_dir())
    for package in here.iterdir():
        of_this_tree = package.suffix == ".pth" or package.name == "workbench" or "gpu_policy_workbench" in package.name
        if not (of_this_tree or package.name == "__pycache__" or (place / package.name).exists()):
            (place / package.name).symlink_to(package)
    subprocess.run([program, "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel)], check=True)
    return program


def run(python, folder, *words):
    """Run the command of the wheel in a folder outside of this tree."""
    kept = {"WORKBENCH_CACHE": os.environ["WORKBENCH_CACHE"]} if "WORKBENCH_CACHE" in os.environ else {}
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **kept}
    command = [str(python.parent / "workbench"), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_it_is_installed_there_and_not_taken_from_this_tree(python, tmp_path):
    command = [python, "-c", "import workbench; print(workbench.__file__)"]
    where = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(where).is_relative_to(python.parent.parent)
    assert not Path(where).is_relative_to(ROOT)


def test_it_has_the_data_that_the_package_reads_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "workbench/workloads/catalogue.yaml" in names
    assert any(name.startswith("workbench/specification/") for name in names)
    assert any(name.startswith("workbench/machine/presets/") for name in names)
    for kept in ("sweeps", "notebooks"):
        files = [path for path in sorted((ROOT / kept).rglob("*")) if path.suffix in (".yaml", ".ipynb", ".csv")]
        assert {f"workbench/examples/{path.relative_to(ROOT)}" for path in files} <= set(names)
    assert "workbench/examples/data/made_up_snapshot.pickle.gz" in names
    assert {"workbench/py.typed", "workbench/__init__.pyi", "workbench/policies/pool/__init__.pyi"} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "sweeps/"))]


def test_a_sweep_is_planned_run_and_read_again(python, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    plan = run(python, tmp_path, "plan", "sweep.yaml", "--json")
    assert plan.returncode == 0, plan.stderr
    done = run(python, tmp_path, "run", "sweep.yaml", "--out", "kept", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    again = run(python, tmp_path, "results", "kept", "--csv", "rows.csv")
    assert again.returncode == 0, again.stderr
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 1 + 16


def test_what_it_lists_is_there(python, tmp_path):
    for words in (["list", "policies", "placement"], ["list", "presets"], ["list", "measures"], ["doctor"]):
        listed = run(python, tmp_path, *words)
        assert listed.returncode == 0, (words, listed.stderr)
        assert listed.stdout


def test_a_project_of_the_wheel_runs_and_a_lesson_brings_what_it_reads(python, tmp_path):
    made = run(python, tmp_path, "new", "project", "mine")
    assert made.returncode == 0, made.stderr
    done = run(python, tmp_path / "mine", "run", "sweep.yaml", "--seeds", "2", "--out", "kept")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine" / "kept" / "figures" / "drain_difference.pdf").is_file()
    copied = run(python, tmp_path, "new", "notebook", "torch_allocator")
    assert copied.returncode == 0, copied.stderr
    assert (tmp_path / "data" / "made_up_snapshot.pickle.gz").is_file()
    sweep = run(python, tmp_path, "new", "sweep", "dispatch")
    assert sweep.returncode == 0, sweep.stderr
    assert run(python, tmp_path, "plan", "dispatch.yaml").returncode == 0
