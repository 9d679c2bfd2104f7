"""The folders of all shards of a sweep, merged into one results folder once it is proved that nothing is missing.

No code that a sweep names is executed, and nothing is planned: each folder keeps its own points and their places in the
sweep (`shard_folder`). The new folder is written next to its place and renamed, so it is there as a whole or not.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, StoreError, file_guess
from workbench.experiments.kept_points import NotRead, sweep_without_code, with_kept_measures
from workbench.experiments.named_code import code_names
from workbench.experiments.origins import origins_sentence
from workbench.experiments.plan import Plan
from workbench.experiments.provenance import provenance
from workbench.experiments.results import Results
from workbench.experiments.results_folder import PROVENANCE, ROWS, SWEEP, as_json, has_store, write_own
from workbench.experiments.row_files import RowFiles
from workbench.experiments.row_reads import moved_reads, moved_verdict
from workbench.experiments.saved_results import write_table
from workbench.experiments.shard_folder import VERSIONS, runs_of
from workbench.experiments.shards import Shard, read_shard
from workbench.experiments.store import FORMAT, Store
from workbench.experiments.sweep import read_seeds, without_former_keys
from workbench.mechanisms.measured_by import lacking, read_measured
from workbench.runs.row import STARVED, Kept, Row, text_id
from workbench.runs.run import PlannedPoint, run_id
from workbench.strict_yaml import read_mapping
from workbench.trust import Admission, digest_of, name_in, sign

MOST_NAMED = 12
"""Upper bound on the number of shards that a refusal lists."""


class Gathered(NamedTuple):
    """What became of the folders of all shards."""

    folder: Path
    shards: int
    points: int
    runs: int
    failed: int
    signature: str
    """Whether the new folder is signed, as a sentence; empty where its sweep names no code."""
    origins: str
    """That rows of several origins meet, as a sentence; else empty."""


def gather_shards(folders: Sequence[Path], out: Path) -> Gathered:
    """Prove that the folders of all shards of one sweep are there and complete, and merge them into a new folder.

    Raises
    ------
    StoreError
        A shard is missing or lacks runs; a folder is of another sweep, number of shards or version; two folders
        contradict each other; or the new folder is there already. Nothing is written.
    """
    if out.is_symlink() or (out.exists() and not (out.is_dir() and not any(out.iterdir()))):
        raise StoreError(f"{out} is there already, and gather writes a new folder; name another one.")
    if not folders:
        raise InputError("gather takes the folders of all shards.")
    # Resolve paths first: a folder that is named twice, or through a link, counts once.
    parts = [_Folder(path) for path in {path.resolve(): path for path in folders}.values()]
    for part in parts[1:]:
        _refuse_unlike(parts[0], part)
    parts.sort(key=lambda part: part.shard)
    _refuse_missing(parts)
    _refuse_incomplete(parts)
    rows = _merged(parts)
    beside = out.absolute().with_name(f".{out.absolute().name}.gather-{os.getpid()}")
    try:
        beside.mkdir(parents=True)
        result = _write(parts, rows, beside, out)
        os.rename(beside, out)
    except OSError as problem:
        raise StoreError(f"{out} cannot be written: {problem.strerror}.") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return result


class _Folder:
    """The folder of one shard, as it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir() or not has_store(path):
            raise StoreError(f"{path} is not the folder of a shard: it holds no rows.{file_guess(path)}")
        with closing(Store(path, read_only=True)) as store:
            self.facts = store.shard_facts()
            if not self.facts:
                raise StoreError(f"{path} holds no shard: it was run without --shard, so there is nothing to gather.")
            try:
                self.shard: Shard = read_shard(self.facts["shard"])
                self.seeds = read_seeds(self.facts["seeds"])
                self.runs = [(run_id(point, seed), point, seed) for point, seed in runs_of(self.facts, self.seeds)]
            except (LookupError, TypeError, InputError):
                raise StoreError(f"{path}: what it keeps of its shard cannot be read.") from None
            wanted, self.name = {run for run, _, _ in self.runs}, store.meta().get("sweep", "")
            self.rows = {row.id: row for row in store.kept() if row.id in wanted}
            self.points, self.origins, self.reads = store.identities(), store.origins(), store.reads()
            self.verdicts = {key: text for key, text in store.meta().items() if key.startswith("verdict ")}
        if not (path / SWEEP).is_file():
            raise StoreError(f"{path} is not the folder of a shard: it has no {SWEEP}.")
        self.content = (path / SWEEP).read_bytes()
        self.config = without_former_keys(read_mapping(path / SWEEP), str(path / SWEEP))

    def ended(self) -> set[str]:
        """Return the runs that ended and were measured by the code of the shard."""
        measured = read_measured(self.facts["measured"])
        return {
            row.id
            for row in self.rows.values()
            if row.status != "withdrawn" and not (row.status == "done" and lacking(row.measured, measured))
        }

    @property
    def command(self) -> str:
        """Return the notes that go on with the shard."""
        return f"workbench run {self.path / SWEEP} --shard {self.shard} --out {self.path}"


def _refuse_unlike(first: _Folder, part: _Folder) -> None:
    if part.shard.of != first.shard.of:
        raise StoreError(
            f"{part.path} is {part.shard.name}, and {first.path} is {first.shard.name}: gather shards of one number."
        )
    if part.facts["sweep"] != first.facts["sweep"]:
        raise StoreError(
            f"{part.path} is of another sweep than {first.path}: a key, a file that is named or an option of the "
            "command differs; gather shards of one sweep."
        )
    unlike = [name for name in VERSIONS if part.facts.get(name) != first.facts.get(name)]
    codes = part.facts.get("code", {}), first.facts.get("code", {})
    edited = [
        name
        for name, digests in codes[0].items()
        if len(digests) == len(codes[1].get(name, ())) == 1 and digests != codes[1][name]
    ]
    if unlike or edited:
        what = "; ".join(
            [*(_difference(name, part, first) for name in unlike), *(f"{one} was edited" for one in edited)]
        )
        raise StoreError(
            f"{part.path} was run by other code than {first.path} ({what}); run one of them again with the code of the "
            f"other: {part.command}"
        )


def _difference(name: str, part: _Folder, first: _Folder) -> str:
    if name == "measured":
        return "the code of measures differs"
    word = {"version": "workbench", "revision": "the engine's revision", "python": "Python"}[name]
    return f"{word} {part.facts.get(name)}, not {first.facts.get(name)}"


def _refuse_missing(parts: Sequence[_Folder]) -> None:
    of, there = parts[0].shard.of, {part.shard.number for part in parts}
    missing = [number for number in range(1, of + 1) if number not in there]
    if missing:
        are = f"shard {missing[0]} of {of} is" if len(missing) == 1 else f"shards {_listed(missing)} of {of} are"
        raise StoreError(
            f"{are} missing; run: workbench run SWEEP --shard {missing[0]}/{of} --out DIR, and name its folder too."
        )


def _listed(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - MOST_NAMED:,} more" if len(numbers) > MOST_NAMED else ""
    return ", ".join(map(str, numbers[:MOST_NAMED])) + more


def _refuse_incomplete(parts: Sequence[_Folder]) -> None:
    """Refuse shards that lack runs in all of their folders."""
    ended: dict[int, set[str]] = {}
    for part in parts:
        ended.setdefault(part.shard.number, set()).update(part.ended())
    lacking_runs = {
        part.shard.number: (count, part)
        for part in parts
        if (count := sum(run not in ended[part.shard.number] for run, _, _ in part.runs))
    }
    if lacking_runs:
        texts = [
            f"{part.shard.name} lacks {count} of its {len(part.runs)} runs" for count, part in lacking_runs.values()
        ]
        more = f" and {len(texts) - MOST_NAMED} more shards" if len(texts) > MOST_NAMED else ""
        _, first = next(iter(lacking_runs.values()))
        others = ", and so for the others" if len(texts) > 1 else ""
        raise StoreError(f"{', '.join(texts[:MOST_NAMED])}{more}; go on with: {first.command}{others}")


def _merged(parts: Iterable[_Folder]) -> dict[str, tuple[Kept, _Folder]]:
    """Return the row of each run, and the folder that it is of.

    Raises
    ------
    StoreError
        Two folders hold different results of one run.
    """
    rows: dict[str, tuple[Kept, _Folder]] = {}
    for part in parts:
        ended = part.ended()
        for row in part.rows.values():
            if row.id not in ended:
                continue
            if row.id in rows and _is_outcome(row) and _is_outcome(rows[row.id][0]):
                _refuse_contradiction(*rows[row.id], row, part)
            elif row.id not in rows or _is_outcome(row):
                rows[row.id] = row, part
    return rows


def _is_outcome(row: Kept) -> bool:
    """Return whether a run came to its end, which it does again in the same way; other failures may be tried again."""
    return row.status in ("done", STARVED)


def _refuse_contradiction(row: Kept, part: _Folder, other: Kept, folder: _Folder) -> None:
    if row.status != other.status:
        what = f"is {row.status} in {part.path} and {other.status} in {folder.path}"
    else:
        one, two = json.loads(row.measures), json.loads(other.measures)
        # Compare texts: NaN is equal to itself there.
        unlike = [name for name in one if repr(one[name]) != repr(two.get(name, one[name]))]
        if not unlike:
            return
        name = unlike[0]
        what = f"has {name} {one[name]!r} in {part.path} and {two[name]!r} in {folder.path}"
    raise StoreError(
        f"run {row.id} (seed {row.seed} of point {row.point[:8]}) {what}: the code or a machine gives other results; "
        "find out which, and leave that folder out."
    )


def _write(parts: Sequence[_Folder], rows: dict[str, tuple[Kept, _Folder]], beside: Path, out: Path) -> Gathered:
    """Write everything that a run leaves, and return what is to be said of it."""
    first = parts[0]
    write_own(beside / SWEEP, first.content)
    runs = _run_set(parts, first, [_whole_row(row, part) for row, part in rows.values()], beside)
    _write_rows(parts, rows, beside, out, first.name)
    facts = {**provenance(runs), "sweep_digest": first.facts["config"]}
    write_own(beside / PROVENANCE, as_json(facts))
    write_table(runs, beside)
    shards, points = parts[0].shard.of, len(runs.points)
    signature = _signature(parts, first, beside, out)
    return Gathered(out, shards, points, len(rows), len(runs.failures), signature, origins_sentence(runs.origins))


def _whole_row(row: Kept, part: _Folder) -> Row:
    return row.row(part.origins, part.reads)


class _KeptSetup(NotRead):
    """Stands for the setup of a point, of which its identity alone is known."""

    def __init__(self, identity: Any) -> None:
        super().__init__("shards are gathered without it.")
        self._identity = identity

    def identity(self) -> Any:
        """Return it as the folder of a shard keeps it."""
        return self._identity


def _run_set(parts: Sequence[_Folder], first: _Folder, rows: Iterable[Row], folder: Path) -> Results:
    """Return the runs of all shards, points in the order of the whole sweep."""
    entries = [(tuple(point["place"]), part, point) for part in parts for point in part.facts["points"]]
    points: dict[str, PlannedPoint] = {}
    for _, part, point in sorted(entries, key=lambda entry: entry[0]):
        setup: Any = _KeptSetup(part.points.get(point["id"]))
        points.setdefault(point["id"], PlannedPoint(point["id"], setup, point["coordinates"], point.get("baseline")))
    sweep = sweep_without_code(first.config, folder / SWEEP, first.seeds)
    sweep = with_kept_measures(sweep, first.config, first.facts["own_measures"])
    sweep = sweep._replace(name=first.name or sweep.name, seeds=first.seeds)
    return Results(Plan(sweep, list(points.values())), rows, folder)


def _write_rows(
    parts: Sequence[_Folder], rows: dict[str, tuple[Kept, _Folder]], beside: Path, out: Path, name: str
) -> None:
    kept, origins, reads, points = [], dict[str, str](), dict[str, str](), dict[str, str]()
    verdicts: dict[str, str] = {}
    for part in parts:
        texts = {id: moved_reads(text, part.path, out) for id, text in part.reads.items()}
        used = [row for row, owner in rows.values() if owner is part]
        kept += [row._replace(reads=text_id(texts.get(row.reads, ""))) for row in used]
        origins.update((row.origin, part.origins[row.origin]) for row in used if row.origin in part.origins)
        reads.update((text_id(texts[row.reads]), texts[row.reads]) for row in used if row.reads in texts)
        points.update((point, json.dumps(identity)) for point, identity in part.points.items())
        verdicts.update((key, moved_verdict(text, part.path, out)) for key, text in part.verdicts.items())
    began = min((row.at or 0.0 for row in kept), default=0.0)
    driver = {"host": socket.gethostname(), "pid": 0, "began": began, "runs": len(kept), "kept": 0}
    meta = {"format": str(FORMAT), **({"sweep": name} if name else {}), "driver": json.dumps(driver), **verdicts}
    files = RowFiles(beside / ROWS)
    try:
        files.add(sorted(kept), origins, reads, points.items(), meta)
    finally:
        files.close()


def _signature(parts: Sequence[_Folder], first: _Folder, beside: Path, out: Path) -> str:
    """Return the sentence on the signature of the new folder, which is made if the user has signed every shard."""
    if not code_names(first.config):
        return ""
    files: dict[str, str] = {}
    for part in parts:
        admission = Admission(part.path)
        if not admission.admits(part.path / SWEEP, part.content):
            return f"it is not signed, as you have not signed {part.path}; `workbench trust {out}` lists and signs it."
        for name, digest in admission.files.items():
            if name != SWEEP and files.setdefault(moved := name_in(out, part.path / name), digest) != digest:
                edited = f"{Path(moved).name} was edited between two shards"
                return f"it is not signed: {edited}; `workbench trust {out}` lists and signs it."
    sign(beside, {**files, SWEEP: digest_of(first.content)})
    return "it is signed, as you have signed every shard."
