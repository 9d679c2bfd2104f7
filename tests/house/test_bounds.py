"""Every engine has a twin that runs with each array index checked, and a test that it skips no event."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.mechanisms.mechanism import mechanism, mechanisms

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "engines"


def own_engines() -> set[str]:
    """Return the engines of the package."""
    return {name for name in mechanisms() if type(mechanism(name).engine).__module__.startswith("workbench.")}


def engines_with(line: str, folder: Path) -> set[str]:
    """Return the engines that have a file with this line; the path of the file begins with the engine."""
    files = [path for path in folder.rglob("*.py") if line in path.read_text(encoding="utf-8")]
    names = [file.relative_to(folder).parts[0].removeprefix("test_") for file in files]
    return {engine for engine in own_engines() if any(name.startswith(engine) for name in names)}


def test_a_test_with_the_marker_bounds_runs_every_engine() -> None:
    assert engines_with("\n@pytest.mark.bounds\n", TESTS) == own_engines()


HAS_NO_TIME = {"torch_allocator"}
"""Its requests have no time and are served one by one, so it skips nothing."""
SKIPS_IN_THE_TWIN = {"pool"}
"""The engine leaves out retries of waiting requests; its twin makes them."""


def test_an_engine_that_skips_is_compared_with_itself_where_it_skips_nothing() -> None:
    skipping = own_engines() - HAS_NO_TIME
    assert engines_with("\nSKIPS = 1\n", ROOT / "workbench" / "engines") == skipping - SKIPS_IN_THE_TWIN
    assert engines_with("\ndef test_skipping_changes_nothing(", TESTS) == skipping


READS_BEHIND = """
import numpy as np
from workbench.compiled import kernel, routine

def read(words, at):
    return words[at]

read = kernel(read)

def add_up(words, count):
    total = 0
    for at in range(count):
        total += read(words, at)
    return total

routine(add_up)(np.zeros(16, np.int64)[:8], 10)
print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("checked", "ends"), [("1", "IndexError: index is out of bounds"), ("0", "done")])
def test_a_read_behind_an_array_fails_only_where_each_index_is_checked(checked: str, ends: str) -> None:
    """The program reads ten words of eight, which lie in an array of sixteen, in a kernel that a routine calls."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_BOUNDSCHECK": checked}
    command = [sys.executable, "-c", READS_BEHIND]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (run.stdout + run.stderr).strip().splitlines()[-1] == ends
