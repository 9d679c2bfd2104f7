"""A dropped file that a sweep names outlives the page: copied beside where the sweep is saved, by its digest."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import StoreError
from workbench.experiments.sweep import with_files

FOLDER = "dropped"
"""The folder of the copies, in the folder where the dashboard was started."""


class LastingCopies:
    """Copies of the temporary files that sweeps name, each made once."""

    def __init__(self, temporary: Path) -> None:
        """Take `temporary` as the folder whose files do not last."""
        self._temporary = temporary.resolve()
        self._made: dict[tuple[Path, int], str] = {}

    def in_sweep(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the same sweep with every temporary file that it names called by its copy.

        Raises
        ------
        StoreError
            The copy cannot be written.
        """
        return with_files(config, Path(), self._lasting)

    def _lasting(self, path: Path) -> str:
        if self._temporary not in path.resolve().parents:
            return str(path)
        key = path, path.stat().st_mtime_ns
        if key not in self._made:
            self._made[key] = _copied(path)
        return self._made[key]


def _copied(path: Path) -> str:
    """Copy a file unless its copy is there; return its path from where the dashboard was started."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    copy = Path(FOLDER, f"{digest}-{path.name}")
    beside = copy.with_name(f".{copy.name}.part")
    try:
        if not copy.exists():
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, beside)
            beside.replace(copy)
    except OSError as problem:
        raise StoreError(f"{copy} cannot be written: {problem.strerror}.") from None
    return copy.as_posix()
