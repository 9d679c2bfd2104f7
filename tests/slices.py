"""Select the slow tests of a run. Slow tests are in 24 slices; a run takes all, none, or three drawn from a commit.

This is a plugin of pytest. Its option is `--slices`: `all` (the default), `none`, `head`, or numbers such as `3,11,20`.
`head` draws three slices from the hash of HEAD, so the same commit always runs the same tests.

    python -m tests.slices head        print the selection and the command that repeats it
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
COUNT = 24
"""Number of slices."""
DRAWN = 3
"""Number of slices that a commit runs: each slow test runs once in eight commits."""
ALL = frozenset(range(1, COUNT + 1))
NO_COMMIT = "0" * 40
"""Stands for HEAD in a tree without a Git repository."""
LINE = pytest.StashKey[str]()
"""The line that a run prints at its end."""


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def slice_of(name: str) -> int:
    """Return the slice of a test or of a file.

    >>> slice_of("tests/test_units.py::test_bytes[4]") in ALL
    True
    """
    return _digest(name) % COUNT + 1


def draw(commit: str) -> list[int]:
    """Return the three slices of a commit.

    >>> draw(NO_COMMIT) == draw(NO_COMMIT), len(set(draw(NO_COMMIT)))
    (True, 3)
    """
    return sorted(sorted(ALL, key=lambda number: _digest(f"{commit} {number}"))[:DRAWN])


def head(root: Path = ROOT) -> str:
    """Return the hash of HEAD, or zeros where there is no Git or the tree has no repository of its own."""
    if not (root / ".git").exists() or not shutil.which("git"):
        return NO_COMMIT
    reply = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True)
    return reply.stdout.strip() if reply.returncode == 0 else NO_COMMIT


def read(selection: str) -> frozenset[int]:
    """Return the slices of a selection.

    Raises
    ------
    ValueError
        The selection is none of `all`, `none`, `head` and numbers from 1 to 24.

    >>> sorted(read("20,3")), sorted(read("none")), read("all") == ALL
    ([3, 20], [], True)
    """
    if selection in ("all", "none"):
        return ALL if selection == "all" else frozenset()
    if selection == "head":
        return frozenset(draw(head()))
    numbers = frozenset(int(word) if word.strip().isdecimal() else 0 for word in selection.split(","))
    if not numbers <= ALL:
        raise ValueError(f"--slices takes all, none, head or numbers from 1 to {COUNT} (3,11,20). Got {selection!r}.")
    return numbers


def write(slices: Collection[int]) -> str:
    """Return the selection that `read` turns into these slices."""
    return "all" if len(slices) == COUNT else ",".join(map(str, sorted(slices))) or "none"


def describe(slices: Collection[int]) -> str:
    """Return one line: which slices run, and the command that runs the same ones."""
    which = write(slices)
    return f"Slow tests: slices {which} of {COUNT} at commit {head()[:12]}. To repeat: make test SLICES={which}"


def name_of(item: Any) -> str:
    """Return the name that decides the slice of a test: its own, or its file's where it shares a fixture of the file.

    Tests that share a fixture of module or class scope run together, so the fixture is set up in one slice.
    """
    file = item.nodeid.partition("::")[0]
    info = getattr(item, "_fixtureinfo", None)
    definitions = [found[-1] for found in info.name2fixturedefs.values()] if info else []
    shares = any(one.scope in ("class", "module") and one.baseid.startswith(file) for one in definitions)
    return file if shares else item.nodeid


def split(items: Iterable[Any], slices: Collection[int]) -> tuple[list[Any], list[Any]]:
    """Return the tests that run with these slices, and those that do not. A fast test always runs."""
    runs, rest = [], []
    for item in items:
        fast = item.get_closest_marker("slow") is None
        (runs if fast or slice_of(name_of(item)) in slices else rest).append(item)
    return runs, rest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slices", default="all", help="slices of slow tests: all, none, head (three of HEAD) or 3,11,20")


def pytest_configure(config: pytest.Config) -> None:
    """Draw the slices once: workers of pytest-xdist get the numbers."""
    try:
        slices = read(config.option.slices)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    config.option.slices = write(slices)
    config.stash[LINE] = describe(slices) if 0 < len(slices) < COUNT else ""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the slow tests of all other slices; `trylast`, because other hooks add the marker."""
    items[:], rest = split(items, read(config.option.slices))
    if rest:
        config.hook.pytest_deselected(items=rest)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if line := terminalreporter.config.stash[LINE]:
        terminalreporter.write_line(line)


if __name__ == "__main__":
    try:
        sys.stdout.write(describe(read(sys.argv[1])) + "\n")
    except ValueError as error:
        sys.exit(str(error))
