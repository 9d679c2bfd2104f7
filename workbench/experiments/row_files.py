"""Rows in text files, one a driver and only ever appended to: for file systems on which SQLite is not safe.

A line is a checksum and a JSON list of a kind, a key and a value: `["row", id, [...]]`, `["origin", id, text]` (before
the first row of that origin in its file), `["point", id, text]` or `["meta", key, text]`. Format 2 wrote rows as
`["run", id, ...]`. A line that a crash cut short is ignored, a damaged one costs itself alone, and the files of several
drivers are merged as they are read.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench.experiments.results_folder import FileGuard
from workbench.experiments.row import Kept, better, origin_id

SUFFIX = ".rows"
SYNC_SECONDS = 1.0

_START = re.compile(rb'[0-9a-f]{8} \["(?:meta|origin|point|row|run)",')
"""Of a line."""


class RowFiles:
    """A folder of row files; a driver reads all of them and writes its own."""

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder
        self.damaged: dict[str, int] = {}
        """File name -> lines that were left out."""
        self._rows: dict[str, Kept] = {}
        self._named: dict[str, dict[str, str]] = {"point": {}, "meta": {}, "origin": {}}
        self._file: int | None = None
        self._anchor: FileGuard | None = None
        self._names: list[str] = []
        """The files that were read, and those that were written here."""
        self._synced = time.monotonic()
        if not read_only:
            folder.mkdir(exist_ok=True)
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            self._names.append(path.name)
            for fields in self._lines(path):
                self._learn(*fields)

    def _lines(self, path: Path) -> Iterator[list[Any]]:
        *lines, rest = path.read_bytes().split(b"\n")
        for piece in (piece for line in lines for piece in _pieces(line)):
            fields = _read(piece)
            if fields is None:
                self.damaged[path.name] = self.damaged.get(path.name, 0) + 1
            else:
                yield fields
        yield from filter(None, map(_read, _pieces(rest)))

    def _learn(self, kind: str, key: str, *values: Any) -> None:
        if kind in ("row", "run"):
            row = Kept(key, *(values[0] if kind == "row" else values))
            if better(row, self._rows.get(row.id)):
                self._rows[row.id] = row
        elif kind in self._named:
            (self._named[kind][key],) = values

    @property
    def fresh(self) -> bool:
        """Return whether nothing has been kept yet."""
        return not self._named["meta"]

    def upgrade(self, values: dict[str, str]) -> None:
        """Say of the store what is new of it; lines of older formats stay as they were written."""
        self.set_meta(values)

    def meta(self) -> dict[str, str]:
        return dict(self._named["meta"])

    def set_meta(self, values: dict[str, str]) -> None:
        self._append(["meta", key, value] for key, value in values.items())

    def add_points(self, identities: Iterable[tuple[str, str]]) -> None:
        self._append(["point", key, text] for key, text in identities if key not in self._named["point"])

    def points(self) -> dict[str, str]:
        return dict(self._named["point"])

    def origins(self) -> dict[str, str]:
        """Return the text of every origin by its id."""
        return {key: text for key, text in self._named["origin"].items() if key == origin_id(text)}

    def add(self, rows: list[Kept], origins: Mapping[str, str]) -> None:
        """Keep rows, with those of their origins that may be new to this driver's file."""
        named = [["origin", key, text] for key, text in origins.items()]
        self._append([*named, *(["row", row.id, row[1:]] for row in rows)])

    def count(self) -> int:
        return len(self._rows)

    def rows(self) -> Iterator[Kept]:
        """Return every row, in the order of their ids."""
        return (self._rows[run] for run in sorted(self._rows))

    def row(self, run: str) -> Kept | None:
        """Return one row, None where there is none."""
        return self._rows.get(run)

    def done(self) -> dict[str, str]:
        """Return the runs that are done, each with the digest of the code that measured it."""
        return {run: row.measured for run, row in self._rows.items() if row.status == "done"}

    def in_place(self) -> bool:
        """Return whether every file is there, and the one that is written to is the one at its path."""
        own = self._anchor is None or self._anchor.holds()
        return own and self._all_in(self.path)

    def replaced(self) -> bool:
        """Return whether a file that was written here is another one."""
        return self._all_in(self.path)

    def moved_to(self) -> Path | None:
        """Return the folder in which all the files are now; None where one was removed."""
        now = self._anchor.now_at() if self._anchor else None
        return now.parent if now is not None and now.parent != self.path and self._all_in(now.parent) else None

    def _all_in(self, folder: Path) -> bool:
        return all((folder / name).exists() for name in self._names)

    def close(self) -> None:
        if self._anchor is not None:
            self._anchor.close()
            self._anchor = None
        if self._file is not None:
            file, self._file = self._file, None
            try:
                os.fsync(file)
            finally:
                os.close(file)

    def _append(self, records: Iterable[list[Any]]) -> None:
        """Write lines, then believe them: a killed driver loses none, a machine that goes down at most a second's."""
        lines = list(records)
        if not lines:
            return
        try:
            if self._file is None:
                self._file = self._own()
            text = b"".join(map(_written, lines))
            while text:
                text = text[os.write(self._file, text) :]
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file)
                self._synced = time.monotonic()
        except OSError:
            with suppress(OSError):
                self.close()  # what comes next goes to another file, not behind half a line
            raise
        for line in lines:
            self._learn(*line)

    def _own(self) -> int:
        name = f"{time.time_ns():020d}-{socket.gethostname()}-{os.getpid()}{SUFFIX}"
        file = os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        self._names.append(name)
        self._anchor = FileGuard(self.path / name)
        return file


def _written(fields: list[Any]) -> bytes:
    """Encode a line with its checksum.

    >>> _written(["meta", "sweep", "drain"])
    b'f50c1608 ["meta","sweep","drain"]\\n'
    """
    text = json.dumps(fields, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _pieces(line: bytes) -> list[bytes]:
    """Return a line, or the lines that it was before the byte that ended one of them was damaged.

    >>> _pieces(b'f50c1608 ["meta","sweep","drain"]*7d1a5b2c ["row",')
    [b'f50c1608 ["meta","sweep","drain"]', b'7d1a5b2c ["row",']
    """
    if _read(line) is not None:
        return [line]
    inner = [place.start() for place in _START.finditer(line) if place.start() > 0]
    pieces = [line[start : end - 1] for start, end in zip([0, *inner], inner, strict=False)]
    last = line[inner[-1] :] if inner else line
    return [*pieces, last if _read(last[:-1]) is None else last[:-1]]


def _read(line: bytes) -> list[Any] | None:
    """Read what a line says; None if it is not what was written.

    >>> _read(b'f50c1608 ["meta","sweep","drain"]'), _read(b'73a67ca9 ["meta","sweep","brain"]')
    (['meta', 'sweep', 'drain'], None)
    """
    checksum, _, text = line.partition(b" ")
    try:
        if int(checksum, 16) != zlib.crc32(text):
            return None
        fields: list[Any] = json.loads(text)
    except ValueError:
        return None
    return fields
