"""References in C and C++, compiled here with the machine's own compiler, where there is one."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.turns import Side

FOLDER = Path(__file__).parent / "native"


def native(
    source: str, items: int, arguments: tuple[object, ...], check: Callable[[dict[str, Any]], bool]
) -> Side | None:
    """Return `native/SOURCE` as a side, compiled with -O3 -march=native; None without g++.

    Each run is a process. It prints JSON with the processor time of its loop: starting it, reading files and drawing
    numbers are left out. `check` says whether it has done what the workbench does.
    """
    program = _compiled(source)
    if program is None:
        return None
    command = [f"{program.name}/reference", *map(str, arguments)]

    def run() -> float:
        printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        assert check(printed), (source, printed)
        return float(printed["seconds"])

    return Side(items, run)


@functools.cache
def _compiled(source: str) -> tempfile.TemporaryDirectory[str] | None:
    """Return the folder with the program, which goes when this process ends."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    folder = tempfile.TemporaryDirectory(prefix="reference")
    options = ["-O3", "-march=native", "-std=c++17", "-o", f"{folder.name}/reference"]
    subprocess.run([compiler, *options, str(FOLDER / source)], check=True)
    return folder
