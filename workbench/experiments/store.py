"""The store of a results folder: every row under its run's id, kept the moment the run ends and never changed again.

Killing the driver loses nothing that was kept. Failed runs are rows too; they are tried again by the next run.

Rows are in row files (`row_files.py`).
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import StoreError
from workbench.experiments.results_folder import ROWS, refuse_former
from workbench.experiments.row_files import RowFiles
from workbench.experiments.row_reads import RowReads, digest_of_place, named_from, placed
from workbench.experiments.shards import Part, Shard, read_shard
from workbench.experiments.verdicts import Verdict
from workbench.identity.reads import Reads
from workbench.mechanisms.measured_by import MeasuredBy, lacking
from workbench.runs.row import Kept, Row, kept, text_id

FORMAT = 4
"""The format of row files; 3 brought origins, 4 reads."""
LOOK_SECONDS = 1.0
"""How often a driver that keeps rows looks whether they are still at their path."""

_VERDICT, _REPEATS, _SHARD = "verdict ", "repeats", "shard"
_FACTS = {
    "shard": str,
    "sweep": str,
    "config": str,
    "measured": str,
    "code": dict,
    "own_measures": dict,
    "points": list,
}
"""What a folder keeps of its shard at least."""
_WORDS = 3
"""In the name of a verdict: itself, the code, and the invocation, which those of format 3 lack."""


class Store:
    """The rows of one results folder."""

    def __init__(
        self, folder: Path | None, name: str = "", read_only: bool = False, shard: Shard | None = None
    ) -> None:
        """Open a store, in memory when there is no folder.

        Parameters
        ----------
        folder : Path, optional
            The results folder.
        name : str
            The sweep that it belongs to.
        read_only : bool
            Change nothing; the folder may be one that cannot be written to.
        shard : Shard, optional
            The part of the sweep that the driver does.

        Raises
        ------
        StoreError
            It belongs to another sweep or to another part of it, was written by version 0.4 or a newer version, or
            cannot be used.
        """
        self.folder = folder
        self.failed_again: dict[str, Row] = {}
        """The runs that are done and kept, and failed when they were simulated once more."""
        self.notes: list[str] = []
        """What was damaged and what became of it, a sentence each."""
        self._origins = {"": ""}
        """Text -> id of each origin of this driver's rows."""
        self._reads = {"": ("", "")}
        """What a run read -> the id and the text of the reads, as this invocation keeps them."""
        self._there = {""}
        """The ids of the origins and reads that this driver has kept."""
        self._parsed: dict[str, RowReads | None] = {}
        """By the id of reads: what they say."""
        self._invocation = ""
        self._base: Path | None = None
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
                self._claim(name, shard)

    def _claim(self, name: str, shard: Shard | None) -> None:
        """Make the store this sweep's."""
        meta = self.meta()
        _refuse_another(self._rows.path, meta, name)
        _refuse_other_part(self.folder, self.part, shard, self.count())
        wanted = {"format": str(FORMAT), **({"sweep": name} if name else {})}
        if any(meta.get(key) != value for key, value in wanted.items()):
            self._rows.add(meta=wanted)

    def meta(self) -> dict[str, str]:
        """Return the store's statement on itself."""
        return self._rows.meta()

    @property
    def part(self) -> Part | None:
        """Return the part of a sweep that the folder holds; None where that is all of it."""
        facts = self.shard_facts()
        if not facts:
            return None
        points = facts["points"]
        return Part(
            read_shard(facts["shard"]),
            {one["id"]: (one["place"][0], one["place"][1]) for one in points},
            {one["id"]: frozenset(one["seeds"]) for one in points if "seeds" in one},
        )

    def shard_facts(self) -> dict[str, Any]:
        """Return the folder's note on its shard (`shard_folder.py`); nothing where it holds a whole sweep.

        Raises
        ------
        StoreError
            It cannot be read.
        """
        text = self.meta().get(_SHARD)
        if text is None:
            return {}
        try:
            facts = json.loads(text)
            for key, kind in _FACTS.items():
                _expect(facts[key], kind)
            for point in facts["points"]:
                _expect(point["id"], str)
                _expect(point["coordinates"], dict)
                alternative, is_baseline = point["place"]
                _expect(alternative + is_baseline, int)
        except (LookupError, TypeError, ValueError):
            raise StoreError(f"{self.folder}: what it keeps of its shard cannot be read.") from None
        return dict(facts)

    def keep_shard(self, facts: Mapping[str, Any]) -> None:
        """Keep what the driver of a shard says of it."""
        text = json.dumps(facts)
        if self.meta().get(_SHARD) != text:
            self._set_meta(_SHARD, text)

    def driven(self, runs: int, done: int, base: Path | None = None) -> None:
        """Note that this process begins to do what is missing of so many runs, of which so many are done.

        It is an invocation of its own: the rows that it keeps name it. Files below `base` are named from the results
        folder, so that both can be moved together.
        """
        self._invocation, self._base = secrets.token_hex(8), base
        # The text of reads names the invocation, so the texts of an earlier one must not be reused.
        self._reads = {"": ("", "")}
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
        origins, reads = dict[str, str](), dict[str, str]()
        for row in rows:
            if row.origin not in self._origins:
                self._origins[row.origin] = text_id(row.origin)
            if row.reads not in self._reads:
                self._reads[row.reads] = self._of_invocation(row.reads)
            if (name := self._origins[row.origin]) not in self._there:
                origins[name] = row.origin
            if (name := self._reads[row.reads][0]) not in self._there:
                reads[name] = self._reads[row.reads][1]
        try:
            with self._in_one_sentence:
                self._rows.add(
                    [kept(row, now, self._origins[row.origin], self._reads[row.reads][0]) for row in rows],
                    origins,
                    reads,
                )
        except StoreError:
            # If the files are gone, this raises the more helpful sentence.
            self.prove_place()
            raise
        # Only once they are written: after a write that failed, the next rows must bring these texts again.
        if origins or reads:
            self._there.update(origins, reads)
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
        """Return the name of the code that measured each run that is done, by the run's id."""
        return self._rows.done()

    def count(self) -> int:
        """Return the number of rows, of runs that failed too."""
        return self._rows.count()

    def rows(self) -> Iterator[Row]:
        """Return every row, in the order of their ids."""
        origins, reads = self.origins(), self.reads()
        return (row.row(origins, reads) for row in self.kept())

    def kept(self) -> Iterator[Kept]:
        """Return every row as it is on disk, in the order of their ids."""
        return self._rows.rows()

    def origins(self) -> dict[str, str]:
        """Return the text of every origin of a row by its id."""
        return self._rows.origins()

    def reads(self) -> dict[str, str]:
        """Return the text of all that rows read by its id."""
        return self._rows.reads()

    def identities(self) -> dict[str, Any]:
        """Return each point."""
        return {point: json.loads(text) for point, text in self._rows.points().items()}

    def kept_row(self, run: str) -> Kept | None:
        """Return the row of a run as it is on disk, None where there is none."""
        return self._rows.row(run)

    def withdraw(self, runs: Iterable[str], error: str) -> int:
        """Make done rows withdrawn ones, which the next run does again; returns how many there were.

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

    @property
    def invocation(self) -> str:
        """Return the name of this invocation, empty before `driven`."""
        return self._invocation

    def verdicts(self) -> dict[tuple[str, str], Verdict]:
        """Return the outcome of the repeated runs of each code of the user's (`verdicts.code_of`) and invocation."""
        entries = ((key.split(), text) for key, text in self.meta().items() if key.startswith(_VERDICT))
        verdicts = {(words[1], words[2]): Verdict.read(text) for words, text in entries if len(words) == _WORDS}
        return {key: one._replace(reads=placed(one.reads, self.folder)) for key, one in verdicts.items()}

    def keep_verdict(self, code: str, invocation: str, verdict: Verdict) -> None:
        """Keep what became of the runs of some code that were repeated, for the rows of one invocation."""
        reads = named_from(verdict.reads, self.folder, self._base)
        named = verdict._replace(reads=reads, place=digest_of_place(self.folder))
        self._set_meta(f"{_VERDICT}{code} {invocation}", named.text())

    def reads_of(self, row: Kept) -> RowReads | None:
        """Return the reads of a row, and the invocation that made it; None where that was not noted."""
        if row.reads not in self._parsed:
            text = self._rows.text_of_reads(row.reads)
            self._parsed[row.reads] = None if text is None else RowReads.read(text, self.folder)
        return self._parsed[row.reads]

    def _of_invocation(self, text: str) -> tuple[str, str]:
        """Return the id and the text of what a run of this invocation read."""
        kept = RowReads(self._invocation, Reads.read(text)).text(self.folder, self._base)
        return text_id(kept), kept

    def count_of_repeats(self) -> int:
        """Return the number of times that kept rows have been repeated."""
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


def _expect(value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(value)


def _refuse_other_part(folder: Path | None, part: Part | None, shard: Shard | None, rows: int) -> None:
    """Refuse a folder that holds another part of a sweep than its driver does, or all of one."""
    kept = None if part is None else part.shard
    if kept is not None and shard is None:
        raise StoreError(
            f"{folder} holds {kept.name}, not a whole sweep; go on with --shard {kept}, or choose another folder."
        )
    if kept is not None and shard is not None and kept != shard:
        raise StoreError(f"{folder} holds {kept.name}, and this is {shard.name}; choose another folder.")
    if kept is None and shard is not None and rows:
        raise StoreError(f"{folder} holds runs of a whole sweep, and this is {shard.name}; choose another folder.")
