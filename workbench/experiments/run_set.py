"""The runs of a plan with their rows: the one value that tables, statistics, figures and exports start from.

`only_points` takes some of its points, those that a few words name, with the baselines that they are compared with.

A results folder holds them as the sweep as resolved, rows, table and provenance. It is opened in one way, whoever asks
(`open_folder`): its runs, for its sweep as it was last run there. Where all its rows are of other runs than its sweep
now means, a sentence says why, instead of nothing at all.
"""

from __future__ import annotations

import functools
import io
import json
import math
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from workbench.errors import InputError, StoreError, nearest_name, unknown_name
from workbench.experiments.plan import Plan, PlannedPoint, make_plan
from workbench.experiments.provenance import RowsOfOrigin, origins_of, origins_sentence, provenance
from workbench.experiments.reproducibility import Checked, standing
from workbench.experiments.results_folder import (
    PROVENANCE,
    SWEEP,
    TABLE,
    TABLE_AS_CSV,
    as_json,
    has_store,
    held,
    write_own,
)
from workbench.experiments.row import Row, read_measured, run_id
from workbench.experiments.store import Store
from workbench.experiments.sweep import read_sweep, with_files
from workbench.experiments.user_code import check_code
from workbench.levers import Spec

if TYPE_CHECKING:
    import pandas as pd


class RunSet:
    """Every run of a plan, in the plan's order, with its outcome."""

    def __init__(self, plan: Plan, rows: Iterable[Row], folder: Path | None = None, seconds: float = 0.0) -> None:
        self.plan = plan
        self.folder = folder
        self.seconds = seconds
        self.rows = {row.id: row for row in rows}
        self.whole: RunSet | None = None
        """All runs of the sweep, of which these are those of some points; None where these are all."""
        self.checked = Checked()
        """How many rows are of code of the user's of which a fresh process has confirmed some runs."""
        self._ids: dict[str, list[str]] = {}

    @property
    def points(self) -> list[PlannedPoint]:
        """Return the points of the sweep, baselines included."""
        return self.plan.points

    @property
    def seeds(self) -> list[int]:
        """Return the paired seeds."""
        return self.plan.sweep.seeds

    @property
    def failures(self) -> list[Row]:
        """Return the runs that failed."""
        return [row for row in self.rows.values() if row.status != "done"]

    @property
    def unmeasured(self) -> list[Row]:
        """Return the runs that are done and lack a cell: other code computed it than there is now, or nothing has
        yet."""
        done = (row for row in self.rows.values() if row.status == "done")
        return [row for row in done if not row.measures or self.plan.sweep.own.keys() - row.measures.keys()]

    @functools.cached_property
    def notes(self) -> list[str]:
        """Return what a reader of a table must know of its rows, a sentence each: missing measures, several origins,
        what was refused, and what a workload says of itself in its `notes`."""
        messages = []
        if missing := self.unmeasured:
            again = (
                f"; measure them again with: workbench run {self.folder / SWEEP} --out {self.folder}"
                if self.folder
                else ""
            )
            messages.append(f"{_lacked(missing, self.plan.sweep.own)}{again}")
        if several := origins_sentence(self.origins):
            messages.append(several)
        messages += filter(None, map(self._refusals, self.points))
        read = (point.setup.workload for point in self.points if point.setup)
        rules = (note for workload in read for note in getattr(workload, "notes", ()))
        return [*messages, *dict.fromkeys(rules)]

    def _refusals(self, point: PlannedPoint) -> str:
        """Return which measures of a point are missing in how many runs because something was refused; else nothing."""
        measures = self.plan.sweep.mechanism.measures
        lacking = {name: self.refused(point, name) for name in self.plan.sweep.measures if measures[name].refusals}
        if not (seeds := set().union(*lacking.values())):
            return ""
        names = ", ".join(name for name, refused in lacking.items() if refused)
        counted = ", ".join(dict.fromkeys(measures[name].refusals for name, refused in lacking.items() if refused))
        return (
            f"{self.label(point)}: in {len(seeds)} of {len(self.seeds)} runs something was refused ({counted}), so "
            f"{names} of these are missing: less was done; in a comparison they are the worst."
        )

    @functools.cached_property
    def origins(self) -> list[RowsOfOrigin]:
        """Return where the rows come from: what computed how many of them, the largest part first."""
        return origins_of(self.rows.values())

    @functools.cached_property
    def varied(self) -> list[str]:
        """Return the dotted paths of the varied levers, in the order of the sweep."""
        return list(dict.fromkeys(path for point in self.points for path in point.coordinates))

    @functools.cached_property
    def table(self) -> pd.DataFrame:
        """Return one row a run: run_id, status, error, seed, one column a varied lever, one a measure."""
        import pandas as pd

        names = self.plan.sweep.measures
        kept = [(run, self.rows[run.id]) for run in self.plan.runs() if run.id in self.rows]
        columns: dict[str, list[Any]] = {
            "run_id": [run.id for run, _ in kept],
            "status": [row.status for _, row in kept],
            "error": [row.error for _, row in kept],
            "seed": [run.seed for run, _ in kept],
        }
        for path in self.varied:
            columns[path] = [run.point.coordinates.get(path) for run, _ in kept]
        return pd.DataFrame({**columns, **_columns(names, [row.measures for _, row in kept])})

    def values(self, point: PlannedPoint, measure: str) -> dict[int, float]:
        """Return one measure of a point by seed, failed runs left out; NaN where a run has no such part as it is
        about."""
        if measure not in self.plan.sweep.mechanism.measures:
            raise unknown_name("", "measure", measure, self.plan.sweep.mechanism.measures)
        self.plan.sweep.check_computed(measure)
        rows_by_seed = zip(self.seeds, map(self.rows.get, self._ids_of(point)), strict=True)
        return {
            seed: row.measures.get(measure, math.nan)
            for seed, row in rows_by_seed
            if row is not None and row.status == "done"
        }

    def refused(self, point: PlannedPoint, measure: str) -> set[int]:
        """Return the seeds of a point's runs that lack a measure because something was refused in them."""
        counts = self.plan.sweep.mechanism.measures[measure].refusals
        if not counts:
            return set()
        refusals = self.values(point, counts)
        return {seed for seed, value in self.values(point, measure).items() if math.isnan(value) and refusals[seed] > 0}

    def _ids_of(self, point: PlannedPoint) -> list[str]:
        """Return the ids of a point's runs, in the order of the seeds: each a digest, which every measure asks for."""
        if point.id not in self._ids:
            self._ids[point.id] = [run_id(point.id, seed) for seed in self.seeds]
        return self._ids[point.id]

    def baseline_of(self, point: PlannedPoint) -> PlannedPoint | None:
        """Return the point that another is compared with."""
        return next((other for other in self.points if other.id == point.baseline), None)

    def label(self, point: PlannedPoint) -> str:
        """Return how legends name a point: its coordinates, without paths where one coordinate alone is varied."""
        coordinates = {path: value for path, value in point.coordinates.items() if _tells(path, self.varied)}
        if len(coordinates) <= 1:
            return str(next(iter(coordinates.values()), self.plan.sweep.name))
        return ", ".join(
            str(v) if path.startswith("policy.") else f"{_last(path)} {v}" for path, v in coordinates.items()
        )

    def record(self, run: str, events: bool = False) -> Any:
        """Return what happened in a run, simulated again (the same bits as when its row was kept), if asked for with
        all that its event log is made of."""
        point, seed = self._found(run)
        check_code(point.setup)
        return self.plan.sweep.mechanism.engine.simulate(point.setup, seed, events=events)

    def records(self, point: PlannedPoint, most: int | None = None) -> list[Any]:
        """Return the records of a point's finished runs, in the order of the seeds."""
        check_code(point.setup)
        engine = self.plan.sweep.mechanism.engine
        seeds = [seed for seed in self.seeds if self._done(point, seed)][:most]
        return [engine.simulate(point.setup, seed) for seed in seeds]

    def events(self, run: str) -> pd.DataFrame:
        """Return the event log of a run as a table."""
        import pandas as pd

        columns: dict[str, np.ndarray] = self.plan.sweep.mechanism.events(self.record(run, events=True))
        return pd.DataFrame({"run_id": run, **columns})

    def _done(self, point: PlannedPoint, seed: int) -> bool:
        row = self.rows.get(run_id(point.id, seed))
        return row is not None and row.status == "done"

    def _found(self, run: str) -> tuple[PlannedPoint, int]:
        for planned in self.plan.runs():
            if planned.id == run:
                return planned.point, planned.seed
        raise InputError(f"no run {run!r} in this sweep; results.table lists the run ids.")


def gather(plan: Plan, store: Store, folder: Path | None = None, seconds: float = 0.0) -> RunSet:
    """Return the rows of a plan from a store; measures that other code computed than there is now are missing."""
    rows, checked = standing(plan, store, list(_rows_of(plan, store)))
    runs = RunSet(plan, rows, folder, seconds)
    runs.checked = checked
    return runs


def _rows_of(plan: Plan, store: Store) -> Iterator[Row]:
    """Yield the rows of a plan, each without the cells that other code computed than there is now."""
    wanted, origins, measured = {*plan.ids}, store.origins(), plan.sweep.measured_by()
    text = measured.text
    for kept in store.kept():
        if kept.id in wanted:
            row = kept.row(origins)
            if row.measured != text:
                row = row._replace(measures=read_measured(row.measured).cells(row.measures, measured))
            yield store.failed_again.get(row.id, row)


def _lacked(rows: list[Row], own: Mapping[str, Any]) -> str:
    """Say which cells are missing in some rows, and why."""
    if any(not row.measures for row in rows):
        return f"the measures of {len(rows)} runs are missing, as their code was edited since"
    names = [name for name in own if any(name not in row.measures for row in rows)]
    return f"{', '.join(names)} is missing in {len(rows)} runs, as its code is new or was edited since"


def _columns(names: list[str], measures: list[dict[str, float]]) -> dict[str, Any]:
    """Return one column a measure, not a number where a run has none."""
    values = [[measure.get(name, math.nan) for name in names] for measure in measures]
    return dict(zip(names, zip(*values))) if values else {name: [] for name in names}


def _tells(path: str, varied: list[str]) -> bool:
    """Return whether a coordinate tells more than its policy's short name, which already holds its levers."""
    parent = ".".join(path.split(".")[:2])
    return not (path.startswith("policy.") and path != parent and parent in varied)


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1].split("[")[0].replace("_", " ")


MOST_NAMED = 8
"""Of values that a refusal lists."""


def only_points(runs: RunSet, words: Sequence[str]) -> RunSet:
    """Return the runs of the points that words name, and of their baselines; p-values stay corrected over the sweep.

    Parameters
    ----------
    words : sequence of str
        Each the value of a varied lever (`best_fit`, also of `best_fit(tie=high)`), or LEVER=VALUE (`segments=64`). A
        point has to match one word of each lever that words name.

    Raises
    ------
    InputError
        A word names no point, or together they name none.

    Examples
    --------
    >>> import workbench as wb
    >>> rules = {"vary": ["first_fit", "best_fit", "worst_fit"]}
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 9}}
    >>> runs = wb.run({**sweep, "policy": {"placement": rules}}, workers=0)
    >>> [point.coordinates["policy.placement"] for point in only_points(runs, ["best_fit", "first_fit"]).points]
    ['first_fit', 'best_fit']
    """
    wanted: dict[str, list[str]] = {}
    for word in words:
        for path in _paths_of(runs, word):
            wanted.setdefault(path, []).append(word)
    kept = {point.id for point in runs.points if all(_is_one(point, path, wanted[path]) for path in wanted)}
    if not kept:
        raise InputError(f"no point of {runs.plan.sweep.name} is all of {', '.join(words)}.")
    ids = kept | {str(point.baseline) for point in runs.points if point.id in kept}
    plan = replace(runs.plan, points=[point for point in runs.points if point.id in ids])
    rows = [row for row in runs.rows.values() if row.point in ids]
    chosen = RunSet(plan, rows, runs.folder, runs.seconds)
    chosen.whole = runs.whole or runs
    return chosen


def _paths_of(runs: RunSet, word: str) -> list[str]:
    """Return the levers that a word is a value of."""
    paths = [path for path in runs.varied if any(_is(point, path, word) for point in runs.points)]
    if not paths:
        values = [str(point.coordinates[path]) for point in runs.points for path in point.coordinates]
        known = list(dict.fromkeys(values))
        near = nearest_name(word, known)
        cure = f" Did you mean {near}?" if near else ""
        listed = ", ".join(known[:MOST_NAMED]) + (", ..." if len(known) > MOST_NAMED else "")
        raise InputError(f"no point of {runs.plan.sweep.name} is {word!r}; there are {listed}.{cure}")
    return paths


def _is_one(point: PlannedPoint, path: str, words: Sequence[str]) -> bool:
    return any(_is(point, path, word) for word in words)


def _is(point: PlannedPoint, path: str, word: str) -> bool:
    if path not in point.coordinates:
        return False
    value = str(point.coordinates[path])
    name, mark, rest = word.partition("=")
    if mark and "(" not in name:
        return (path == name or path.endswith(f".{name}")) and _same(value, rest)
    return _same(value, word)


def _same(value: Any, word: str) -> bool:
    """Return whether a value is a word, or a policy of that name with levers."""
    return value == word or (value.startswith(f"{word}(") and value.endswith(")"))


def open_folder(folder: Path) -> RunSet:
    """Return the runs that a folder holds; a measure that was edited since has no values.

    Raises
    ------
    StoreError
        It is no results folder, its store is damaged, or its rows are of another sweep.
    """
    if not has_store(folder) or not (folder / SWEEP).is_file():
        raise StoreError(f"{folder} is not a results folder: it has no rows or no {SWEEP}.{_rooms(folder)}")
    plan = make_plan(read_sweep(folder / SWEEP))
    with closing(Store(folder, read_only=True)) as store:
        refuse_stale(plan, store, folder)
        plan.sweep.measured_by(anew=True)
        return gather(plan, store, folder)


def _rooms(folder: Path) -> str:
    """Return a sentence that names the results folders inside a folder, such as that of the claims."""
    inside = sorted(path.parent.name for path in folder.glob(f"*/{SWEEP}") if has_store(path.parent))
    made = " `workbench run SWEEP.yaml` makes one and says where."
    return f" It holds some: {', '.join(inside)}." if inside else made


def run_kept(plan: Plan, folder: Path | None, run: Callable[[Plan, Store], float]) -> RunSet:
    """Run what a folder does not hold yet, and keep it there as the results of a sweep; in memory without a folder.

    Parameters
    ----------
    run : callable
        Does what is missing of a plan in a store, and returns the seconds that it took.
    """
    if folder is None:
        store = Store(None)
        return gather(plan, store, None, run(plan, store))
    with held(folder), closing(Store(folder, plan.sweep.name)) as store:
        runs = gather(plan, store, folder, run(plan, store))
        write_results(runs, folder)
        return runs


def write_results(runs: RunSet, folder: Path) -> None:
    """Write the files beside the store, each whole or not at all."""
    write_sweep(runs, folder)
    write_own(folder / PROVENANCE, as_json(provenance(runs)))
    write_table(runs, folder)


def write_sweep(runs: RunSet, folder: Path) -> None:
    """Write the sweep as it is run: with it, results can be looked at however the run ends."""
    write_own(folder / SWEEP, yaml.safe_dump(resolved(runs), sort_keys=False, allow_unicode=True))


def resolved(runs: RunSet) -> dict[str, Any]:
    """Return the sweep as it was run, overrides applied, policies by name, paths of files made absolute."""
    sweep = runs.plan.sweep
    seeds = shortest(sweep.seeds) if sweep.until is None else sweep.said["seeds"]
    config = {**named(sweep.said), "seeds": seeds}
    if sweep.looks:
        config["looks"] = list(sweep.looks)
    return with_files(config, sweep.folder, lambda path: str(path.resolve()))


def with_looks(plan: Plan, folder: Path) -> Plan:
    """Return the plan with the numbers of seeds at which a folder has shown results of its comparisons.

    An earlier run into the folder has shown them, as far as its points and seeds are some of these. Whoever adds seeds
    until a verdict looks right has looked several times, and every p-value then answers for all of them.
    """
    before = _before(folder)
    same = not {point.id for point in plan.points}.isdisjoint(before.get("points", {}))
    seeds, sweep = before.get("seeds", []), plan.sweep
    if not same or not before.get("rows") or sweep.until is not None or set(seeds).isdisjoint(sweep.seeds):
        return plan
    looks = {*sweep.looks, *before.get("looks", []), len(seeds)} - {len(sweep.seeds)}
    return Plan(sweep._replace(looks=tuple(sorted(looks))), plan.points)


def _before(folder: Path) -> dict[str, Any]:
    """Return the provenance that an earlier run left in a folder, nothing where there is none that can be read."""
    try:
        before = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return before if isinstance(before, dict) else {}


def write_table(runs: RunSet, folder: Path) -> Path:
    """Return the table as Parquet, or as CSV where the optional part `store` is not installed."""
    buffer = io.BytesIO()
    try:
        runs.table.to_parquet(buffer, index=False)
    except ImportError:
        write_own(folder / TABLE_AS_CSV, runs.table.to_csv(index=False))
        return folder / TABLE_AS_CSV
    write_own(folder / TABLE, buffer.getvalue())
    return folder / TABLE


def named(value: Any) -> Any:
    """Return what a sweep says in plain types: policies and other specs by name, as YAML writes them."""
    if isinstance(value, Spec):
        return {value.name: value.plain()}
    if isinstance(value, type) and issubclass(value, Spec):
        return value.name
    if isinstance(value, dict):
        return {key: named(inner) for key, inner in value.items()}
    return [named(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def shortest(seeds: list[int]) -> Any:
    """Return the seeds as a sweep says them."""
    in_a_row = seeds == list(range(seeds[0], seeds[0] + len(seeds)))
    return {"first": seeds[0], "count": len(seeds)} if in_a_row else seeds


def refuse_stale(plan: Plan, store: Store, folder: Path) -> None:
    """Refuse a store that holds rows and none of a plan's.

    Raises
    ------
    StoreError
        The sentence says what named the rows otherwise, or names what is unlike in the kept point that is most like
        one of the plan's.
    """
    wanted = {point.id for point in plan.points}
    rows, known = 0, False
    for row in store.kept():
        rows, known = rows + 1, known or row.point in wanted
    if rows and not known:
        reason = _named_otherwise(store.origins().values()) or _unlike_points(plan, store)
        raise StoreError(
            f"none of the {rows} rows in {folder} is of its sweep as it reads now: {reason}; "
            f"run it again with: workbench run {folder / 'sweep.yaml'} --out {folder}"
        )


def stale_sentence(plan: Plan, store: Store, done: Collection[str]) -> str:
    """Say why nothing of a plan is kept in a folder that holds rows, where another version or another Python made them.

    Empty where something is kept, where there are no rows, or where they are simply of another sweep. `done` holds the
    ids of the runs that are done.
    """
    rows, reason = store.count(), _named_otherwise(store.origins().values())
    if not rows or not reason or any(run.id in done for run in plan.runs()):
        return ""
    return f"none of the {rows} rows in this folder is kept for this sweep: {reason}"


def _named_otherwise(origins: Iterable[str]) -> str:
    """Return what names runs otherwise than this process: an older version, or another Python; else empty."""
    made = {_minor(json.loads(text).get("python", "")) for text in origins}
    here = _minor(platform.python_version())
    if not made:
        return "they were made by workbench 0.4 or older, which named runs otherwise"
    if here in made:
        return ""
    return f"they were made under Python {', '.join(sorted(made))}, and this is {here}, which names runs otherwise"


def _minor(version: str) -> str:
    """Return the part of a version of Python with which compiled code may change.

    >>> _minor("3.12.4")
    '3.12'
    """
    return ".".join(version.split(".")[:2])


def _unlike_points(plan: Plan, store: Store) -> str:
    now = plan.points[0].setup.identity()
    unlike = [list(_unlike(now, before)) for before in store.identities().values()]
    paths = min(unlike, key=len, default=[])
    if not unlike:
        return "what they were is not known"
    if not paths:
        return f"the engine {now['engine']} gives other results since"
    code = [path.split(".") for path in paths if path.endswith(".code")]
    if code:
        part, name = code[0][:2]
        return f"the policy of {name} was edited since" if part == "policies" else f"the {part}'s code was edited since"
    return f"{paths[0]} is another one since"


def _unlike(now: Any, before: Any, path: str = "") -> Iterator[str]:
    """Yield the dotted paths at which two identities differ; a policy's text stands under its slot."""
    if isinstance(now, dict) and isinstance(before, dict):
        for key in sorted({*now, *before}):
            yield from _unlike(now.get(key), before.get(key), f"{path}.{key}" if path else key)
    elif now != before:
        yield path
