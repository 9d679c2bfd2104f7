"""The house watches itself: import time, import walls, names, catalogue, notebooks without outputs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
HEAVY = {"numba", "pandas", "matplotlib", "scipy", "plotly", "ipywidgets", "optuna"}


def test_import_workbench_brings_nothing_heavy():
    code = "import sys, workbench; print(' '.join(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY.isdisjoint(loaded)


def test_the_walls_stand():
    program = Path(sys.executable).parent / "lint-imports"
    reply = subprocess.run([program], cwd=ROOT, capture_output=True, text=True)
    assert reply.returncode == 0, reply.stdout


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
ROOMS = re.findall(r"workbench\.(\w+)", " ".join(CONTRACTS[0]["layers"]))


def test_every_room_is_a_layer_and_stands_in_contributing():
    there = {
        path.stem for path in (ROOT / "workbench").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__", "__main__"} == set(ROOMS)
    drawn = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    assert [room for room in ROOMS if not re.search(rf"\b{room}\b", drawn)] == []


@pytest.mark.parametrize("contract", CONTRACTS[3:], ids=lambda contract: contract["name"])
def test_a_library_that_one_room_knows_is_forbidden_to_all_others(contract):
    (owner,) = set(ROOMS) - {module.removeprefix("workbench.") for module in contract["source_modules"]}
    assert re.search(rf"\b{owner}\b", contract["name"])


@pytest.mark.parametrize("name", ["utils", "helpers", "core", "common", "misc"])
def test_no_file_is_called_by_a_name_that_says_nothing(name):
    assert not list((ROOT / "workbench").rglob(f"{name}.py"))


def test_every_public_module_says_what_it_is():
    silent = [
        p for p in (ROOT / "workbench").rglob("*.py") if p.read_text().strip() and '"""' not in p.read_text()[:400]
    ]
    assert [p.name for p in silent if p.name != "__main__.py"] == []


def test_notebooks_are_committed_without_outputs():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        assert not [cell for cell in cells if cell.get("outputs")], path.name


def test_the_lock_holds_hashes_and_no_addresses():
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    assert not [line for line in text.splitlines() if line.startswith("-")]
    assert text.count("--hash=sha256:") > 100
