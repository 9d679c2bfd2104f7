"""Row files: text files below a results folder that are only ever appended to, one a driver, on any file system.

A line is a checksum and a JSON list of a kind, a key and a value: `["row", id, [...]]`, `["point", id, text]` or
`["meta", key, text]`. Lines `["origin", id, text]` and `["reads", id, text]` stand before the first row that names them
in its file. Rows of format 3 have no reads; format 2 wrote them as `["run", id, ...]`.

A line that a crash cut short is ignored, and a damaged one costs itself alone. The files of several drivers are merged
in the order of the numbers in their names. Each is the time, or one more than the highest number: a clock that is set
back changes no order. A row is parsed when it is asked for: opening a large store is checking its lines.
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

from workbench.errors import StoreError
from workbench.experiments.results_folder import SUFFIX, FileGuard
from workbench.runs.row import Kept, better, decode, text_id

SYNC_SECONDS = 1.0

_START = re.compile(rb'[0-9a-f]{8} \["(?:meta|origin|point|reads|row|run)",')
"""Of a line."""
_ROW = re.compile(rb'\["row","([^"\\]*)",\["[^"\\]*",-?\d+,"([a-z]+)",')
"""The beginning of a row: its id and its status."""

_OF_FORMAT_3 = 9
"""How many values a row of format 3 has, without reads."""
_READS = 8
"""The place of the reads among the values of a row."""

_encode = json.JSONEncoder(separators=(",", ":")).encode


class RowFiles:
    """A folder of row files, or rows in memory without one; a driver reads all files and writes its own."""

    def __init__(self, folder: Path | None, read_only: bool = False) -> None:
        self.path = folder
        self.damaged: dict[str, int] = {}
        """File name -> lines that were left out."""
        self._rows: dict[str, bytes] = {}
        """Run -> its line."""
        self._named: dict[str, dict[str, str]] = {"point": {}, "meta": {}, "origin": {}, "reads": {}}
        self._file: int | None = None
        self._anchor: FileGuard | None = None
        self._names: list[str] = []
        """The files that were read, and those that were written here."""
        self._synced = time.monotonic()
        if folder is not None and not read_only:
            folder.mkdir(exist_ok=True)
        for path in sorted(folder.glob(f"*{SUFFIX}"), key=_in_order) if folder else ():
            self._names.append(path.name)
            for text in self._lines(path):
                self._learn(text)

    def _lines(self, path: Path) -> Iterator[bytes]:
        """Yield the intact rows; behind the last end of a line a driver may be writing."""
        *lines, rest = path.read_bytes().split(b"\n")
        for line in lines:
            if (text := _proved(line)) is not None:
                yield text
                continue
            for text in map(_proved, _pieces(line)):
                if text is None:
                    self.damaged[path.name] = self.damaged.get(path.name, 0) + 1
                else:
                    yield text
        yield from filter(None, map(_proved, _pieces(rest)))

    def _learn(self, text: bytes) -> None:
        head = _ROW.match(text)
        if head is None:
            (kind, key, *values), _ = decode(text.decode())
            if kind in self._named:
                (self._named[kind][key],) = values
                return
            if kind not in ("row", "run"):
                return
        run = head[1].decode() if head else key
        old = self._rows.get(run)
        if old is None or better(_kept(text), _kept(old)):
            self._rows[run] = text

    def meta(self) -> dict[str, str]:
        """Return the store's statement on itself."""
        return dict(self._named["meta"])

    def points(self) -> dict[str, str]:
        """Return each point by its id."""
        return dict(self._named["point"])

    def origins(self) -> dict[str, str]:
        """Return the text of every origin by its id."""
        return {key: text for key, text in self._named["origin"].items() if key == text_id(text)}

    def text_of_reads(self, key: str) -> str | None:
        """Return the text of reads of an id, None where there is none."""
        return self._named["reads"].get(key)

    def reads(self) -> dict[str, str]:
        """Return the text of all reads by their id."""
        return {key: text for key, text in self._named["reads"].items() if key == text_id(text)}

    def count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def rows(self) -> Iterator[Kept]:
        """Return every row, in the order of their ids."""
        return (_kept(self._rows[run]) for run in sorted(self._rows))

    def row(self, run: str) -> Kept | None:
        """Return one row, None where there is none."""
        text = self._rows.get(run)
        return None if text is None else _kept(text)

    def done(self) -> dict[str, str]:
        """Return the runs that are done, each with the digest of the code that measured it."""
        outcomes = ((run, *_outcome(text)) for run, text in self._rows.items())
        return {run: measured for run, status, measured in outcomes if status == "done"}

    def add(
        self,
        rows: Iterable[Kept] = (),
        origins: Mapping[str, str] = {},
        reads: Mapping[str, str] = {},
        points: Iterable[tuple[str, str]] = (),
        meta: Mapping[str, str] = {},
    ) -> None:
        """Keep rows and what belongs to them, in one write; of origins and reads those that are new to this file do."""
        self._append(
            [
                *(["meta", key, text] for key, text in meta.items()),
                *(["point", key, text] for key, text in points if key not in self._named["point"]),
                *(["origin", key, text] for key, text in origins.items()),
                *([["reads", key, text] for key, text in reads.items()] if reads else ()),
                *(["row", row.id, row[1:]] for row in rows),
            ]
        )

    def in_place(self) -> bool:
        """Return whether every file is there, and the one that is written to is the one at its path."""
        own = self._anchor is None or self._anchor.holds()
        return own and (self.path is None or self._all_in(self.path))

    def _all_in(self, folder: Path) -> bool:
        return all((folder / name).exists() for name in self._names)

    def vanished(self) -> StoreError:
        """Write the rows to their path again, where files are no longer `in_place`; return the error that says so.

        If row files of another sweep have come to the path, they are left alone, and the rows are written next to them.
        """
        assert self.path is not None
        rows, files = f"finished rows ({self.count()})", f"row files in {self.path} were"
        now = self._anchor.now_at() if self._anchor else None
        if now is not None and now.parent != self.path and self._all_in(now.parent):
            return StoreError(
                f"{files} moved away while the sweep ran; its {rows} are in {now.parent}. "
                "Move it back, and the same command goes on from there."
            )
        happened = f"{files} {'replaced' if self._all_in(self.path) else 'removed'} while the sweep ran"
        try:
            written = self._written_anew(self.path)
        except OSError as problem:
            why = problem.strerror or str(problem)
            return StoreError(f"{happened}, and the {rows} are lost ({why}). The same command begins again.")
        if written == self.path:
            return StoreError(
                f"{happened}; the {rows} were written there again, and the same command goes on from there."
            )
        return StoreError(
            f"{happened}; the {rows} were written to {written}. "
            f"As {self.path.name} of a folder of their own, they are where the same command goes on from."
        )

    def _written_anew(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep = self.meta().get("sweep", "")
        if RowFiles(path, read_only=True).meta().get("sweep", sweep) != sweep:
            path = next(a for k in range(1, 10**6) if not (a := path.with_name(f"{path.name}.rescued-{k}")).exists())
        new = RowFiles(path)
        try:
            new.add(self.rows(), self.origins(), self.reads(), self.points().items(), self.meta())
        finally:
            new.close()
        return path

    def close(self) -> None:
        """Put everything on the disk, and let go of the file."""
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
        texts = list(map(_text, records))
        if texts and self.path is not None:
            self._write(self.path, b"".join(map(_line, texts)))
        for text in texts:
            self._learn(text)

    def _write(self, folder: Path, lines: bytes) -> None:
        try:
            if self._file is None:
                self._file = self._own(folder)
            while lines:
                lines = lines[os.write(self._file, lines) :]
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file)
                self._synced = time.monotonic()
        except OSError:
            with suppress(OSError):
                self.close()  # what comes next goes to another file, not behind half a line
            raise

    def _own(self, folder: Path) -> int:
        highest = max((_number(path.name) for path in folder.glob(f"*{SUFFIX}")), default=0)
        name = f"{max(time.time_ns(), highest + 1):020d}-{socket.gethostname()}-{os.getpid()}{SUFFIX}"
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        self._names.append(name)
        self._anchor = FileGuard(folder / name)
        return file


def _number(name: str) -> int:
    """Return the number with which the name of a row file begins, 0 where it has none.

    >>> _number("00000000000000000007-node-12.rows"), _number("copied.rows")
    (7, 0)
    """
    number = name.partition("-")[0]
    return int(number) if number.isascii() and number.isdigit() else 0


def _in_order(path: Path) -> tuple[int, str]:
    return _number(path.name), path.name


def _text(fields: list[Any]) -> bytes:
    return _encode(fields).encode()


def _line(text: bytes) -> bytes:
    """Return a line with its checksum.

    >>> _line(b'["meta","sweep","drain"]')
    b'f50c1608 ["meta","sweep","drain"]\\n'
    """
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _proved(line: bytes) -> bytes | None:
    """Return the content of a line; None if it is not what was written.

    >>> _proved(b'f50c1608 ["meta","sweep","drain"]'), _proved(b'73a67ca9 ["meta","sweep","brain"]')
    (b'["meta","sweep","drain"]', None)
    """
    try:
        return line[9:] if line[8:9] == b" " and int(line[:8], 16) == zlib.crc32(line[9:]) else None
    except ValueError:
        return None


def _pieces(line: bytes) -> list[bytes]:
    """Return a line, or the lines that it was before the byte that ended one of them was damaged.

    >>> _pieces(b'f50c1608 ["meta","sweep","drain"]*7d1a5b2c ["row",')
    [b'f50c1608 ["meta","sweep","drain"]', b'7d1a5b2c ["row",']
    """
    if _proved(line) is not None:
        return [line]
    inner = [place.start() for place in _START.finditer(line) if place.start() > 0]
    pieces = [line[start : end - 1] for start, end in zip([0, *inner], inner, strict=False)]
    last = line[inner[-1] :] if inner else line
    return [*pieces, last if _proved(last[:-1]) is None else last[:-1]]


def _kept(text: bytes) -> Kept:
    (kind, run, *values), _ = decode(text.decode())
    if kind != "row":
        return Kept(run, *values)
    (fields,) = values
    if len(fields) == _OF_FORMAT_3:
        fields.insert(_READS, "")
    return Kept(run, *fields)


def _outcome(text: bytes) -> tuple[str, str]:
    """Return a row's status and what measured it, the first of its texts and the last, without parsing the others."""
    head, begins = _ROW.match(text), text.rfind(b'"', 0, -3)
    if head is None or not text.endswith(b'"]]') or b"\\" in text[begins - 1 :]:
        row = _kept(text)
        return row.status, row.measured
    return head[2].decode(), text[begins + 1 : -3].decode()
