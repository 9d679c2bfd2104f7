"""Damaged and vanished stores made whole: their intact rows, read and written to a file anew.

A file is complete before it comes into its place. Where the files of a store were removed, replaced or moved while its
driver wrote to them, the rows are still in the open file, or in memory: nothing is lost unless they cannot be written
anywhere.

Rows are read out of the pages of a damaged SQLite file, whatever became of the tree that joined them. The tables of a
store keep whole records in the pages of their trees. Every page of the file and of its write-ahead log is read for
itself, and a record is believed only if it proves itself: a run's id is the digest of its point and seed, and its
checksum fits. What is damaged is left out; what is intact is found even where the file's first page is gone. Written
from SQLite's description of its file format (https://www.sqlite.org/fileformat2.html, sections 1.6, 2.1, 4.1).
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import StoreError
from workbench.experiments.row import STATUSES, Kept, better, origin_id, run_id
from workbench.experiments.row_files import RowFiles
from workbench.experiments.sqlite_store import Damaged, SqliteRows, is_sound

FORMAT = 3
"""Raised when older versions of the workbench could not read the store any more; 3: every row has its origin."""


def proved(path: Path) -> SqliteRows:
    """Return the rows of a file, each of which was found to be what was written, with all else in it; raises
    Damaged.
    """
    rows = SqliteRows(path)
    try:
        if rows.meta():
            for text in rows.points().values():
                json.loads(text)
        rows.origins()
        for _ in rows.rows():
            pass
    except ValueError:
        rows.close()
        raise Damaged from None
    except BaseException:
        rows.close()
        raise
    return rows


def repair(path: Path, log: bytes) -> str:
    """Put a damaged file aside and write what is intact of it anew; says so in a sentence.

    The new file is complete before the old one is moved, so that a crash at any moment leaves one of them.
    """
    salvaged = salvage(path.read_bytes(), log)
    if not is_sound(salvaged.meta):  # who opens it says it anew
        salvaged = salvaged._replace(meta={})
    write_repaired(path, salvaged)
    aside = free_name(path, ".damaged")
    os.replace(path, aside)
    finish_repair(path)
    count = len(salvaged.rows)
    if not count:  # perhaps it never was a store of ours
        return f"{path} held no row that the workbench could read: it is kept as {aside}, and a new file was begun."
    kept = f"{count} intact rows were" if count > 1 else "1 intact row was"
    return f"{path} was damaged: {kept} kept, and the damaged file is {aside.name}."


def write_repaired(path: Path, salvaged: Salvaged) -> Path:
    """Write rows to a new file beside a path, from where `finish_repair` puts it in its place; return that file."""
    mended = beside(path, ".mended")
    for leftover in (mended, beside(mended, "-wal"), beside(mended, "-shm")):
        leftover.unlink(missing_ok=True)
    new = SqliteRows(mended)
    try:
        write_all(new, salvaged)
    finally:
        new.close()
    return mended


def write_all(new: SqliteRows | RowFiles, salvaged: Salvaged) -> None:
    """Write rows with all that belongs to them."""
    new.upgrade({**salvaged.meta, "format": str(FORMAT)})
    new.add_points(salvaged.points.items())
    new.add(salvaged.rows, salvaged.origins)


def finish_repair(path: Path) -> None:
    """Put a file that was mended in its place, if nothing is there."""
    mended = beside(path, ".mended")
    if mended.is_file() and not path.exists():
        for left in ("-wal", "-shm"):
            beside(path, left).unlink(missing_ok=True)
        os.replace(mended, path)


def free_name(path: Path, ending: str) -> Path:
    """Return a path beside another one, with an ending and a number, where nothing is."""
    return next(a for k in range(1, 10**6) if not (a := beside(path, f"{ending}-{k}")).exists())


def beside(path: Path, ending: str) -> Path:
    """Return a path with something added to its name."""
    return path.with_name(path.name + ending)


def vanished(rows: SqliteRows | RowFiles, sweep: str) -> StoreError:
    """Write rows to their path again, or beside it where something else is; return the error that says so.

    Parameters
    ----------
    rows : SqliteRows or RowFiles
        Rows that are no longer `in_place`.
    sweep : str
        The name of their sweep: row files of another one are left alone.
    """
    path = rows.path
    assert path is not None
    finished = f"finished rows ({rows.count()})"
    if now := rows.moved_to():
        return StoreError(
            f"{_named(rows)} moved away while the sweep ran; its {finished} are in {now}. "
            "Move it back, and the same command goes on from there."
        )
    happened = f"{_named(rows)} {'replaced' if rows.replaced() else 'removed'} while the sweep ran"
    try:
        written = _written(rows, path, sweep)
    except (OSError, sqlite3.Error, Damaged) as problem:
        why = getattr(problem, "strerror", None) or str(problem) or "they cannot be read any more"
        return StoreError(f"{happened}, and the {finished} are lost ({why}). The same command begins anew.")
    if written == path:
        return StoreError(
            f"{happened}; the {finished} were written there again, and the same command goes on from there."
        )
    return StoreError(
        f"{happened}; the {finished} were written to {written}. "
        f"As {path.name} of a folder of their own, they are where the same command goes on from."
    )


def _named(rows: SqliteRows | RowFiles) -> str:
    return f"row files in {rows.path} were" if isinstance(rows, RowFiles) else f"{rows.path} was"


def _written(rows: SqliteRows | RowFiles, path: Path, sweep: str) -> Path:
    salvaged = Salvaged(list(rows.rows()), rows.points(), rows.meta(), rows.origins())
    path.parent.mkdir(parents=True, exist_ok=True)
    return _in_files(path, salvaged, sweep) if isinstance(rows, RowFiles) else _in_database(path, salvaged)


def _in_database(path: Path, salvaged: Salvaged) -> Path:
    mended = write_repaired(path, salvaged)
    finish_repair(path)
    if not mended.exists():
        return path
    aside = free_name(path, ".rescued")
    os.rename(mended, aside)
    return aside


def _in_files(path: Path, salvaged: Salvaged, sweep: str) -> Path:
    if RowFiles(path, read_only=True).meta().get("sweep", sweep) != sweep:
        path = free_name(path, ".rescued")
    new = RowFiles(path)
    try:
        write_all(new, salvaged)
    finally:
        new.close()
    return path


_LEAF, _INTERIOR = 0x0A, 0x02
_PAGE_SIZES = {1 << k for k in range(9, 17)}
_USUAL_PAGE = 4096
_ID = re.compile(rb"[0-9a-f]{16}")
"""Begins the values of every row, point and origin: as many digits as the shortest of their ids has."""
_HEADERS = range(3, 40)
"""How many bytes the header of such a record may have: one a column and more where texts are long."""
_META = ("format", "sweep", "checksum", "driver")
_WIDTHS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
"""Serial type -> bytes."""

Fetch = Callable[[int], bytes]


class Salvaged(NamedTuple):
    """What was found intact."""

    rows: list[Kept]
    points: dict[str, str]
    meta: dict[str, str]
    origins: dict[str, str]


def log_of(path: Path) -> bytes:
    """Return what a store's write-ahead log holds: nothing unless its driver was killed or is running."""
    log = path.with_name(path.name + "-wal")
    return log.read_bytes() if log.is_file() else b""


def salvage(content: bytes, log: bytes) -> Salvaged:
    """Return everything in a store's file and its write-ahead log that proves itself intact; of a run, the done row."""
    rows: dict[str, Kept] = {}
    named: dict[str, dict[str, str]] = {"points": {}, "meta": {}, "origins": {}}
    pages = _Pages(content, log)
    for record in pages.records():
        if (row := _run(record)) is not None:
            if better(row, rows.get(row.id)):
                rows[row.id] = row
        elif table := _table_of(record):
            named[table][record[0]] = record[1]
    for record in pages.loose_records():
        if (row := _run(record)) is not None:
            rows.setdefault(row.id, row)
        elif table := _table_of(record):
            named[table].setdefault(record[0], record[1])
    return Salvaged(list(rows.values()), **named)


def _table_of(record: list[Any]) -> str:
    """Return the table that a pair of texts is a record of, empty if none; an origin is named by its digest, a point
    by 32 digits.
    """
    if len(record) != 2 or not all(isinstance(value, str) for value in record):
        return ""
    key, value = record
    if key in _META:
        return "meta"
    if key == origin_id(value):
        return "origins"
    return "points" if _is_json(value) and len(key) == 32 else ""


def _run(record: list[Any]) -> Kept | None:
    """Return the run in a record, if it is one and intact; format 1 wrote 7 columns, format 2 wrote 9, format 3 writes
    12."""
    if len(record) not in (7, 9, 12):
        return None
    *values, at, crc = [*record, None, None] if len(record) == 7 else record[:9]
    origin, measured, origin_crc = record[9:] or ("", "", None)
    try:
        # SQLite writes 3.0 as the whole number that it is and gives it back by the column's type
        time = None if at is None else float(at)
        row = Kept._make([*values[:5], float(values[5]), values[6], time, origin, measured])
        proved = row.id == run_id(row.point, row.seed) and row.status in STATUSES and _is_json(row.measures)
    except (TypeError, ValueError):
        return None
    known = (crc is None if len(record) == 7 else crc == row.checksum()) and origin_crc == row.origin_checksum()
    return row if proved and known else None


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


class _Pages:
    """The pages of a file and of its write-ahead log, the latter's later ones in the place of the file's."""

    def __init__(self, content: bytes, log: bytes) -> None:
        size, logged = _logged(log, _page_size(content))
        self._content, self._size, self._latest = content, size, dict(logged)
        self._pages = [(k + 1, content[k * size : (k + 1) * size]) for k in range(len(content) // size)] + logged

    def records(self) -> Iterator[list[Any]]:
        """Yield the records that pages of trees point to."""
        for number, page in self._pages:
            yield from _records_in(page, 100 if number == 1 else 0, self._page)

    def loose_records(self) -> Iterator[list[Any]]:
        """Yield what looks like a record wherever it is: also where a page's own list of its records is damaged."""
        for _, page in self._pages:
            for place in _ID.finditer(page):
                for start in range(place.start(), place.start() + 2):  # a digit may belong to the header before it
                    yield from _records_before(page, start, self._page)

    def _page(self, number: int) -> bytes:
        return self._latest.get(number) or self._content[(number - 1) * self._size : number * self._size]


def _page_size(content: bytes) -> int:
    size = int.from_bytes(content[16:18], "big")
    size = 65536 if size == 1 else size
    return size if size in _PAGE_SIZES and content[:6] == b"SQLite" else _USUAL_PAGE


def _logged(log: bytes, size: int) -> tuple[int, list[tuple[int, bytes]]]:
    """Return the pages in a write-ahead log, oldest first, and the size of all pages; its header may be damaged."""
    named = int.from_bytes(log[8:12], "big")
    size = named if named in _PAGE_SIZES else size
    starts = range(32, len(log) - 23 - size, 24 + size)
    return size, [(int.from_bytes(log[at : at + 4], "big"), log[at + 24 : at + 24 + size]) for at in starts]


def _records_in(page: bytes, header: int, fetch: Fetch) -> Iterator[list[Any]]:
    """Yield the records of a page of an index tree, leaf or interior; nothing where the page is of another kind."""
    if len(page) < header + 12 or page[header] not in (_LEAF, _INTERIOR):
        return
    interior = page[header] == _INTERIOR
    pointers = header + (12 if interior else 8)
    for k in range(int.from_bytes(page[header + 3 : header + 5], "big")):
        try:
            start = int.from_bytes(page[pointers + 2 * k : pointers + 2 * k + 2], "big")
            yield _record(_payload(page, start + (4 if interior else 0), fetch))
        except (IndexError, ValueError, struct.error):
            continue


def _records_before(page: bytes, start: int, fetch: Fetch) -> Iterator[list[Any]]:
    """Yield what may be the record whose first value is at a place: before that are its header and its length."""
    for header in (start - k for k in _HEADERS if k <= start and page[start - k] == k):
        for at in range(header - 1, max(header - 4, -1), -1):
            try:
                if _varint(page, at)[1] == header:
                    yield _record(_payload(page, at, fetch))
            except (IndexError, ValueError, struct.error):
                continue


def _payload(page: bytes, at: int, fetch: Fetch) -> bytes:
    """Return the bytes of a record, followed into overflow pages (section 1.6: how much of it stays in the tree)."""
    length, at = _varint(page, at)
    usable = len(page)
    most, least = (usable - 12) * 64 // 255 - 23, (usable - 12) * 32 // 255 - 23
    if length <= most:
        return _exactly(page[at : at + length], length)
    fitting = least + (length - least) % (usable - 4)
    local = fitting if fitting <= most else least
    parts, left = [page[at : at + local]], length - local
    following = int.from_bytes(page[at + local : at + local + 4], "big")
    while left > 0:
        further = _exactly(fetch(following), usable)
        parts.append(further[4 : 4 + left])
        left -= usable - 4
        following = int.from_bytes(further[:4], "big")
    return _exactly(b"".join(parts), length)


def _record(payload: bytes) -> list[Any]:
    """Return the values of a record (section 2.1)."""
    end, at = _varint(payload, 0)
    body, values = end, []
    while at < end:
        kind, at = _varint(payload, at)
        width = _WIDTHS[kind] if kind in _WIDTHS else (kind - 12) // 2
        values.append(_value(kind, _exactly(payload[body : body + width], width)))
        body += width
    return values


def _value(kind: int, raw: bytes) -> Any:
    if kind in (0, 8, 9):
        return {0: None, 8: 0, 9: 1}[kind]
    if kind == 7:
        return struct.unpack(">d", raw)[0]
    if kind in _WIDTHS:
        return int.from_bytes(raw, "big", signed=True)
    return raw.decode() if kind >= 13 and kind % 2 else raw


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends."""
    value = 0
    for k in range(8):
        value = value << 7 | data[at + k] & 0x7F
        if data[at + k] < 0x80:
            return value, at + k + 1
    return value << 8 | data[at + 8], at + 9


def _exactly(raw: bytes, length: int) -> bytes:
    if len(raw) != length:
        raise ValueError("cut short")
    return raw
