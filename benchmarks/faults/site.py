"""Where a fault is tried: a folder, its drivers, and the books of what was kept, lost, repeated and blamed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.faults.driver import drive
from workbench.experiments.results_folder import TABLE, has_store
from workbench.experiments.store import Store
from workbench.runs.row import Row

ROOT = Path(__file__).parent.parent.parent


class Books(NamedTuple):
    """What came of a fault."""

    fault: str
    happened: int
    """How often."""
    lost: int
    """Rows that were kept once and are not, or not the same, in the end."""
    repeated: int
    """Runs that were done again although their row was kept."""
    wrong_blame: int
    """Failed rows of runs that are not to blame, and runs to blame without one."""
    identical: bool
    """Whether the final table has the bytes of that of a driver that nothing happened to."""

    @property
    def fine(self) -> bool:
        return self.identical and not (self.lost or self.repeated or self.wrong_blame)


class Site:
    """A folder in which drivers come and go."""

    def __init__(self, folder: Path, request: dict[str, Any]) -> None:
        folder.mkdir(parents=True)
        self.folder, self.asked = folder / "r", request
        self._log, self._here = folder / "log", folder
        self._kept: dict[str, Row] = {}
        self._lost: set[str] = set()
        self._repeated = 0
        self.happened = 0

    def start(self, log: str = "log", **other: Any) -> subprocess.Popen[str]:
        """Start a driver in a process of its own."""
        command = [sys.executable, "-m", "benchmarks.faults.driver", str(self.folder), str(self._here / log)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        message = json.dumps({**self.asked, **other})
        return subprocess.Popen([*command, message], env=environment, text=True, stderr=subprocess.PIPE)

    def advanced(self) -> list[str]:
        """The runs that the present driver has kept so far."""
        return self._log.read_text().split() if self._log.exists() else []

    def rows(self) -> dict[str, Row]:
        """What the folder holds."""
        if not has_store(self.folder):
            return {}
        store = Store(self.folder, read_only=True)
        try:
            return {row.id: row for row in store.rows()}
        finally:
            store.close()

    def book(self, destroyed: frozenset[str] = frozenset()) -> None:
        """After a driver's end: what it said that it kept must be there, and it must have done nothing twice.

        Rows that a fault destroyed on disk are excused.
        """
        rows, advanced = self.rows(), self.advanced()
        known = {run: row for run, row in self._kept.items() if row.status == "done" and run not in destroyed}
        self._repeated += len(advanced) - len(set(advanced)) + sum(run in known for run in advanced)
        self._lost |= {run for run in advanced if run not in rows}
        self._lost |= {run for run, row in known.items() if rows.get(run) != row}
        self._kept = rows
        self._log.unlink(missing_ok=True)

    def finish(self, fault: str, blamed: dict[int, str] | None = None) -> Books:
        """Let a last driver end in peace and close the books."""
        driver = self.start()
        message = driver.communicate(timeout=600)[1]
        if driver.returncode:
            raise AssertionError(f"{fault}: the last driver failed: {message}")
        self.book()
        result = {row.seed: row.error for row in self._kept.values() if row.status == "failed"}
        named = {seed: part for seed, part in (blamed or {}).items() if part in result.get(seed, "")}
        wrong = len(set({**result, **named}.items()) ^ set((blamed or {}).items()))
        return Books(fault, self.happened, len(self._lost), self._repeated, wrong, self._identical(blamed or {}))

    def _identical(self, blamed: dict[int, str]) -> bool:
        """The same bytes as the table of a driver that nothing happened to; where runs fail, the same other rows."""
        os.environ["WORKBENCH_SPARES"] = str(os.getpid())
        peaceful = self._here / "peaceful"
        result = drive(
            peaceful, self._here / "peaceful.log", {**self.asked, "run": {"workers": 32, "executor": "threads"}}
        ).table
        if not blamed:
            return (peaceful / TABLE).read_bytes() == (self.folder / TABLE).read_bytes()
        table = pd.read_parquet(self.folder / TABLE)
        same = [one[~one["seed"].isin(blamed)].reset_index(drop=True) for one in (result, table)]
        return len(result) == len(table) and same[0].equals(same[1])
