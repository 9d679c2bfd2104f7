"""References in C and C++, compiled here with the machine's own compiler, where there is one."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "native"


def native(source: str, *arguments: str) -> dict[str, Any] | None:
    """Compile `native/SOURCE` with -O3 -march=native, run it, and return the JSON that it prints; None without g++."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "reference"
        command = [compiler, "-O3", "-march=native", "-std=c++17", "-o", str(program), str(FOLDER / source)]
        subprocess.run(command, check=True)
        printed = subprocess.run([str(program), *arguments], check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(printed)
    return result
