"""SQLite files and messages of Protocol Buffers that a profiler wrote, read without trusting them.

A SQLite file is opened read-only and as it stands: no journal is played back, nothing beside it is opened or made. Only
plain tables and stored columns are read, by single-table queries; views, virtual tables, generated columns, triggers,
functions and extensions, which are code of the file, are never run. Values are limited in size, and a query is stopped
when it takes more steps than a sound file of this size can need.

A message of Protocol Buffers is a run of fields, each a key (number and wire type) and a value: a varint, eight bytes,
four bytes, or a length and so many bytes. It is read without a schema and without trust in its lengths. Two profilers
write it, XLA's (`xla`) and Perfetto's (`rocprof_traces`).
"""

from __future__ import annotations

import os
import re
import sqlite3
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from workbench.errors import InputError, shown
from workbench.workloads.importers.source import Source, taken
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
        """Return how many rows a table has, 0 for one that is not there."""
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
            found = {name: self._column(table, name, values) for name, values in zip(there, zip(*batch))}
            absent = np.broadcast_to(np.int64(MISSING), (len(batch),))
            yield {name: found.get(name, absent) for name in columns}

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
        told = self._connection.execute(f"PRAGMA table_xinfo({_quoted(table)})").fetchall()
        self._required |= {(table, str(name)) for _, name, _, not_null, *_ in told if not_null}
        return [str(name) for _, name, *_, hidden in told if not hidden]

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
        """Refuse a file whose last changes stand in a log beside it: they would be missing, or half there."""
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


VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
MOST_MESSAGE_BYTES = 1 << 31
Field = tuple[int, int | bytes]
"""A field's number, and its value: a whole number below 2^64, or the bytes of a text, a message or a packed list."""

_FIXED = {EIGHT_BYTES: (8, struct.Struct("<Q")), FOUR_BYTES: (4, struct.Struct("<I"))}


class WireError(ValueError):
    """The bytes are no message: they end within a field, or a field has no known type."""


def fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of a message, in their order.

    >>> list(fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69])))
    [(1, 150), (2, b'hi')]

    Raises
    ------
    WireError
        The bytes are no message.
    """
    place, end = 0, len(message)
    while place < end:
        key, place = varint(message, place)
        number, kind = key >> 3, key & 7
        if not number:
            raise WireError
        if kind == VARINT:
            value, place = varint(message, place)
            yield number, value
        elif kind == BYTES:
            length, place = varint(message, place)
            if length > end - place:
                raise WireError
            yield number, message[place : place + length]
            place += length
        elif kind in _FIXED:
            size, layout = _FIXED[kind]
            if size > end - place:
                raise WireError
            yield number, layout.unpack_from(message, place)[0]
            place += size
        else:
            raise WireError


Schema = Mapping[int, tuple[str, Callable[[int | bytes], Any]]]
"""What a message may hold: the name and the reader of each field by its number; a name that ends in [] may repeat."""


def named_fields(message: bytes, schema: Schema) -> dict[str, Any]:
    """Return the fields of a message that a schema names; of one that must not repeat the last, of others a list.

    >>> named_fields(bytes([0x08, 0x05, 0x12, 0x02, 0x68, 0x69]), {1: ("id", whole_of), 2: ("name", text_of)})
    {'id': 5, 'name': 'hi'}
    """
    result: dict[str, Any] = {name: [] for name, _ in schema.values() if name.endswith("[]")}
    for number, value in fields(message):
        if number in schema:
            name, read = schema[number]
            if name in result and name.endswith("[]"):
                result[name].append(read(value))
            else:
                result[name] = read(value)
    return result


def varint(message: bytes, place: int) -> tuple[int, int]:
    """Return the varint that begins at a place, and the place behind it.

    >>> varint(bytes([0x96, 0x01]), 0)
    (150, 2)
    """
    value = shift = 0
    for at in range(place, min(place + 10, len(message))):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at + 1
        shift += 7
    raise WireError


_MASK = (1 << 64) - 1


def signed_of(value: int | bytes) -> int:
    """Return a varint as an int64.

    >>> signed_of(5), signed_of(2**64 - 1)
    (5, -1)
    """
    if isinstance(value, bytes):
        raise WireError
    return value - (1 << 64) if value >> 63 else value


def whole_of(value: int | bytes) -> int:
    """Return a value that must be a number."""
    if isinstance(value, bytes):
        raise WireError
    return value


def bytes_of(value: int | bytes) -> bytes:
    """Return a value that must be bytes: a text, a message, a packed list."""
    if isinstance(value, int):
        raise WireError
    return value


def text_of(value: int | bytes) -> str:
    """Return a value that must be a text; bytes that are not UTF-8 are replaced."""
    return bytes_of(value).decode(errors="replace")


def top_fields(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a whole file, a field at a time; all must hold bytes.

    Memory holds the largest field, not the file.

    Raises
    ------
    InputError
        The file is no message, or is cut off.
    """
    pending, place, pieces = b"", 0, source.pieces()
    while True:
        try:
            number, start, length = _key(pending, place)
        except WireError:
            number, start, length = 0, place, 0
            if len(pending) - place >= 20:
                raise damaged(source) from None
        if not number or len(pending) - start < length:
            more = taken(pieces, length - (len(pending) - start))
            if not more and place < len(pending):
                raise InputError(f"{source.where}: is cut off; it ends within field {number or '(unknown)'}.")
            if not more:
                return
            pending, place = pending[place:] + more, 0
            continue
        yield number, pending[start : start + length]
        place = start + length


def _key(pending: bytes, place: int) -> tuple[int, int, int]:
    """Return the number of the field at a place, where its bytes begin, and how many they are."""
    key, place = varint(pending, place)
    length, place = varint(pending, place)
    if key & 7 != BYTES or not key >> 3 or length > MOST_MESSAGE_BYTES:
        raise WireError
    return key >> 3, place, length


def damaged(source: Source) -> InputError:
    """Return the refusal of a file that is no sound message."""
    return InputError(f"{source.where}: is no sound protobuf file; it is damaged, get it again.")
