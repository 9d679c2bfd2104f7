"""What tests of stores share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.experiments.results_folder import ROWS
from workbench.experiments.row_files import _line, _text
from workbench.experiments.store import Store
from workbench.runs.row import Row


def rows_of(folder: Path, **options) -> list[Row]:
    """All rows that a store holds; `options` say how it is opened."""
    store = Store(folder, **options)
    try:
        return list(store.rows())
    finally:
        store.close()


def edited(folder: Path, change: Callable[[list[Any]], list[Any] | None]) -> None:
    """Write every line of a folder's row files as it becomes by a change, which may leave it out."""
    for file in (folder / ROWS).iterdir():
        lines = [change(json.loads(line[9:])) for line in file.read_bytes().splitlines()]
        file.write_bytes(b"".join(_line(_text(line)) for line in lines if line is not None))
