"""The store of a results folder: every row under its run's id, kept the moment the run ends and never changed again.

Killing the driver loses nothing that was kept. Failed runs are rows too; they are tried again by the next run. Rows are
in one SQLite file, or in one text file a driver where the folder is on a network file system. A damaged file is put
aside when a driver next opens the store, and every row in it that is intact is kept.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from workbench.errors import StoreError, unknown_name
from workbench.experiments.repair import FORMAT, finish_repair, log_of, proved, repair, salvage, vanished
from workbench.experiments.reproducibility import Verdict
from workbench.experiments.row import Kept, MeasuredBy, Row, kept, lacking, origin_id
from workbench.experiments.row_files import SUFFIX, RowFiles
from workbench.experiments.sqlite_store import Damaged, SqliteRows
from workbench.files import on_network

ROWS = "rows"
"""The folder of row files, beside the SQLite file or instead of it."""

LOOK_SECONDS = 1.0
"""How often a driver that keeps rows looks whether they are still at their path."""

_VERDICT, _REPEATS = "verdict ", "repeats"

Kind = Literal["auto", "sqlite", "rows"]
KINDS = ("auto", "sqlite", "rows")


class Store:
    """The rows of one results folder."""

    def __init__(self, path: Path | None, name: str = "", kind: Kind = "auto", read_only: bool = False) -> None:
        """Open a store, in memory when there is no path.

        Parameters
        ----------
        path : Path, optional
            The SQLite file in the results folder; row files are in the folder `rows` beside it.
        name : str
            The sweep that it belongs to.
        kind : str
            `sqlite`, `rows`, or `auto`: row files where there are some or where the folder is on a network.
        read_only : bool
            Change nothing; the folder may be one that cannot be written to.

        Raises
        ------
        StoreError
            It belongs to another sweep, was written by a newer version, or cannot be used.
        """
        if kind not in KINDS:
            raise unknown_name("", "kind of store", kind, KINDS)
        self.path = path
        self.failed_again: dict[str, Row] = {}
        """The runs that are done and kept, and failed when they were simulated once more."""
        self.notes: list[str] = []
        """What was found damaged and what became of it, a sentence each."""
        self._log = b""
        """What a killed driver left in the write-ahead log."""
        self._origins = {"": ""}
        """Text -> id of each origin that this driver has kept."""
        self._looked = time.monotonic()
        self._vanished: StoreError | None = None
        with self._in_one_sentence():
            self._rows = self._opened(path, kind, read_only)
        self._refuse_newer()
        if not read_only:
            self._claim(name)
            self._keep_logged()

    def _opened(self, path: Path | None, kind: Kind, read_only: bool) -> SqliteRows | RowFiles:
        if path is None or not self._in_files(path, kind):
            return SqliteRows(path) if path is None else self._sqlite(path, read_only)
        files = RowFiles(path.with_name(ROWS), read_only)
        for name, lines in files.damaged.items():
            self.notes.append(f"{path.parent / ROWS / name}: {lines} damaged lines were left out.")
        return files

    def _in_files(self, path: Path, kind: Kind) -> bool:
        there = any(path.with_name(ROWS).glob(f"*{SUFFIX}"))
        if (kind == "sqlite" and there) or (kind == "rows" and path.is_file()):
            has = f"the folder {ROWS}" if there else f"the file {path.name}"
            raise StoreError(f"{path.parent} keeps its rows in {has} already; leave the kind of store to `auto`.")
        return there or kind == "rows" or (kind == "auto" and not path.is_file() and on_network(path.parent))

    def _sqlite(self, path: Path, read_only: bool) -> SqliteRows:
        if read_only:
            return SqliteRows(path, read_only)
        finish_repair(path)
        log = log_of(path)
        try:
            rows = proved(path)
        except Damaged:
            self.notes.append(repair(path, log))
            return SqliteRows(path)
        self._log = log
        return rows

    def _claim(self, name: str) -> None:
        """Make the store this sweep's, and upgrade one of an older format."""
        meta = self.meta()
        if name and meta.get("sweep", name) != name:
            raise StoreError(
                f"{self.path} belongs to the sweep {meta['sweep']!r}, not to {name!r}; choose another folder."
            )
        wanted = {"format": str(FORMAT), **({"sweep": name} if name else {})}
        if any(meta.get(key) != value for key, value in wanted.items()):
            with self._in_one_sentence():
                self._rows.upgrade(wanted)

    def _refuse_newer(self) -> None:
        version = self.meta().get("format", str(FORMAT))
        if int(version) > FORMAT:
            self.close()
            raise StoreError(f"{self.path} was written by a newer version (format {version}; this one reads {FORMAT}).")

    def _keep_logged(self) -> None:
        """Keep what a killed driver left in the log, also behind a damaged place, where SQLite does not look."""
        if not self._log:
            return
        with self._in_one_sentence():
            known = {row.id for row in self._rows.rows()}
            salvaged = salvage(b"", self._log)
            if rows := [row for row in salvaged.rows if row.id not in known]:
                self._rows.add(rows, salvaged.origins)

    def meta(self) -> dict[str, str]:
        """Return what the store says of itself."""
        with self._in_one_sentence():
            return self._rows.meta()

    def driven(self, runs: int, done: int) -> None:
        """Note that this process begins to do what is missing of so many runs, of which so many are done."""
        facts = {"host": socket.gethostname(), "pid": os.getpid(), "began": time.time(), "runs": runs, "kept": done}
        with self._in_one_sentence():
            self._rows.set_meta({"driver": json.dumps(facts)})

    def add_points(self, identities: Iterable[tuple[str, str]]) -> None:
        """Keep what each point is, as canonical JSON."""
        with self._in_one_sentence():
            self._rows.add_points(identities)

    def points(self) -> set[str]:
        """Return the ids of the points that it knows of."""
        with self._in_one_sentence():
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
        now, new = time.time(), dict[str, str]()
        try:
            with self._in_one_sentence():
                self._rows.add([kept(row, now, self._origin(row.origin, new)) for row in rows], new)
        except StoreError:
            self.prove_place()
            raise
        if new:
            self._origins.update((text, name) for name, text in new.items())
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
            self._vanished = vanished(self._rows, self.meta().get("sweep", ""))
        if self._vanished is not None:
            raise self._vanished
        self._looked = time.monotonic()

    def _origin(self, text: str, new: dict[str, str]) -> str:
        """Return the id of an origin; one that this driver has not kept yet is put among the new ones."""
        name = self._origins.get(text)
        if name is None:
            name = origin_id(text)
            new[name] = text
        return name

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
        with self._in_one_sentence():
            return self._rows.done()

    def count(self) -> int:
        """Return how many rows there are, of runs that failed too."""
        with self._in_one_sentence():
            return self._rows.count()

    def rows(self) -> Iterator[Row]:
        """Return every row, in the order of their ids."""
        origins = self.origins()
        return (row.row(origins) for row in self.kept())

    def kept(self) -> Iterator[Kept]:
        """Yield every row as it is on disk, in the order of their ids."""
        with self._in_one_sentence():
            yield from self._rows.rows()

    def origins(self) -> dict[str, str]:
        """Return the text of every origin of a row by its id."""
        with self._in_one_sentence():
            return self._rows.origins()

    def identities(self) -> dict[str, Any]:
        """Return what each point is."""
        with self._in_one_sentence():
            return {point: json.loads(text) for point, text in self._rows.points().items()}

    def kept_row(self, run: str) -> Kept | None:
        """Return the row of a run as it is on disk, None where there is none."""
        with self._in_one_sentence():
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
        with self._in_one_sentence():
            self._rows.add(
                [row._replace(status="withdrawn", error=error, measures="{}", at=now, measured="") for row in done],
                {},
            )
        return len(done)

    def verdicts(self) -> dict[str, Verdict]:
        """Return what became of the repeated runs of each code of the user's, by `reproducibility.code_of`."""
        kept = ((key.removeprefix(_VERDICT), text) for key, text in self.meta().items() if key.startswith(_VERDICT))
        return {code: Verdict.read(text) for code, text in kept if text}

    def keep_verdict(self, code: str, verdict: Verdict) -> None:
        """Keep what became of the runs of some code that were repeated."""
        with self._in_one_sentence():
            self._rows.set_meta({_VERDICT + code: verdict.text()})

    def forget_verdict(self, code: str) -> None:
        """Take a verdict back: the code reads something that has changed since."""
        with self._in_one_sentence():
            self._rows.set_meta({_VERDICT + code: ""})

    def count_of_repeats(self) -> int:
        """Return how often kept rows have been repeated."""
        return int(self.meta().get(_REPEATS, "0"))

    def count_repeats(self) -> None:
        """Note that kept rows are repeated once more."""
        with self._in_one_sentence():
            self._rows.set_meta({_REPEATS: str(self.count_of_repeats() + 1)})

    def close(self) -> None:
        """Put everything in its place."""
        self._rows.close()

    def _in_one_sentence(self) -> _InOneSentence:
        return _InOneSentence(self.path)


class _InOneSentence:
    """Turns what the files of a store raise within it into one sentence; a class, as every row is kept within one."""

    __slots__ = ("_path",)

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _: object) -> None:
        if isinstance(problem, Damaged):
            raise StoreError(
                f"{self._path} is damaged; running the sweep into this folder again keeps every row that is intact."
            ) from None
        if isinstance(problem, (sqlite3.Error, OSError)):
            text = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
            cure = " Rows that were kept before are safe." if _is_full(text) else ""
            raise StoreError(f"{self._path}: the results store cannot be used: {text}.{cure}") from None


def has_store(folder: Path, file: str) -> bool:
    """Return whether a folder holds rows, of either kind."""
    return (folder / file).is_file() or any((folder / ROWS).glob(f"*{SUFFIX}"))


def _is_full(text: str) -> bool:
    return any(sign in text for sign in ("full", "I/O", "No space", "too large"))
