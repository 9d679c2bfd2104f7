"""How a sweep is doing that runs elsewhere, or was stopped: read from its folder, without disturbing its driver."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import StoreError
from workbench.experiments.folder import STORE, is_held
from workbench.experiments.progress import span
from workbench.experiments.row import Kept
from workbench.experiments.store import Store, has_store

RATE_SECONDS = 60.0
"""The rate is that of the last so many seconds."""


class Status(NamedTuple):
    """What a results folder tells of its sweep."""

    sweep: str
    runs: int | None
    """Of the plan that was last begun; None where no driver said so."""
    done: int
    failed: int
    left: int | None
    rate: float
    """Runs a second during the last minute; 0 where nothing goes on."""
    host: str
    pid: int
    alive: bool | None
    """Whether the driver is running; None where it runs on another machine and cannot be asked."""
    last_row_seconds: float | None
    """How long ago the last row was kept."""

    @property
    def sentence(self) -> str:
        """Return all of it in words."""
        of = f" of {self.runs}" if self.runs is not None else ""
        parts = [f"{self.done}{of} runs done", f"{self.failed} failed"]
        if self.left:
            parts.append(f"{self.left} left" + (f" ({span(self.left / self.rate)})" if self.rate else ""))
        if self.rate:
            parts.append(f"{self.rate:.1f}/s")
        if self.last_row_seconds is not None:
            parts.append(f"last row {span(self.last_row_seconds)} ago")
        going = {True: "is running", False: "is not running", None: "runs elsewhere and cannot be asked"}[self.alive]
        driver = f"; its driver (process {self.pid} on {self.host}) {going}" if self.pid else ""
        return f"{self.sweep}: {', '.join(parts)}{driver}"


def status(folder: str | Path) -> Status:
    """Return how the sweep of a results folder is doing.

    Raises
    ------
    StoreError
        It is no results folder, or its store is damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import workbench as wb
    >>> asked = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 2, "measures": ["drain_cycles"]}
    >>> with TemporaryDirectory() as folder:
    ...     _ = wb.run(asked, folder)
    ...     found = status(folder)
    >>> found.runs, found.done, found.failed
    (2, 2, 0)
    """
    folder = Path(folder)
    if not has_store(folder, STORE):
        raise StoreError(f"{folder} is not a results folder: it holds no rows.")
    store = Store(folder / STORE, read_only=True)
    try:
        meta = store.meta()
        return _status(meta.get("sweep", folder.name), json.loads(meta.get("driver", "{}")), list(store.kept()), folder)
    finally:
        store.close()


def _status(sweep: str, driver: dict[str, Any], rows: list[Kept], folder: Path) -> Status:
    now, began = time.time(), driver.get("began", 0.0)
    fresh = [row for row in rows if row.at is not None and row.at >= began] if driver else rows
    done = driver.get("kept", 0) + sum(row.status == "done" for row in fresh)
    failed = sum(row.status != "done" for row in fresh)
    here = driver.get("host") in (None, socket.gethostname())
    alive = is_held(folder) or (False if here else None)
    lately = sum((row.at or 0.0) > now - RATE_SECONDS for row in fresh)
    times = [row.at for row in rows if row.at is not None]
    runs = driver.get("runs")
    return Status(
        sweep=sweep,
        runs=runs,
        done=done,
        failed=failed,
        left=None if runs is None else max(runs - done - failed, 0),
        rate=lately / max(min(RATE_SECONDS, now - began), 1e-3) if alive is not False else 0.0,
        host=driver.get("host", ""),
        pid=driver.get("pid", 0),
        alive=alive,
        last_row_seconds=max(now - max(times), 0.0) if times else None,
    )
