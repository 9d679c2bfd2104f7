"""The recipes of the pages and the blocks of README.md are run, so they stay true."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.parts.installed import pip_environment
from tests.slow import thinned

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"<!-- recipe: (?P<name>.+?) -->\n```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)


def recipes(text: str) -> dict[str, list[tuple[str, str]]]:
    result: dict[str, list[tuple[str, str]]] = {}
    for match in BLOCK.finditer(text):
        result.setdefault(match["name"], []).append((match["kind"], match["text"]))
    return result


PAGES = ROOT / "docs" / "pages"
RECIPE_PAGES = [PAGES / "recipes.md", *sorted((PAGES / "recipes").glob("*.md"))]
ARCHITECTURE = PAGES / "design.md"
RECIPES = recipes("\n".join(page.read_text(encoding="utf-8") for page in (ARCHITECTURE, *RECIPE_PAGES)))
MOST_LINES = 150
"""Upper bound on the lines of a page for contributors."""


def test_a_page_for_contributors_is_short():
    pages = [ROOT / "CONTRIBUTING.md", ARCHITECTURE, PAGES / "proof.md", *RECIPE_PAGES]
    lines = {page.name: page.read_text(encoding="utf-8").count("\n") for page in pages}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def run_block(kind: str, text: str, folder: Path, environment: Mapping[str, str] | None = None) -> str:
    bin_folder = Path(sys.executable).parent
    command = (
        ["bash", "-euc", f'export PATH="{bin_folder}:$PATH"; {text}']
        if kind == "bash"
        else [sys.executable, "-c", text]
    )
    reply = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert reply.returncode == 0, reply.stdout + reply.stderr
    assert " runs failed" not in reply.stderr, reply.stderr
    return reply.stdout


def test_the_recipes_that_are_promised_are_there():
    kinds = (
        "policy",
        "slot",
        "measure",
        "figure",
        "claim",
        "dashboard",
        "workload generator",
        "importer",
        "engine",
        "circuit",
        "machine preset",
    )
    adding = {f"add {'an' if kind[0] in 'ei' else 'a'} {kind}" for kind in kinds}
    assert set(RECIPES) == {"follow a run", *adding}


STATION = re.compile(r"`(?P<file>[\w/]+\.py)`: (?P<names>`[\w.]+`(?:, `[\w.]+`(?!:))*)")


@functools.cache
def defined_in(file: str) -> set[str]:
    """Return the functions and classes of a module."""
    tree = ast.parse((ROOT / "workbench" / file).read_text(encoding="utf-8"))
    return {one.name for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}


def missing_stations(text: str) -> list[str]:
    """Return what the tour through one run names that is not defined there."""
    missing = []
    for station in STATION.finditer(text):
        defined = defined_in(station["file"])
        missing += [
            f"{station['file']}: {name}" for name in re.findall(r"[\w.]+", station["names"]) if name not in defined
        ]
    return missing


def test_the_tour_through_one_run_names_functions_that_are_there():
    tour = ARCHITECTURE.read_text(encoding="utf-8").split("## One run")[1].split("\n## ")[0]
    assert len(STATION.findall(tour)) >= 20
    assert missing_stations(tour) == []
    moved = tour.replace("`read_sweep`", "`sweep_read`")
    assert missing_stations(moved) == ["experiments/sweep.py: sweep_read"]


@pytest.mark.slow
def test_the_policy_of_the_readme_runs(tmp_path):
    result = recipes((ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(result) == {"your own policy"}
    for kind, text in result["your own policy"]:
        assert "middle_out(shift=8)" in run_block(kind, text, tmp_path)


OF_TEMPLATES = "add a policy"
"""Runs the tests of two templates; `test_new_policy` runs those of all of them, and every command of the recipe."""


EACH = [pytest.param(name, marks=pytest.mark.slow) if name == OF_TEMPLATES else name for name in RECIPES]


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(EACH, 12))
def test_recipe(name, tmp_path):
    for kind, text in RECIPES[name]:
        printed = run_block(kind, text, tmp_path)
        assert printed.strip()


@pytest.mark.slow
def test_the_page_on_a_package_of_ones_own_runs(tmp_path):
    page = (PAGES / "own_parts.md").read_text(encoding="utf-8")
    text = page.partition("\n## Your own package\n")[2]
    blocks = recipes(text)["your own package"]
    assert len(blocks) == text.count("```") // 2  # each block of the part is run
    environment = pip_environment(tmp_path / "site")
    printed = "".join(run_block(kind, block, tmp_path, environment) for kind, block in blocks)
    for part in ("policy.placement.middle_fit", "measure.shared_memory.longest_wait", "figure.any.spread"):
        assert f"    {part}\n" in printed
    assert "middle_fit(aim=0.25)" in printed and "heads_rate" in printed
    assert {path.name for path in tmp_path.glob("*/figures/spread.pdf")} == {"spread.pdf"}
    assert (tmp_path / "paper" / "figures" / "spread.pdf").is_file()


def test_a_broken_recipe_is_noticed(tmp_path):
    with pytest.raises(AssertionError):
        run_block("python", "import no_such_module", tmp_path)
