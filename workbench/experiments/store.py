"""The store of a results folder: every row under its run's id, kept the moment the run ends and never changed again.

Killing the driver loses nothing that was kept. Failed runs are rows too; they are tried again by the next run.

Rows are in text files, one a driver and only ever appended to, which works on any file system. A line is a checksum and
a JSON list of a kind, a key and a value: `["row", id, [...]]`, `["origin", id, text]` (before the first row of that
origin in its file), `["point", id, text]` or `["meta", key, text]`. Format 2 wrote rows as `["run", id, ...]`. A line
that a crash cut short is ignored, a damaged one costs itself alone, and the files of several drivers are merged as they
are read. A row is parsed when it is asked for: opening a large store is checking its lines.
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
from workbench.experiments.results_folder import ROWS, SUFFIX, FileGuard, refuse_former
from workbench.experiments.verdicts import Verdict
from workbench.mechanisms.measured_by import MeasuredBy, lacking
from workbench.runs.row import Kept, Row, better, decode, kept, origin_id

FORMAT = 3
"""The format of row files; 3 brought origins."""
LOOK_SECONDS = 1.0
"""How often a driver that keeps rows looks whether they are still at their path."""

_VERDICT, _REPEATS = "verdict ", "repeats"


class Store:
    """The rows of one results folder."""

    def __init__(self, folder: Path | None, name: str = "", read_only: bool = False) -> None:
        """Open a store, in memory when there is no folder.

        Parameters
        ----------
        folder : Path, optional
            The results folder.
        name : str
            The sweep that it belongs to.
        read_only : bool
            Change nothing; the folder may be one that cannot be written to.

        Raises
        ------
        StoreError
            It belongs to another sweep, was written by version 0.4 or a newer version, or cannot be used.
        """
        self.folder = folder
        self.failed_again: dict[str, Row] = {}
        """The runs that are done and kept, and failed when they were simulated once more."""
        self.notes: list[str] = []
        """What was damaged and what became of it, a sentence each."""
        self._origins = {"": ""}
        """Text -> id of each origin that this driver has kept."""
        self._looked = time.monotonic()
        self._vanished: StoreError | None = None
        if folder is not None:
            refuse_former(folder)
        self._in_one_sentence = _InOneSentence(folder)
        with self._in_one_sentence:
            self._rows = RowFiles(folder and folder / ROWS, read_only)
            damaged = self._rows.damaged.items()
            self.notes += [f"{self._rows.path}/{file}: {lines} damaged lines were left out." for file, lines in damaged]
            version = self.meta().get("format", str(FORMAT))
            if int(version) > FORMAT:
                raise StoreError(
                    f"{self._rows.path} was written by a newer version (format {version}; this one reads {FORMAT})."
                )
            if not read_only:
                self._claim(name)

    def _claim(self, name: str) -> None:
        """Make the store this sweep's."""
        meta = self.meta()
        _refuse_another(self._rows.path, meta, name)
        wanted = {"format": str(FORMAT), **({"sweep": name} if name else {})}
        if any(meta.get(key) != value for key, value in wanted.items()):
            self._rows.add(meta=wanted)

    def meta(self) -> dict[str, str]:
        """Return what the store says of itself."""
        return self._rows.meta()

    def driven(self, runs: int, done: int) -> None:
        """Note that this process begins to do what is missing of so many runs, of which so many are done."""
        facts = {"host": socket.gethostname(), "pid": os.getpid(), "began": time.time(), "runs": runs, "kept": done}
        self._set_meta("driver", json.dumps(facts))

    def _set_meta(self, key: str, text: str) -> None:
        with self._in_one_sentence:
            self._rows.add(meta={key: text})

    def add_points(self, identities: Iterable[tuple[str, str]]) -> None:
        """Keep what each point is, as canonical JSON."""
        with self._in_one_sentence:
            self._rows.add(points=identities)

    def points(self) -> set[str]:
        """Return the ids of the points that it knows of."""
        return set(self._rows.points())

    def add(self, row: Row) -> None:
        """Keep one row, at once. A run that is done stays as it is."""
        self.add_all([row])

    def add_all(self, rows: Iterable[Row]) -> None:
        """Keep several rows at once, all of them or none.

        Raises
        ------
        StoreError
            They cannot be kept, or the store is no longer at its path (`prove_place`).
        """
        rows, now = list(rows), time.time()
        new = {row.origin: origin_id(row.origin) for row in rows if row.origin not in self._origins}
        named = self._origins | new
        try:
            with self._in_one_sentence:
                self._rows.add(
                    [kept(row, now, named[row.origin]) for row in rows], {name: text for text, name in new.items()}
                )
        except StoreError:
            self.prove_place()
            raise
        self._origins = named
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self.prove_place()

    def prove_place(self) -> None:
        """Refuse to go on where the files that are written to are no longer those at their path.

        Raises
        ------
        StoreError
            They were removed, replaced or moved away; the sentence says what became of their rows, which were written
            to the path again where that can be done.
        """
        if self._vanished is None and not self._rows.in_place():
            self._vanished = self._rows.vanished()
        if self._vanished is not None:
            raise self._vanished
        self._looked = time.monotonic()

    def done(self, measured: MeasuredBy | None = None) -> set[str]:
        """Return the ids of the runs that are done.

        Parameters
        ----------
        measured : MeasuredBy, optional
            Leave out those that lack a cell, or whose cells were computed by other code than this.
        """
        return {run for run, by in self.measured().items() if measured is None or not lacking(by, measured)}

    def measured(self) -> dict[str, str]:
        """Return what the code that measured each run that is done is named by, by the run's id."""
        return self._rows.done()

    def count(self) -> int:
        """Return how many rows there are, of runs that failed too."""
        return self._rows.count()

    def rows(self) -> Iterator[Row]:
        """Return every row, in the order of their ids."""
        origins = self.origins()
        return (row.row(origins) for row in self.kept())

    def kept(self) -> Iterator[Kept]:
        """Return every row as it is on disk, in the order of their ids."""
        return self._rows.rows()

    def origins(self) -> dict[str, str]:
        """Return the text of every origin of a row by its id."""
        return self._rows.origins()

    def identities(self) -> dict[str, Any]:
        """Return what each point is."""
        return {point: json.loads(text) for point, text in self._rows.points().items()}

    def kept_row(self, run: str) -> Kept | None:
        """Return the row of a run as it is on disk, None where there is none."""
        return self._rows.row(run)

    def withdraw(self, runs: Iterable[str], error: str) -> int:
        """Make done rows withdrawn ones, which the next run does anew; returns how many there were.

        Parameters
        ----------
        runs : iterable of str
            Their ids; those that are not done stay as they are.
        error : str
            Why, in one sentence.
        """
        now, rows = time.time(), (self.kept_row(run) for run in runs)
        done = [row for row in rows if row is not None and row.status == "done"]
        with self._in_one_sentence:
            self._rows.add(
                row._replace(status="withdrawn", error=error, measures="{}", at=now, measured="") for row in done
            )
        return len(done)

    def verdicts(self) -> dict[str, Verdict]:
        """Return what became of the repeated runs of each code of the user's, by `reproducibility.code_of`."""
        kept = ((key.removeprefix(_VERDICT), text) for key, text in self.meta().items() if key.startswith(_VERDICT))
        return {code: Verdict.read(text) for code, text in kept if text}

    def keep_verdict(self, code: str, verdict: Verdict) -> None:
        """Keep what became of the runs of some code that were repeated."""
        self._set_meta(_VERDICT + code, verdict.text())

    def forget_verdict(self, code: str) -> None:
        """Take a verdict back: the code reads something that has changed since."""
        self._set_meta(_VERDICT + code, "")

    def count_of_repeats(self) -> int:
        """Return how often kept rows have been repeated."""
        return int(self.meta().get(_REPEATS, "0"))

    def count_repeats(self) -> None:
        """Note that kept rows are repeated once more."""
        self._set_meta(_REPEATS, str(self.count_of_repeats() + 1))

    def close(self) -> None:
        """Put everything in its place."""
        self._rows.close()


class _InOneSentence:
    """Turns what the files of a store raise within it into one sentence; a class, as every row is kept within one."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _: object) -> None:
        if isinstance(problem, OSError):
            text = problem.strerror or str(problem)
            is_full = any(sign in text for sign in ("full", "I/O", "No space", "too large"))
            cure = " Rows that were kept before are safe." if is_full else ""
            raise StoreError(f"{self._folder}: the results store cannot be used: {text}.{cure}") from None


def _refuse_another(path: Path | None, meta: Mapping[str, str], name: str) -> None:
    if name and meta.get("sweep", name) != name:
        raise StoreError(f"{path} belongs to the sweep {meta['sweep']!r}, not to {name!r}; choose another folder.")


SYNC_SECONDS = 1.0

_START = re.compile(rb'[0-9a-f]{8} \["(?:meta|origin|point|row|run)",')
"""Of a line."""
_ROW = re.compile(rb'\["row","([^"\\]*)",\["[^"\\]*",-?\d+,"([a-z]+)",')
"""The beginning of a row: its id and its status."""


class RowFiles:
    """A folder of row files, or rows in memory without one; a driver reads all files and writes its own."""

    def __init__(self, folder: Path | None, read_only: bool = False) -> None:
        self.path = folder
        self.damaged: dict[str, int] = {}
        """File name -> lines that were left out."""
        self._rows: dict[str, bytes] = {}
        """Run -> its line."""
        self._named: dict[str, dict[str, str]] = {"point": {}, "meta": {}, "origin": {}}
        self._file: int | None = None
        self._anchor: FileGuard | None = None
        self._names: list[str] = []
        """The files that were read, and those that were written here."""
        self._synced = time.monotonic()
        if folder is not None and not read_only:
            folder.mkdir(exist_ok=True)
        for path in sorted(folder.glob(f"*{SUFFIX}")) if folder else ():
            self._names.append(path.name)
            for text in self._lines(path):
                self._learn(text)

    def _lines(self, path: Path) -> Iterator[bytes]:
        """Yield what is intact; behind the last end of a line a driver may be writing."""
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
        """Return what the store says of itself."""
        return dict(self._named["meta"])

    def points(self) -> dict[str, str]:
        """Return what each point is, by its id."""
        return dict(self._named["point"])

    def origins(self) -> dict[str, str]:
        """Return the text of every origin by its id."""
        return {key: text for key, text in self._named["origin"].items() if key == origin_id(text)}

    def count(self) -> int:
        """Return how many rows there are."""
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
        points: Iterable[tuple[str, str]] = (),
        meta: Mapping[str, str] = {},
    ) -> None:
        """Keep rows and what belongs to them, in one write; origins may be those that are new to this file alone."""
        self._append(
            [
                *(["meta", key, text] for key, text in meta.items()),
                *(["point", key, text] for key, text in points if key not in self._named["point"]),
                *(["origin", key, text] for key, text in origins.items()),
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

        Where row files of another sweep have come to the path they are left alone, and the rows are written beside it.
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
            return StoreError(f"{happened}, and the {rows} are lost ({why}). The same command begins anew.")
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
            new.add(self.rows(), self.origins(), self.points().items(), self.meta())
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
        name = f"{time.time_ns():020d}-{socket.gethostname()}-{os.getpid()}{SUFFIX}"
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        self._names.append(name)
        self._anchor = FileGuard(folder / name)
        return file


_encode = json.JSONEncoder(separators=(",", ":")).encode


def _text(fields: list[Any]) -> bytes:
    return _encode(fields).encode()


def _line(text: bytes) -> bytes:
    """Return a line with its checksum.

    >>> _line(b'["meta","sweep","drain"]')
    b'f50c1608 ["meta","sweep","drain"]\\n'
    """
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _proved(line: bytes) -> bytes | None:
    """Return what a line says; None if it is not what was written.

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
    return Kept(run, *(values[0] if kind == "row" else values))


def _outcome(text: bytes) -> tuple[str, str]:
    """Return a row's status and what measured it, the first of its texts and the last, without parsing the others."""
    head, begins = _ROW.match(text), text.rfind(b'"', 0, -3)
    if head is None or not text.endswith(b'"]]') or b"\\" in text[begins - 1 :]:
        row = _kept(text)
        return row.status, row.measured
    return head[2].decode(), text[begins + 1 : -3].decode()
