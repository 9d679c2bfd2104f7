"""Rows in one SQLite file: many transactions a second, each whole or not at all, and open to any query."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.experiments.results_folder import FileGuard, is_held
from workbench.experiments.row import Kept, origin_id

_RUNS = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, point TEXT NOT NULL, seed INTEGER NOT NULL, status TEXT NOT NULL,
    error TEXT NOT NULL, seconds REAL NOT NULL, measures TEXT NOT NULL, at REAL, crc INTEGER,
    origin TEXT NOT NULL DEFAULT '', measured TEXT NOT NULL DEFAULT '', origin_crc INTEGER
) WITHOUT ROWID
"""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS points (id TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS origins (id TEXT PRIMARY KEY, origin TEXT NOT NULL) WITHOUT ROWID",
    _RUNS,
)
_SINCE = {
    "at": "REAL",
    "crc": "INTEGER",
    "origin": "TEXT NOT NULL DEFAULT ''",
    "measured": "TEXT NOT NULL DEFAULT ''",
    "origin_crc": "INTEGER",
}
"""Columns that older stores lack: the first two came with format 2, the others with format 3."""

_FIXED = "id, point, seed, status, error, seconds, measures"
_KEEP = f"""
INSERT INTO runs ({_FIXED}, at, origin, measured, crc, origin_crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET status=excluded.status, error=excluded.error, seconds=excluded.seconds,
measures=excluded.measures, at=excluded.at, crc=excluded.crc, origin=excluded.origin, measured=excluded.measured,
origin_crc=excluded.origin_crc
WHERE runs.status != 'done' OR excluded.status = 'withdrawn'
OR (excluded.status = 'done' AND runs.measured != excluded.measured)
"""
CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SIGNS = ("no such table", "no such column", "has no column", "Could not decode", "unsupported file format")
"""Of damage that SQLite takes for something else."""
_WRITE_VERSION, _NEWEST_WRITE_VERSION = 18, 2
"""The byte of a file's header by which SQLite takes a file for one that only its later versions may write."""


_DRIVER = {"host": str, "pid": int, "began": float, "runs": int, "kept": int}
"""What a store says of the driver that wrote to it last."""


class Damaged(Exception):
    """What is on disk is not what was written."""


class SqliteRows:
    """One file, written by one driver; in memory without a path. A store of an older format is read as it is."""

    def __init__(self, path: Path | None, read_only: bool = False) -> None:
        self._borrowed: tempfile.TemporaryDirectory[str] | None = None
        self.path = path
        self._anchor: FileGuard | None = None
        with _damage_told():
            self._base = self._for_reading(path) if read_only and path else self._for_writing(path)
            self._columns = _columns(self._base)
        if path is not None and not read_only:
            self._anchor = FileGuard(path)

    def _for_writing(self, path: Path | None) -> sqlite3.Connection:
        base = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
        try:
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA synchronous=NORMAL")
            if path is not None and base.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise Damaged
            for statement in ("BEGIN", "PRAGMA user_version = 0", "ROLLBACK"):  # what cannot be written to says so here
                base.execute(statement)
        except BaseException as problem:
            base.close()
            if path is not None and _is_marked_unwritable(problem, path):
                raise Damaged from None
            raise
        return base

    def _for_reading(self, path: Path) -> sqlite3.Connection:
        """Open as any reader beside a driver; where there is none, as a file that never changes, which leaves none
        behind.

        So too in a folder that cannot be written to; where that holds a write-ahead log as well, the reader gets a
        copy: rows in the log would be missed.
        """
        log = path.with_name(path.name + "-wal")
        if log.exists() or is_held(path.parent):
            with contextlib.suppress(sqlite3.OperationalError):
                return _read(path, "mode=ro")
        if not log.is_file() or log.stat().st_size == 0:
            return _read(path, "mode=ro&immutable=1")
        self._borrowed = tempfile.TemporaryDirectory(prefix="workbench-")
        copied = Path(self._borrowed.name, path.name)
        for file in (path, log):
            shutil.copyfile(file, copied.with_name(file.name))
        return sqlite3.connect(copied, isolation_level=None)

    @property
    def fresh(self) -> bool:
        """Return whether no store has been made in this file yet."""
        with _damage_told():
            return self._base.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0

    def upgrade(self, values: dict[str, str]) -> None:
        """Make the tables, or bring those of an older format to this one, with what the store then says of itself.

        All of it is one transaction: a driver that is killed leaves the store as it was or as it is to be. The rows
        themselves stay as they were written, but for the checksums that stores of format 1 lack.
        """
        without_checksum = self._lacks_checksums()
        with self._transaction():
            for table in _TABLES:
                self._base.execute(table)
            there = _columns(self._base)
            for name, kind in _SINCE.items():
                if name not in there:
                    self._base.execute(f"ALTER TABLE runs ADD COLUMN {name} {kind}")
            if without_checksum:
                self._base.executemany("UPDATE runs SET crc = ? WHERE id = ?", _missing_checksums(self._base))
            meta = dict(self._base.execute("SELECT key, value FROM meta"))
            proved = {**values, "checksum": _checksum({**meta, **values})}
            self._base.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", proved.items())
        self._columns = _columns(self._base)

    def _lacks_checksums(self) -> bool:
        """Return whether the rows may be without checksums, as they are in stores of format 1 alone."""
        if not self._columns:
            return False
        return "crc" not in self._columns or self.meta().get("format") == "1"

    def meta(self) -> dict[str, str]:
        """Return what the store says of itself; raises Damaged where it is not what was written."""
        if not self._columns and self.fresh:
            return {}
        with _damage_told():
            meta = dict(self._base.execute("SELECT key, value FROM meta"))
        if not is_sound(meta):
            raise Damaged
        return meta

    def set_meta(self, values: dict[str, str]) -> None:
        with self._transaction():
            self._base.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def add_points(self, identities: Iterable[tuple[str, str]]) -> None:
        with self._transaction():
            self._base.executemany("INSERT OR IGNORE INTO points VALUES (?, ?)", identities)

    def points(self) -> dict[str, str]:
        with _damage_told():
            return dict(self._base.execute("SELECT id, identity FROM points"))

    def origins(self) -> dict[str, str]:
        """Return the text of every origin by its id; raises Damaged where one is not what was written."""
        if "origin" not in self._columns:
            return {}
        with _damage_told():
            result = dict(self._base.execute("SELECT id, origin FROM origins"))
        if any(name != origin_id(text) for name, text in result.items()):
            raise Damaged
        return result

    def add(self, rows: list[Kept], origins: Mapping[str, str]) -> None:
        """Keep rows, with those of their origins that may be new: all of it or nothing."""
        if len(rows) == 1 and not origins:  # a statement by itself is a transaction
            (row,) = rows
            with _damage_told():
                self._base.execute(_KEEP, (*row, row.checksum(), row.origin_checksum()))
            return
        with self._transaction():
            if origins:
                self._base.executemany("INSERT OR IGNORE INTO origins VALUES (?, ?)", origins.items())
            self._base.executemany(_KEEP, [(*row, row.checksum(), row.origin_checksum()) for row in rows])

    def count(self) -> int:
        with _damage_told():
            return int(self._base.execute("SELECT count(*) FROM runs").fetchone()[0])

    def rows(self) -> Iterator[Kept]:
        """Yield every row, in the order of their ids; raises Damaged where one is not what was written."""
        if not self._columns and self.fresh:
            return
        bare = self._lacks_checksums()
        more = "".join(f", {name if name in self._columns else _ABSENT[name]}" for name in _ABSENT)
        with _damage_told():
            for *values, crc, origin_crc in self._base.execute(f"SELECT {_FIXED}{more} FROM runs ORDER BY id"):
                row = Kept(*values)
                proved = crc == row.checksum() or (bare and crc is None)
                if not proved or origin_crc != row.origin_checksum():
                    raise Damaged
                yield row

    def row(self, run: str) -> Kept | None:
        """Return one row, None where there is none; what is damaged shows when all are read."""
        if not self._columns:
            return None
        more = "".join(f", {name if name in self._columns else _ABSENT[name]}" for name in _ABSENT)
        with _damage_told():
            known = self._base.execute(f"SELECT {_FIXED}{more} FROM runs WHERE id = ?", (run,)).fetchone()
        return None if known is None else Kept(*known[:-2])

    def done(self) -> dict[str, str]:
        """Return the runs that are done, each with the digest of the code that measured it."""
        measured = "measured" if "measured" in self._columns else "''"
        with _damage_told():
            return dict(self._base.execute(f"SELECT id, {measured} FROM runs WHERE status = 'done'"))

    def in_place(self) -> bool:
        """Return whether the file that is written to is the one at its path."""
        return self._anchor is None or self._anchor.holds()

    def replaced(self) -> bool:
        """Return whether something else is at the path."""
        return self.path is not None and self.path.exists()

    def moved_to(self) -> Path | None:
        """Return where the file is now, with everything in it; None where it was removed."""
        now = self._anchor.now_at() if self._anchor else None
        if now is None:
            return None
        busy, *_ = self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return None if busy else now

    def close(self) -> None:
        """Fold the write-ahead log into the file."""
        self._base.close()
        if self._anchor is not None:
            self._anchor.close()
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


_ABSENT = {"at": "NULL", "origin": "''", "measured": "''", "crc": "NULL", "origin_crc": "NULL"}
"""What a store without the column says of its rows, in the order in which rows are read."""


def is_sound(meta: Mapping[str, str]) -> bool:
    """Return whether what a store says of itself can be what was written; older stores have no checksum."""
    checked = meta.get("checksum") in (None, _checksum(meta))
    return checked and meta.get("format", "1").isdecimal() and _is_driver(meta.get("driver", "{}"))


def _checksum(meta: Mapping[str, str]) -> str:
    """Return the checksum of what a store says of itself for good: its format and its sweep."""
    text = "\0".join([meta.get("format", ""), meta.get("sweep", "")])
    return f"{zlib.crc32(text.encode()):08x}"


def _is_driver(text: str) -> bool:
    try:
        facts = json.loads(text)
    except ValueError:
        return False
    return isinstance(facts, dict) and all(isinstance(facts.get(name, kind()), kind) for name, kind in _DRIVER.items())


def _columns(base: sqlite3.Connection) -> set[str]:
    return {row[1] for row in base.execute("PRAGMA table_info(runs)")}


def _missing_checksums(base: sqlite3.Connection) -> list[tuple[int, str]]:
    query = f"SELECT {_FIXED}, at, origin, measured FROM runs WHERE crc IS NULL"
    return [(row.checksum(), row.id) for row in map(Kept._make, base.execute(query))]


def _read(path: Path, how: str) -> sqlite3.Connection:
    base = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
    try:
        base.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        base.close()
        raise
    return base


def _is_marked_unwritable(problem: BaseException, path: Path) -> bool:
    """Return whether a file was refused for its header, not for the permissions of its folder."""
    if getattr(problem, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_READONLY:
        return False
    with path.open("rb") as file:
        header = file.read(_WRITE_VERSION + 1)
    return header[_WRITE_VERSION:] > bytes([_NEWEST_WRITE_VERSION])


class _damage_told:
    """Raise Damaged where SQLite says within this that the file is no longer what it wrote."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _: object) -> None:
        if isinstance(problem, UnicodeDecodeError):  # from a message of SQLite's that quotes what is damaged
            raise Damaged from None
        if isinstance(problem, sqlite3.DatabaseError):
            code: Any = getattr(problem, "sqlite_errorcode", 0)
            if code & 0xFF in CORRUPT or any(sign in str(problem) for sign in _SIGNS):
                raise Damaged from None
