"""The store of version 0.4 and earlier: one SQLite file, whose rows are read once and kept in row files from then on.

A row is believed only if its checksum fits. What SQLite cannot read of a damaged file is left where it is.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import StoreError
from workbench.runs.row import Kept, origin_id

FORMAT = 3
"""The newest format that such a file has; 2 brought moments and checksums, 3 origins."""

_FIXED = "id, point, seed, status, error, seconds, measures"
_ABSENT = {"at": "NULL", "origin": "''", "measured": "''", "crc": "NULL", "origin_crc": "NULL"}


class FormerRows(NamedTuple):
    """What is intact in such a file."""

    rows: list[Kept]
    points: dict[str, str]
    meta: dict[str, str]
    origins: dict[str, str]
    damaged: bool
    """Whether there was more."""


def read_former(path: Path) -> FormerRows:
    """Read a store with what a killed driver left in its write-ahead log; the file stays as it is.

    Raises
    ------
    StoreError
        It was written by a newer version.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        copied = Path(folder, path.name)
        for file in (path, path.with_name(path.name + "-wal")):
            if file.is_file():
                shutil.copyfile(file, copied.with_name(file.name))
        with closing(sqlite3.connect(copied)) as base:
            base.text_factory = partial(str, encoding="utf-8", errors="replace")  # damaged text costs its own row alone
            columns = {row[1] for row in _selected(base, "PRAGMA table_info(runs)")}
            meta = dict(_selected(base, "SELECT key, value FROM meta"))
            sound = meta.get("checksum") in (None, _meta_checksum(meta)) and meta.get("format", "1").isdecimal()
            if sound and int(meta.get("format", "1")) > FORMAT:
                raise StoreError(f"{path} was written by a newer version (format {meta['format']}).")
            points = dict(_selected(base, "SELECT id, identity FROM points"))
            origins = dict(_selected(base, "SELECT id, origin FROM origins")) if "origin" in columns else {}
            more = ", ".join(name if name in columns else other for name, other in _ABSENT.items())
            kept, damaged = list[Kept](), not columns
            bare = "crc" not in columns or meta.get("format") == "1"
            for *values, crc, origin_crc in _selected(base, f"SELECT {_FIXED}, {more} FROM runs ORDER BY id"):
                row = Kept(*values)
                if (crc == _checksum(row) or (bare and crc is None)) and origin_crc == _origin_checksum(row):
                    kept.append(row)
                else:
                    damaged = True
            whole = [*_selected(base, "PRAGMA quick_check(1)")] == [("ok",)]
            damaged |= not (sound and whole and all(map(_is_json, points.values())))
    return FormerRows(
        kept,
        {point: text for point, text in points.items() if _is_json(text)},
        {"sweep": meta["sweep"]} if sound and "sweep" in meta else {},
        {name: text for name, text in origins.items() if name == origin_id(text)},
        damaged,
    )


def put_aside(path: Path, damaged: bool) -> Path:
    """Rename a store that was read, so that it is not read again; return where it is, with its log beside it."""
    ending = "damaged" if damaged else "former"
    aside = next(a for k in range(1, 10**6) if not (a := path.with_name(f"{path.name}.{ending}-{k}")).exists())
    for left in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.replace(path.with_name(path.name + left), aside.with_name(aside.name + left))
    os.replace(path, aside)
    return aside


def _selected(base: sqlite3.Connection, query: str) -> Iterator[Any]:
    """Yield what SQLite can read of a query's rows."""
    with suppress(sqlite3.DatabaseError):
        yield from base.execute(query)


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _checksum(row: Kept) -> int:
    """Compute the CRC-32 of an outcome."""
    return zlib.crc32("\0".join(map(repr, row[:7])).encode())


def _origin_checksum(row: Kept) -> int | None:
    """Compute the CRC-32 of where a row comes from; None where that is unknown."""
    if not (row.origin or row.measured):
        return None
    return zlib.crc32("\0".join((row.id, row.origin, row.measured)).encode())


def _meta_checksum(meta: Mapping[str, str]) -> str:
    """Return the checksum of what a store says of itself for good: its format and its sweep."""
    text = "\0".join([meta.get("format", ""), meta.get("sweep", "")])
    return f"{zlib.crc32(text.encode()):08x}"
