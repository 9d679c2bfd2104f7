"""The store of a results folder: one SQLite file, written by one driver, one transaction a row.

A row is kept under its run's id the moment the run ends, and never changed by a later run of the same sweep: killing
the driver loses nothing that was finished. Failed runs are rows too; they are tried again by the next run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import StoreError

FORMAT = 1
"""Raised when older versions of the workbench could not read the store any more."""

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS points (id TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, point TEXT NOT NULL, seed INTEGER NOT NULL, status TEXT NOT NULL,
    error TEXT NOT NULL, seconds REAL NOT NULL, measures TEXT NOT NULL
) WITHOUT ROWID;
"""


class Row(NamedTuple):
    """One run's outcome."""

    id: str
    point: str
    seed: int
    status: str
    """`done` or `failed`."""
    error: str
    """One sentence, empty when done."""
    seconds: float
    measures: dict[str, float]


class Store:
    """The rows of one results folder."""

    def __init__(self, path: Path | None, name: str = "") -> None:
        """Open a store for writing, or one in memory when there is no path; `name` is the sweep that it belongs to."""
        self.path = path
        with _in_one_sentence(path):
            self._base = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_TABLES)
            self._claim("format", str(FORMAT))
            if name:
                self._claim("sweep", name)

    def _claim(self, key: str, value: str) -> None:
        self._base.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))
        kept = self.meta()[key]
        if key == "format" and int(kept) > FORMAT:
            raise StoreError(f"{self.path} was written by a newer version (format {kept}; this one reads {FORMAT}).")
        if key == "sweep" and kept != value:
            raise StoreError(f"{self.path} belongs to the sweep {kept!r}, not to {value!r}; choose another folder.")

    def meta(self) -> dict[str, str]:
        """What the store says of itself."""
        return dict(self._base.execute("SELECT key, value FROM meta"))

    def add_points(self, identities: Iterable[tuple[str, str]]) -> None:
        """Keep what each point is, as canonical JSON."""
        with _in_one_sentence(self.path), self._transaction():
            self._base.executemany("INSERT OR IGNORE INTO points VALUES (?, ?)", identities)

    def add(self, row: Row) -> None:
        """Keep one row, at once. A run that is done stays as it is."""
        with _in_one_sentence(self.path):
            self._base.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status=excluded.status,"
                " error=excluded.error, seconds=excluded.seconds, measures=excluded.measures"
                " WHERE runs.status != 'done'",
                (*row[:6], json.dumps(row.measures)),
            )

    def done(self) -> set[str]:
        """The ids of the runs that are done."""
        return {run for (run,) in self._base.execute("SELECT id FROM runs WHERE status = 'done'")}

    def rows(self) -> Iterator[Row]:
        """Every row, in the order of their ids."""
        for row in self._base.execute("SELECT * FROM runs ORDER BY id"):
            yield Row._make((*row[:6], json.loads(row[6])))

    def identities(self) -> dict[str, Any]:
        """What each point is."""
        return {point: json.loads(text) for point, text in self._base.execute("SELECT * FROM points")}

    def close(self) -> None:
        """Fold the write-ahead log into the file."""
        self._base.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")


@contextmanager
def _in_one_sentence(path: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as problem:
        text = str(problem)
        cure = " Rows that were kept before are safe." if "full" in text or "I/O" in text else ""
        raise StoreError(f"{path}: the results store cannot be used: {text}.{cure}") from None
