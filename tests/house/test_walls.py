"""The house watches itself: import time, import walls, names, catalogue, notebooks without outputs."""

from __future__ import annotations

import ast
import functools
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


@pytest.mark.slow
def test_the_walls_stand():
    program = Path(sys.executable).parent / "lint-imports"
    reply = subprocess.run([program], cwd=ROOT, capture_output=True, text=True)
    assert reply.returncode == 0, reply.stdout


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
ROOMS = re.findall(r"workbench\.(\w+)", " ".join(CONTRACTS[0]["layers"]))


def test_every_package_is_a_layer():
    there = {
        path.stem for path in (ROOT / "workbench").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__", "__main__"} == set(ROOMS)


def layers_of(picture: str) -> list[set[str]]:
    """Return the packages of each row of the picture of the architecture."""
    return [set(row.partition("  ")[0].split(", ")) for row in picture.splitlines()]


def test_the_picture_of_the_architecture_has_the_layers_of_the_contract():
    page = (ROOT / "docs" / "pages" / "design.md").read_text(encoding="utf-8")
    picture = page.split("```text\n")[1].split("```")[0]
    layers = [set(re.findall(r"workbench\.(\w+)", row)) for row in CONTRACTS[0]["layers"]]
    assert layers_of(picture) == layers
    higher = picture.replace("\ngates ", "\nlower ").replace("\ncli ", "\ngates ")
    assert layers_of(higher) != layers


@pytest.mark.parametrize("contract", CONTRACTS[3:], ids=lambda contract: contract["name"])
def test_a_library_that_one_room_knows_is_forbidden_to_all_others(contract):
    owners = set(ROOMS) - {module.removeprefix("workbench.") for module in contract["source_modules"]}
    assert owners
    assert [owner for owner in owners if not re.search(rf"\b{owner}\b", contract["name"])] == []


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


IMPORT = re.compile(r"^[ \t>.]*from (workbench[\w.]*) import (\([^)]*\)|[\w, ]+)", re.MULTILINE)
MADE_UP = {"tests/compiled/test_cache.py"}
"""Programs that import what a test itself puts there."""


@functools.cache
def names_in(module: str) -> set[str]:
    """Return what a module of the package may be asked for by name; everything where it answers by `__getattr__`."""
    folder = ROOT.joinpath(*module.split("."))
    file = folder.with_suffix(".py") if folder.with_suffix(".py").is_file() else folder / "__init__.py"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    names = {one.stem for one in folder.iterdir()} if folder.is_dir() else set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {one.asname or one.name for one in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names | ({"*"} if "__getattr__" in names or "exported" in names else set())


def unknown_imports(text: str) -> list[str]:
    """Return what a text, of a program within a program too, imports from the package that is not there."""
    bare = ((one[1], re.sub(r" as \w+|#.*", "", one[2])) for one in IMPORT.finditer(text))
    wanted = ((module, name) for module, names in bare for name in re.findall(r"\w+", names))
    return [f"{module}.{name}" for module, name in wanted if not {"*", name} & names_in(module)]


@pytest.mark.slow
def test_programs_within_tests_and_pages_import_what_is_there():
    """Long tests that write a program would fail only in their turn of the rotation."""
    files = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("docs/**/*.md")]
    files += ROOT.glob("workbench/cli/templates/*.txt")
    faults = {
        str(file.relative_to(ROOT)): unknown
        for file in files
        if str(file.relative_to(ROOT)) not in MADE_UP and (unknown := unknown_imports(file.read_text("utf-8")))
    }
    assert faults == {}
    assert unknown_imports("x = '''\nfrom workbench.units import no_such_name\n'''") == ["workbench.units.no_such_name"]
