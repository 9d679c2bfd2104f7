"""What a bundle brings along: the files that its sweep names, and the modules that a policy's file imports."""

import json
import os
import subprocess
import sys

import pytest

import workbench as wb
from tests.export.small import runs
from tests.tuning.small import FailsWhenWide
from workbench.cli.main import main
from workbench.export._inputs import write_sweep
from workbench.export.verify import verify
from workbench.parts.source_imports import imports_of

POLICY = """\
from reach import aim
from workbench import lever
from workbench.policies import Placement
from workbench.structures.bitmaps import first_start


class {name}(Placement):
    shift: int = lever(0, least=0, most=9, description="how far")

    def answer(see):
        return first_start(see.free, see.length, aim(see.segments))
"""


def written(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_every_module_beside_a_file_is_found_and_none_elsewhere(tmp_path):
    written(
        tmp_path,
        {
            "policy.py": "import numpy, first\nimport pack.deep.leaf\nfrom names import one\n"
            "def late():\n    from second import two\n    import nowhere_at_all\n",
            "first.py": "import second\nimport policy\n",
            "second.py": "import os.path\n",
            "names/__init__.py": "from .one import *\nfrom . import two\n",
            "second/__init__.py": "import unused\n",
            "names/one.py": "from ..first import second\n",
            "names/two.py": "not python at all (",
            "pack/deep/leaf.py": "",
            "unused.py": "",
            "numpy.txt": "",
        },
    )
    imports = imports_of(tmp_path / "policy.py")
    names = [path.relative_to(tmp_path).as_posix() for path in imports.beside]
    assert names == ["first.py", "names/__init__.py", "names/one.py", "names/two.py", "pack/deep/leaf.py", "second.py"]
    assert imports.elsewhere == ["nowhere_at_all"]


class Named:
    """The sweep of some runs, as far as writing it needs it."""

    until, folder, seeds, mechanism = None, None, [0], None


def sweep_naming(folder, policies):
    class Runs:
        points, seeds = [], [0]

        class plan:
            class sweep(Named):
                pass

    Runs.plan.sweep.folder = folder
    Runs.plan.sweep.config = {"engine": "shared_memory", "policy": {"placement": {"vary": policies}}}
    Runs.plan.sweep.mechanism = type("M", (), {"engine": None})
    Runs.plan.sweep.user_measures = {}
    return Runs


def test_helpers_keep_the_names_that_they_are_imported_by(tmp_path):
    work = written(
        tmp_path / "work",
        {
            **{f"{room}/fit.py": "import reach\n" for room in "ab"},
            **{f"{room}/reach.py": f"{room} = 1\n" for room in "ab"},
            "a/other.py": "import reach\n",
            "c/reach.py": "",
        },
    )
    (tmp_path / "paper").mkdir()
    policies = ["a/fit.py:A", "b/fit.py:B", "a/other.py:C", "c/reach.py:D", "best_fit"]
    assert write_sweep(sweep_naming(work, policies), tmp_path / "paper") == []
    message = (tmp_path / "paper" / "sweep.yaml").read_text()
    named = ("inputs/fit.py:A", "inputs/2/fit.py:B", "inputs/other.py:C", "inputs/3/reach.py:D", "- best_fit")
    assert all(name in message for name in named)
    for home, room in (("inputs", "a"), ("inputs/2", "b")):
        assert (tmp_path / "paper" / home / "reach.py").read_text() == f"{room} = 1\n"


@pytest.mark.slow
def test_a_bundle_runs_on_a_machine_that_has_nothing_else(tmp_path):
    work = written(
        tmp_path / "work",
        {
            "middle.py": POLICY.format(name="Middle"),
            "reach.py": "from far.away import SHARE\n\n\ndef aim(segments):\n    return segments // SHARE\n",
            "far/__init__.py": "",
            "far/away.py": "SHARE = 4\n",
            "sweep.yaml": "engine: shared_memory\nmachine: {segments: 64}\nworkload: {regime: bimodal, count: 20}\n"
            "policy: {placement: {vary: [first_fit, 'middle.py:Middle']}}\nbaseline: {placement: first_fit}\n"
            "seeds: 2\nmeasures: [drain_cycles]\n",
        },
    )
    bundle = wb.run(work / "sweep.yaml").export(tmp_path / "paper")
    assert json.loads((bundle / "manifest.json").read_text())["needs"] == []
    moved = tmp_path / "elsewhere" / "paper"
    moved.parent.mkdir()
    bundle.rename(moved)
    work.rename(tmp_path / "gone")
    kept = ("PATH", "HOME", "PYTHONPATH", "XDG_CACHE_HOME")  # the last for compiled code alone
    clean = {key: os.environ[key] for key in kept if key in os.environ}
    clean["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    command = [sys.executable, "-m", "workbench", "verify", str(moved), "--runs", "all", "--no-figures"]
    trust = [sys.executable, "-m", "workbench", "trust", str(moved), "--yes"]
    subprocess.run(trust, check=True, env=clean, cwd=moved.parent)
    done = subprocess.run(command, capture_output=True, text=True, env=clean, cwd=moved.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("4 of 4 runs done again gave the same bits")
    (moved / "inputs" / "far" / "away.py").write_text("SHARE = 2\n")
    done = subprocess.run(command, capture_output=True, text=True, env=clean, cwd=moved.parent)
    assert done.returncode == 1 and "inputs/far/away.py: is not as it was exported" in done.stdout


def test_a_baseline_in_a_file_is_named_by_its_class(tmp_path):
    policy = POLICY.format(name="Middle").replace("from reach import aim\n", "").replace("aim(see.segments)", "0")
    work = written(tmp_path / "work", {"middle.py": policy})
    sweep = {"engine": "shared_memory", "workload": {"regime": "bimodal", "count": 20}, "seeds": 2}
    placed = {"policy": {"placement": "first_fit"}, "baseline": {"placement": f"{work}/middle.py:Middle"}}
    bundle = wb.run({**sweep, **placed, "measures": ["drain_cycles"]}, workers=0).export(tmp_path / "paper")
    assert "The baseline has placement Middle." in (bundle / "methods.tex").read_text()
    assert verify(bundle, sample=0, figures=False).same


@pytest.mark.slow
def test_what_a_bundle_cannot_bring_along_is_said(tmp_path, capsys):
    results = runs(policy={"placement": {"vary": ["first_fit", FailsWhenWide]}}, seeds=2)
    bundle = results.export(tmp_path / "paper")
    (need,) = json.loads((bundle / "manifest.json").read_text())["needs"]
    assert need.startswith("4 of 8 runs need FailsWhenWide, which the module tests.tuning.small defines")
    assert "class FailsWhenWide(Placement)" in (bundle / "inputs" / "fails_when_wide.source.txt").read_text()
    assert verify(bundle, figures=False).same


@pytest.mark.parametrize("moved", [True, False])
def test_export_prints_what_is_not_in_the_bundle(tmp_path, capsys, monkeypatch, moved):
    import workbench.export._inputs as room

    (tmp_path / "jobs.csv").write_text("arrival,length,duration\n" + "0,3,5\n" * 9)
    if moved:
        monkeypatch.setattr(room, "MOST_BYTES", 10)
    sweep = {"engine": "shared_memory", "workload": {"file": str(tmp_path / "jobs.csv")}, "measures": ["drain_cycles"]}
    wb.run(sweep, tmp_path / "out")
    assert main(["export", str(tmp_path / "out"), "--to", str(tmp_path / "paper")]) == 0
    output = capsys.readouterr().out
    assert ("not in the bundle: " in output and "jobs.csv is too large for a bundle" in output) == moved
    assert (tmp_path / "paper" / "inputs" / "jobs.csv").exists() == (not moved)
    if moved:
        assert str(tmp_path) not in (tmp_path / "paper" / "manifest.json").read_text()
        assert not verify(tmp_path / "paper", sample=0, figures=False).same
        (tmp_path / "paper" / "inputs").mkdir()
        (tmp_path / "jobs.csv").rename(tmp_path / "paper" / "inputs" / "jobs.csv")
        assert verify(tmp_path / "paper", sample=0, figures=False).same
