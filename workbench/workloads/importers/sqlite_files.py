"""SQLite files that a profiler wrote, read without trusting them.

A SQLite file is opened read-only and as it stands: no journal is played back, no other file is opened or made. Only
plain tables and stored columns are read, by single-table queries; views, virtual tables, generated columns, triggers,
functions and extensions, which are code of the file, are never run. Values are limited in size, and a query is stopped
when it takes more steps than a sound file of this size can need.
"""

from __future__ import annotations

import os
import re
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from workbench.errors import InputError, shown
from workbench.workloads.importers.source import Source
from workbench.workloads.kernels import MISSING

MAGIC = b"SQLite format 3\x00"
BATCH_ROWS = 1 << 12
"""Rows of a batch: as Python objects they stay within a cache."""
MOST_VALUE_BYTES = 1 << 24
MOST_SMALL_ROWS = 1 << 22
"""Rows of a table that is held whole (names, cards): four million."""
MOST_TABLES = 10_000
"""Tables of a file: an export has a hundred, a database of many recordings a few thousand."""
_STEPS_A_BYTE = 16
_STEPS_AT_LEAST = 10_000_000
_STEPS_BETWEEN = 1_000_000
_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\b", re.IGNORECASE)
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MOST_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
_FUNCTIONS = {"count", "ifnull", "coalesce"}


def is_sqlite(head: bytes) -> bool:
    """Return whether contents begin as a SQLite file does."""
    return head.startswith(MAGIC)


class Database:
    """The plain tables of a SQLite file; use it in a `with` statement.

    Parameters
    ----------
    source : Source
        The file.

    Raises
    ------
    InputError
        The file is compressed, damaged, or cannot be opened; later on, a query takes too many steps, or a value is no
        number where one must be.
    """

    def __init__(self, source: Source) -> None:
        self.where = source.where
        if source.compressed:
            raise InputError(
                f"{self.where}: is a compressed SQLite file, which cannot be read in place; unpack it first."
            )
        self._refuse_unfinished(source.path)
        self._steps_left = 0
        self._budget = _STEPS_AT_LEAST + _STEPS_A_BYTE * os.path.getsize(source.path)
        self._connection = self._opened(source.path)
        self._required = set[tuple[str, str]]()
        with self._refusing():
            self._tables = self._plain_tables()
        self._connection.set_authorizer(_authorize)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @property
    def tables(self) -> list[str]:
        """Return the names of the plain tables."""
        return list(self._tables)

    def columns(self, table: str) -> list[str]:
        """Return the stored columns of a table, none for a table that is not there."""
        return self._tables.get(table, [])

    def require(self, table: str, columns: Iterable[str], kind: str) -> None:
        """Raise if a table lacks a column that every file of this kind has."""
        for name in columns:
            if name not in self.columns(table):
                raise InputError(f"{self.where}: {table} has no column {name}, so it is no {kind}.")

    def count(self, table: str) -> int:
        """Return the number of rows of a table, 0 for one that is not there."""
        if table not in self._tables:
            return 0
        return next(self._query(f"SELECT count(*) FROM {_quoted(table)}"))[0][0]

    def rows(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the rows of a small table; a column that it does not have is None in every row.

        Raises
        ------
        InputError
            It has more rows than are held whole.
        """
        if table not in self._tables:
            return []
        result: list[tuple[Any, ...]] = []
        for batch in self._query(self._select(table, columns, "NULL")):
            result += batch
            if len(result) > MOST_SMALL_ROWS:
                raise InputError(f"{self.where}: {table} has more than {MOST_SMALL_ROWS} rows; the file is damaged.")
        return result

    def texts(self, table: str, key: str, text: str, wanted: set[int]) -> dict[int, str]:
        """Return some texts of a table of any size by their numbers."""
        result: dict[int, str] = {}
        if table in self._tables:
            for batch in self._query(self._select(table, (key, text), "NULL")):
                result.update((number, str(value)) for number, value in batch if number in wanted and value is not None)
        return result

    def numbers(self, table: str, columns: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """Yield the rows of a table as columns of whole numbers, a batch at a time, in the order of the file.

        A column that is not there or holds NULL is MISSING.
        """
        there = [name for name in columns if name in self.columns(table)]
        for batch in self._query(self._select(table, there, str(MISSING))):
            arrays = {name: self._column(table, name, values) for name, values in zip(there, zip(*batch))}
            absent = np.broadcast_to(np.int64(MISSING), (len(batch),))
            yield {name: arrays.get(name, absent) for name in columns}

    def _column(self, table: str, name: str, values: tuple[Any, ...]) -> np.ndarray:
        try:
            return np.frombuffer(array("q", values), np.int64)
        except TypeError:
            wrong = next(value for value in values if type(value) is not int)
            raise InputError(f"{self.where}: {name} of {table} must be whole numbers. Got {shown(wrong)}.") from None

    def _select(self, table: str, columns: Sequence[str], otherwise: str) -> str:
        chosen = ", ".join(self._value(table, name, otherwise) for name in columns)
        return f"SELECT {chosen or otherwise} FROM {_quoted(table)}"

    def _value(self, table: str, column: str, otherwise: str) -> str:
        """Return the expression of a column's value, or of what stands for it."""
        if column not in self._tables.get(table, []):
            return otherwise
        if (table, column) in self._required or otherwise == "NULL":
            return _quoted(column)
        return f"ifnull({_quoted(column)}, {otherwise})"

    def _query(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        self._steps_left = self._budget
        with self._refusing():
            cursor = self._connection.execute(sql)
            while batch := cursor.fetchmany(BATCH_ROWS):
                yield batch

    def _plain_tables(self) -> dict[str, list[str]]:
        self._steps_left = self._budget
        listed = self._connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        names = [str(name) for name, sql in listed.fetchmany(MOST_TABLES + 1) if not _VIRTUAL.match(str(sql))]
        if len(names) > MOST_TABLES:
            raise InputError(f"{self.where}: has more than {MOST_TABLES} tables, which no profile has.")
        return {name: self._stored(name) for name in names}

    def _stored(self, table: str) -> list[str]:
        """Return the columns of a table that are no generated ones; those that are never NULL are noted."""
        columns_info = self._connection.execute(f"PRAGMA table_xinfo({_quoted(table)})").fetchall()
        self._required |= {(table, str(name)) for _, name, _, not_null, *_ in columns_info if not_null}
        return [str(name) for _, name, *_, hidden in columns_info if not hidden]

    def _opened(self, path: Path) -> sqlite3.Connection:
        uri = f"file:{quote(os.path.abspath(path))}?mode=ro&immutable=1"
        with self._refusing():
            connection = sqlite3.connect(uri, uri=True, isolation_level=None)
        for limit, most in _LIMITS.items():
            connection.setlimit(limit, most)
        connection.text_factory = lambda text: text.decode(errors="replace")
        connection.set_progress_handler(self._step, _STEPS_BETWEEN)
        with self._refusing():
            for pragma in ("trusted_schema = 0", "cell_size_check = 1", "mmap_size = 0", "cache_size = -16384"):
                connection.execute(f"PRAGMA {pragma}")
        return connection

    def _refuse_unfinished(self, path: Path) -> None:
        """Refuse a file whose last changes stand in a log next to it: they would be missing, or half there."""
        for ending in ("-wal", "-journal"):
            log = path.with_name(path.name + ending)
            if log.is_file() and log.stat().st_size:
                raise InputError(
                    f"{self.where}: its last changes stand in {log.name} beside it, as its writer did not end well; "
                    f"let `sqlite3 {path.name} 'PRAGMA wal_checkpoint(TRUNCATE)'` write them into it."
                )

    def _step(self) -> int:
        """Count steps of the query that runs; nonzero stops it."""
        self._steps_left -= _STEPS_BETWEEN
        return int(self._steps_left < 0)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn what SQLite raises into a sentence about the file."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            if self._steps_left < 0:
                what = "takes more steps to read than a sound file of its size can; it is damaged"
            else:
                named = isinstance(problem, UnicodeDecodeError)  # SQLite's own words may quote the file's names
                reason = "a name is no UTF-8" if named else " ".join(str(problem).split())[:200]
                what = f"is no sound SQLite file ({reason}); export it again"
            raise InputError(f"{self.where}: {what}.") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    """Allow reading and three functions of SQLite's own."""
    if action in _ALLOWED or (action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
