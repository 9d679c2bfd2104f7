"""A skip has its reason in one of two places, and a test that is slow where compiled runs interpreted.

`needs("pdflatex")` skips by name what a machine lacks, and the end of `make test` lists it. `compiled_only` leaves
tests of compiled code to the compiled run of the same command. No other test or example is skipped or expected to fail.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
HIDES = re.compile(r"doctest: \+SKIP|pytest\.(?:skip\(|xfail|importorskip)|mark\.(?:skip|xfail)|pragma: no cover")
MAY_SKIP = {"needs.py", "slow.py", "test_skips.py"}
NODE = re.compile(r"pytest\.mark\.node\b")


def files() -> list[Path]:
    return sorted(path for room in (TESTS, ROOT / "workbench") for path in room.rglob("*.py"))


def test_nothing_is_skipped_but_by_name() -> None:
    found = [path.name for path in files() if path.name not in MAY_SKIP and HIDES.search(path.read_text())]
    assert found == []


def test_what_compiles_the_node_is_run_interpreted() -> None:
    command = subprocess.run(["make", "-n", "interpreted"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rooms = [ROOT / word for word in command.split() if word.startswith("tests/")]
    marked = [path for path in files() if NODE.search(path.read_text())]
    assert len(marked) > 8
    unrun = [path for path in marked if path.name != "test_skips.py" and not any(path.is_relative_to(r) for r in rooms)]
    assert unrun == []


WAYS = (
    "pytest.skip('x')",
    "@pytest.mark.xfail",
    "mark.skipif(True)",
    "  # pragma: no cover",
    ">>> x  # doctest: +SKIP",
)


@pytest.mark.parametrize("line", WAYS)
def test_what_hides_is_found(line: str) -> None:
    assert HIDES.search(line)
