"""Rows in one SQLite file: many transactions a second, each whole or not at all, and open to any query."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.experiments.row import Kept

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS points (id TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, point TEXT NOT NULL, seed INTEGER NOT NULL, status TEXT NOT NULL,
    error TEXT NOT NULL, seconds REAL NOT NULL, measures TEXT NOT NULL, at REAL, crc INTEGER
) WITHOUT ROWID;
"""
_SINCE_2 = {"at": "REAL", "crc": "INTEGER"}
"""Columns that stores of format 1 lack."""

_KEEP = """
INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status=excluded.status,
error=excluded.error, seconds=excluded.seconds, measures=excluded.measures, at=excluded.at, crc=excluded.crc
WHERE runs.status != 'done'
"""
CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SIGNS = ("no such table", "Could not decode")
"""Of damage that SQLite takes for something else."""


class Damaged(Exception):
    """What is on disk is not what was written."""


class SqliteRows:
    """One file, written by one driver; in memory without a path."""

    def __init__(self, path: Path | None, read_only: bool = False) -> None:
        self._borrowed: tempfile.TemporaryDirectory[str] | None = None
        self.path = path
        with _damage_told():
            self._base = self._for_reading(path) if read_only and path else self._for_writing(path)
            self._columns = {row[1] for row in self._base.execute("PRAGMA table_info(runs)")}

    def _for_writing(self, path: Path | None) -> sqlite3.Connection:
        base = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
        try:
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA synchronous=NORMAL")
            base.executescript(_TABLES)
            had = {row[1] for row in base.execute("PRAGMA table_info(runs)")}
            for name, kind in _SINCE_2.items():
                if name not in had:
                    base.execute(f"ALTER TABLE runs ADD COLUMN {name} {kind}")
            if path is not None and base.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise Damaged
        except BaseException:
            base.close()
            raise
        return base

    def _for_reading(self, path: Path) -> sqlite3.Connection:
        """Beside a driver as any reader; in a folder that cannot be written to, as a file that never changes.

        Where such a folder holds a write-ahead log as well, the reader gets a copy: rows in the log would be missed.
        """
        with contextlib.suppress(sqlite3.OperationalError):
            return _read(path, "mode=ro")
        log = path.with_name(path.name + "-wal")
        if not log.is_file() or log.stat().st_size == 0:
            return _read(path, "mode=ro&immutable=1")
        self._borrowed = tempfile.TemporaryDirectory(prefix="workbench-")
        copied = Path(self._borrowed.name, path.name)
        for file in (path, log):
            shutil.copyfile(file, copied.with_name(file.name))
        return sqlite3.connect(copied, isolation_level=None)

    def meta(self) -> dict[str, str]:
        with _damage_told():
            return dict(self._base.execute("SELECT key, value FROM meta"))

    def set_meta(self, values: dict[str, str]) -> None:
        with self._transaction():
            self._base.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def add_points(self, identities: Iterable[tuple[str, str]]) -> None:
        with self._transaction():
            self._base.executemany("INSERT OR IGNORE INTO points VALUES (?, ?)", identities)

    def points(self) -> dict[str, str]:
        with _damage_told():
            return dict(self._base.execute("SELECT id, identity FROM points"))

    def add(self, rows: list[Kept]) -> None:
        with self._transaction():
            self._base.executemany(_KEEP, [(*row, row.checksum()) for row in rows])

    def rows(self) -> Iterator[Kept]:
        """Every row, in the order of their ids; raises Damaged where one is not what was written."""
        new = ", at, crc" if set(_SINCE_2) <= self._columns else ", NULL, NULL"
        with _damage_told():
            asked = f"SELECT id, point, seed, status, error, seconds, measures{new} FROM runs ORDER BY id"
            for *values, crc in self._base.execute(asked):
                row = Kept(*values)
                if crc is not None and crc != row.checksum():
                    raise Damaged
                yield row

    def done(self) -> set[str]:
        with _damage_told():
            return {run for (run,) in self._base.execute("SELECT id FROM runs WHERE status = 'done'")}

    def close(self) -> None:
        """Fold the write-ahead log into the file."""
        self._base.close()
        if self._borrowed is not None:
            self._borrowed.cleanup()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _damage_told():
            self._base.execute("BEGIN")
            try:
                yield
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")


def _read(path: Path, how: str) -> sqlite3.Connection:
    base = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
    try:
        base.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        base.close()
        raise
    return base


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as problem:
        code: Any = getattr(problem, "sqlite_errorcode", 0)
        if code & 0xFF in CORRUPT or any(sign in str(problem) for sign in _SIGNS):
            raise Damaged from None
        raise
