"""What the prose of a notebook tells to run exists: commands parse; sweep files and make targets are there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from workbench.cli.commands import resolved
from workbench.cli.main import _Parser
from workbench.errors import InputError

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


def told(notebook: Path, pattern: str) -> list[str]:
    """Return what the prose of a notebook tells to run, by a pattern within backquotes."""
    cells = json.loads(notebook.read_text())["cells"]
    prose = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return re.findall(pattern, prose)


def check(words: list[str]) -> None:
    parser = _Parser()
    command, rest = resolved(words)
    assert " ".join(words).startswith(command.name)
    command.add_arguments(parser)
    parser.parse_args(rest)
    missing = [word for word in words if word.startswith("sweeps/") and not (ROOT / word).is_file()]
    assert not missing


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_prose_tells_to_run_exists(notebook):
    commands = told(notebook, r"workbench ([a-z-]+ [^`\n]+)")
    assert commands
    for command in commands:
        check(shlex.split(command))
    assert set(told(notebook, r"`make ([a-z-]+)")) <= set(TARGETS)


@pytest.mark.parametrize("command", ["nosuch x", "run sweeps/nosuch.yaml", "run a.yaml --nosuch"])
def test_a_command_that_does_not_exist_is_seen(command):
    with pytest.raises((KeyError, AssertionError, InputError)):
        check(shlex.split(command))
