"""What commands print, on pages: each page runs its commands one after the other in one folder, as the site is built.

`{{output workbench list policies}}` becomes the command and what it printed. `{{script docs/examples/first.py}}`
becomes a script and what it printed. Outputs are kept in the user's cache, under a digest of the commands of their page
and of the package's sources. So a second build runs nothing.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from workbench.digests import digest
from workbench.docs import ROOT
from workbench.docs._fitted import MOST_LETTERS
from workbench.docs.markdown import code, sections
from workbench.errors import WorkbenchError
from workbench.files import cache_home, digest_of_file

_MARK = re.compile(r"^\{\{(?P<what>output|script) (?P<rest>.+)\}\}$", re.MULTILINE)
LINKED = ("sweeps", "data", "notebooks", "docs", "papers")
"""Folders of the checkout that a page's folder has too."""


def with_outputs(text: str, run: bool = True) -> str:
    """Return a page in which each command, and each script, stands with what it prints.

    Without `run`, outputs that are not kept are left out.
    """
    marks = list(_MARK.finditer(text))
    if not marks:
        return text
    outputs = iter(outputs_of([_command(mark) for mark in marks], run))
    return _MARK.sub(lambda mark: _shown(mark, next(outputs)), text)


def _command(mark: re.Match[str]) -> str:
    rest = mark["rest"].strip()
    return f"python {rest}" if mark["what"] == "script" else rest


def _shown(mark: re.Match[str], output: str) -> str:
    """Return a command above its output in one block, or a script above the block of its output."""
    if mark["what"] == "output":
        return code(f"$ {_command(mark)}\n{output}", "console")
    script = (ROOT / mark["rest"].strip()).read_text(encoding="utf-8")
    return sections(code(script), code(output, "text") if output else "")


def outputs_of(commands: Sequence[str], run: bool = True) -> list[str]:
    """Return the output of each command; from the cache where neither a command nor a source has changed.

    Without `run`, what is not in the cache is empty.
    """
    kept = kept_outputs(commands)
    if not kept.exists() and not run:
        return [""] * len(commands)
    if not kept.exists():
        made = _run(commands)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(made), encoding="utf-8")
    return [str(one) for one in json.loads(kept.read_text(encoding="utf-8"))]


def kept_outputs(commands: Sequence[str]) -> Path:
    """Return the file of the outputs of commands: by the commands, the files that they name, and the package."""
    words = dict.fromkeys(word for command in commands for word in command.split())
    files = [digest_of_file(ROOT / word) for word in words if (ROOT / word).is_file()]
    return cache_home() / "outputs" / f"{digest(json.dumps([*commands, *files, _sources()]))}.json"


@functools.cache
def _sources() -> str:
    """Return the digest of the package without its documentation."""
    files = sorted((ROOT / "workbench").rglob("*.py"))
    return digest("\0".join(file.read_text(encoding="utf-8") for file in files if "docs" not in file.parts[-3:-1]))


def _run(commands: Sequence[str]) -> list[str]:
    """Run commands in a new folder that holds the sweeps and the data of the checkout.

    Raises
    ------
    WorkbenchError
        A command ends with another status than 0.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        for linked in LINKED:
            (folder / linked).symlink_to(ROOT / linked)
        return [_output(command, folder) for command in commands]


def _output(command: str, folder: Path) -> str:
    print(f"docs: {command} (kept from then on)", file=sys.stderr, flush=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("NUMBA_DISABLE_JIT", "CI")}
    environment |= {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": str(ROOT),
        "COLUMNS": str(MOST_LETTERS),
        "PYTHONHASHSEED": "6640",
        "NO_COLOR": "1",
    }
    # A shell runs what stands on a page of this project, as its reader would.
    reply = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )
    if reply.returncode:
        raise WorkbenchError(f"a page shows `{command}`, which ends with {reply.returncode}: {reply.stderr.strip()}")
    text = (reply.stdout or reply.stderr).replace(f"{folder}/", "").replace(str(Path.home()), "~").rstrip()
    return "\n".join(_wrapped(line.rstrip()) for line in text.splitlines())


def _wrapped(line: str) -> str:
    """Return a line of prose as lines that a page shows without scrolling; a line of a table is never that long.

    >>> max(map(len, _wrapped("word " * 40).splitlines())) <= MOST_LETTERS
    True
    """
    return textwrap.fill(line, MOST_LETTERS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
