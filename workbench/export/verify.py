"""Verify a bundle: compute its numbers from its runs, and do a sample of the runs again, to the last bit."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, wrong_value
from workbench.experiments.kept_points import not_run
from workbench.export._comparison import Change
from workbench.export._kept_runs import KeptRuns, kept_runs
from workbench.export._recomputed import READ, RECOMPUTED, REDRAWN, YOURS, Computed, compute
from workbench.export._run_rows import read_rows, with_origins
from workbench.export.content import MAIN, ROWS
from workbench.export.manifest import FORMAT, changed, read_manifest
from workbench.mechanisms.user_measure import UserMeasure
from workbench.runs.execution import execute_runs
from workbench.runs.row import Row
from workbench.runs.run import PlannedRun
from workbench.streams import Streams


class Difference(NamedTuple):
    """One run that is not what the bundle says."""

    run_id: str
    policy: str
    seed: int
    what: str
    """Which measure (or outcome) differs, with both values; or why the run cannot be done again."""

    @property
    def sentence(self) -> str:
        """Return the difference in a line."""
        return f"run {self.run_id}, seed {self.seed} of {self.policy}: {self.what}"


class Verification(NamedTuple):
    """What came of it."""

    same: bool
    """Every sampled run gave the same bits, every number is what its runs give, every file is as it was exported."""
    sentence: str
    bundle: str
    runs: int
    """How many runs the bundle rests on."""
    checked: list[str]
    """The ids of the runs that were done again."""
    differences: list[Difference]
    """The runs that gave something else, or could not be done again."""
    changes: list[Change]
    """The cells of tables, macros, figure data and manifest that are not what the runs give."""
    edited: list[str]
    """Files of the bundle that are not as they were exported; `main.tex` is the researcher's to edit."""
    files: dict[str, str]
    """What was done with every file: `recomputed`, `redrawn`, `read` (what the runs are done from), `yours`, or the
    reason why its digest alone was compared."""
    simulated: int
    """How many runs were simulated again for figures that show more than measures."""
    notes: list[str]
    """What a reader of the tables must know: runs that failed, comparisons that lack pairs, rows of several origins."""

    @property
    def lines(self) -> list[str]:
        """Return one line a thing that differs."""
        named = {one.file for one in self.changes}
        edited = [f"{name}: is not as it was exported" for name in self.edited if name not in named]
        cells, runs = ([one.sentence for one in group] for group in (self.changes, self.differences))
        return [*cells, *runs, *edited]

    @property
    def by_digest(self) -> dict[str, str]:
        """Return the files of which the digest alone was compared, each with the reason."""
        return {name: why for name, why in self.files.items() if why not in (RECOMPUTED, REDRAWN, READ, YOURS)}


def verify(bundle: str | Path, sample: int = 10, seed: int = 0, figures: bool = True) -> Verification:
    """Compute every table, macro and figure of a bundle from its `runs.csv`, and do a sample of the runs again.

    A number that was changed together with its digest is found: what the manifest says is compared with what is
    computed. The cell is named with what the bundle says and what its runs give.

    Parameters
    ----------
    bundle : path
        A folder that `workbench export` wrote. A policy of a notebook must be defined first, and a large file put where
        the manifest's `needs` say; else nothing is needed.
    sample : int
        How many runs are done again, drawn at random; 0 = all.
    seed : int
        Of the draw.
    figures : bool
        Whether runs are simulated for figures that show more than measures, and pictures are drawn again. If not, such
        files are compared by their digests, and named.

    Raises
    ------
    InputError
        The folder is no bundle, or its sweep or its table of runs cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 2}
    >>> with TemporaryDirectory() as folder:
    ...     bundle = wb.run({**sweep, "measures": ["drain_cycles"]}, Path(folder, "runs")).export(Path(folder, "paper"))
    ...     before = verify(bundle, sample=0)
    ...     table = bundle / "tables" / "drain_cycles.tex"
    ...     _ = table.write_text(table.read_text().replace(" & 2 & ", " & 3 & "))
    ...     before.same, verify(bundle, sample=0).same
    (True, False)
    """
    folder = Path(bundle)
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 0:
        raise wrong_value("", "sample", "must be a whole number of at least 0, where 0 is all", sample)
    manifest = read_manifest(folder)
    edited = [name for name in changed(folder, manifest) if name != MAIN]
    rows = with_origins(read_rows(folder / ROWS), manifest.get("origins", {}))
    chosen = sampled(sorted(rows), sample, seed)
    try:
        kept, computed = _computed(folder, manifest, rows, figures)
    except InputError as problem:
        raise InputError(f"the runs of {folder} cannot be done here: {problem}") from None
    differences = rerun_differences(kept, manifest, [rows[run] for run in chosen])
    cells = [*kept.problems, *computed.changes]
    sentence = _sentence(folder, kept, len(rows), len(chosen), differences, computed)
    same = not differences and not edited and not cells
    return Verification(
        same,
        sentence,
        str(folder),
        len(rows),
        chosen,
        differences,
        cells,
        edited,
        computed.files,
        computed.simulated,
        [*kept.not_executed, *computed.notes],
    )


def _computed(
    folder: Path, manifest: dict[str, Any], rows: Mapping[str, Row], figures: bool
) -> tuple[KeptRuns, Computed]:
    if manifest["format"] == FORMAT:
        kept = kept_runs(folder, manifest, rows)
        return kept, compute(folder, manifest, rows, kept, figures)
    old = {**manifest, "sweep": "sweep", "measures": [], "points": {}}
    why = f"the bundle is of format {manifest['format']}; export it again to have it computed"
    return kept_runs(folder, old, {})._replace(problems=[]), Computed([], dict.fromkeys(manifest["files"], why), 0, [])


def _sentence(
    folder: Path, kept: KeptRuns, runs: int, chosen: int, differences: list[Difference], computed: Computed
) -> str:
    same = f"{chosen - len(differences)} of {chosen} runs done again gave the same bits"
    most = len(kept.plan)
    behind = f"({runs} are behind {folder})" if runs >= most else f"({runs} of the sweep's {most} are behind {folder})"
    done = [*computed.files.values()]
    cells = f"{done.count(RECOMPUTED)} files computed from them, {done.count(REDRAWN)} pictures drawn"
    again = f", {computed.simulated} runs simulated for figures" if computed.simulated else ""
    wrong = f"; {len(computed.changes)} cells differ" if computed.changes else ""
    return f"{same} {behind}; {cells}{again}{wrong}."


def sampled(runs: list[str], sample: int, seed: int) -> list[str]:
    """Draw so many runs, all of them if 0, in the order given."""
    if sample in (0, len(runs)) or sample > len(runs):
        return runs
    draw = Streams(seed)["verify"].permutation(len(runs))[:sample]
    return [runs[k] for k in sorted(draw)]


def rerun_differences(kept: KeptRuns, manifest: Mapping[str, Any], rows: list[Row]) -> list[Difference]:
    """Return the differences between rows of a bundle and the same runs done now."""
    planned = {run.id: run for run in kept.planned.runs()}
    own = {name: one for name, one in kept.planned.sweep.user_measures.items() if one.function is not not_run}
    differences = []
    for row in rows:
        what = _compared(row, planned[row.id], own) if row.id in planned else _why_not(kept, manifest)
        if what:
            differences.append(Difference(row.id, _named(manifest, row), row.seed, what))
    return differences


def _compared(row: Row, run: PlannedRun, own: Mapping[str, UserMeasure]) -> str:
    (now,) = execute_runs(run.point.setup, [(run.id, run.point.id, run.seed)], user_measures=own)
    if (row.status, row.error) != (now.status, now.error):
        return f"was {row.status} {row.error!r} and is {now.status} {now.error!r}"
    every = (_other(name, value, now.measures.get(name)) for name, value in row.measures.items())
    return "; ".join(one for one in every if one)


def _other(name: str, value: float, now: float | None) -> str:
    if now is None:
        return f"{name} is not measured any more"
    return "" if _bits(value) == _bits(now) else f"{name} was {value!r} and is {float(now)!r}"


def _bits(value: float) -> bytes:
    return struct.pack("<d", float(value))


def _why_not(kept: KeptRuns, manifest: Mapping[str, Any]) -> str:
    revision, now = manifest["engine_revision"], kept.planned.sweep.mechanism.engine.revision
    if revision != now:
        return (
            f"the engine {manifest['engine']} was at revision {revision} and is at {now}, which may give other results"
        )
    if kept.unread:
        return f"it cannot be done here: {kept.unread[0]}"
    return "its setup is not what it was: a policy, a default or an input file has changed"


def _named(manifest: Mapping[str, Any], row: Row) -> str:
    point = manifest["points"].get(row.point, {})
    return ", ".join(part for part in (point.get("setting"), point.get("policy")) if part)
