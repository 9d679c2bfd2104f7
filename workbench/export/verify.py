"""Is a bundle true? Run a sample of its runs again, from the sweep that it holds, and compare to the last bit."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, wrong_value
from workbench.experiments.folder import SWEEP
from workbench.experiments.plan import Plan, PlannedRun, make_plan
from workbench.experiments.store import Row
from workbench.experiments.sweep import read_sweep
from workbench.experiments.work import work
from workbench.export.bundle import MAIN, ROWS
from workbench.export.manifest import changed, read_manifest
from workbench.export.rows import read_rows
from workbench.streams import Streams


class Difference(NamedTuple):
    """One run that is not what the bundle says."""

    run_id: str
    policy: str
    seed: int
    what: str
    """Which measure (or outcome) differs, with both values; or why the run cannot be done again."""


class Verification(NamedTuple):
    """What came of it."""

    same: bool
    """Every sampled run gave the same bits, and every file is as it was exported."""
    sentence: str
    bundle: str
    runs: int
    """How many runs the bundle rests on."""
    checked: list[str]
    """The ids of the runs that were done again."""
    differences: list[Difference]
    edited: list[str]
    """Files of the bundle that are not as they were exported; `main.tex` is the researcher's to edit."""


def verify(bundle: str | Path, sample: int = 10, seed: int = 0) -> Verification:
    """Run again a sample of the runs behind a bundle and compare with what it holds, bit by bit.

    Parameters
    ----------
    bundle : path
        A folder that `workbench export` wrote; nothing else is needed, unless the sweep names a policy of a notebook
        (define it first) or a large file (it must lie where it lay).
    sample : int
        How many runs, drawn at random; 0 = all.
    seed : int
        Of the draw.

    Raises
    ------
    InputError
        The folder is no bundle, or its sweep cannot be read here.
    """
    folder = Path(bundle)
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 0:
        raise wrong_value("", "sample", "must be a whole number of at least 0, where 0 is all", sample)
    manifest = read_manifest(folder)
    edited = [name for name in changed(folder, manifest) if name != MAIN]
    rows = read_rows(folder / ROWS)
    chosen = _sampled(sorted(rows), sample, seed)
    plan = _planned(folder)
    found = _again(plan, manifest, [rows[run] for run in chosen])
    sentence = _sentence(folder, len(rows), chosen, found, edited)
    return Verification(not found and not edited, sentence, str(folder), len(rows), chosen, found, edited)


def _sampled(runs: list[str], sample: int, seed: int) -> list[str]:
    if sample in (0, len(runs)) or sample > len(runs):
        return runs
    draw = Streams(seed)["verify"].permutation(len(runs))[:sample]
    return [runs[k] for k in sorted(draw)]


def _planned(folder: Path) -> Plan:
    try:
        return make_plan(read_sweep(folder / SWEEP))
    except InputError as problem:
        raise InputError(f"the runs of {folder} cannot be done here: {problem}") from None


def _again(plan: Plan, manifest: Mapping[str, Any], rows: list[Row]) -> list[Difference]:
    """What differs between the rows of a bundle and the same runs done now."""
    planned = {run.id: run for run in plan.runs()}
    found = []
    for row in rows:
        what = _compared(row, planned[row.id]) if row.id in planned else _why_not(plan, manifest, row)
        if what:
            found.append(Difference(row.id, _named(manifest, row), row.seed, what))
    return found


def _compared(row: Row, run: PlannedRun) -> str:
    (now,) = work(run.point.setup, [(run.id, run.point.id, run.seed)])
    if (row.status, row.error) != (now.status, now.error):
        return f"was {row.status} {row.error!r} and is {now.status} {now.error!r}"
    for name, value in row.measures.items():
        if name not in now.measures:
            return f"{name} is not measured any more"
        if _bits(value) != _bits(now.measures[name]):
            return f"{name} was {value!r} and is {float(now.measures[name])!r}"
    return ""


def _bits(value: float) -> bytes:
    return struct.pack("<d", float(value))


def _why_not(plan: Plan, manifest: Mapping[str, Any], row: Row) -> str:
    revision, now = manifest["engine_revision"], plan.sweep.mechanism.engine.revision
    if revision != now:
        return (
            f"the engine {manifest['engine']} was at revision {revision} and is at {now}, which may give other results"
        )
    return "its setup is not what it was: a policy, a default or an input file has changed"


def _named(manifest: Mapping[str, Any], row: Row) -> str:
    point = manifest["points"].get(row.point, {})
    return ", ".join(part for part in (point.get("setting"), point.get("policy")) if part)


def _sentence(folder: Path, runs: int, chosen: list[str], found: list[Difference], edited: list[str]) -> str:
    first = (
        f"{len(chosen) - len(found)} of {len(chosen)} runs done again gave the same bits ({runs} are behind {folder})"
    )
    if found:
        one = found[0]
        first += f"; the first that differs is seed {one.seed} of {one.policy}: {one.what}"
    if edited:
        first += f"; {len(edited)} files are not as they were exported, such as {edited[0]}"
    return first + "."
