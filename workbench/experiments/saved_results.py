"""The results of a sweep in their folder: opened, written, and refused where the folder holds another sweep's."""

from __future__ import annotations

import io
import json
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from workbench.errors import InputError, StoreError, file_guess
from workbench.experiments.earlier_rows import earlier_rows, earlier_sentence
from workbench.experiments.kept_points import kept_runs
from workbench.experiments.named_code import code_problem, sign_own
from workbench.experiments.needed_packages import missing_packages
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.provenance import kept_provenance, provenance
from workbench.experiments.results import Results, gather
from workbench.experiments.results_folder import (
    PROVENANCE,
    SWEEP,
    TABLE,
    TABLE_AS_CSV,
    as_json,
    has_store,
    held,
    refuse_former,
    write_own,
)
from workbench.experiments.store import Store
from workbench.experiments.sweep import planned_seeds, read_seeds, read_sweep, with_files, without_former_keys
from workbench.levers import Spec
from workbench.strict_yaml import read_mapping

if TYPE_CHECKING:
    import pyarrow


def open_folder(folder: Path) -> Results:
    """Return the runs that a folder holds; a measure that was edited since has no values.

    Rows of an earlier version are shown as they are, with a note. The next run of the sweep simulates them again.

    Code that the sweep names is executed if this user has signed it. If it is not, or if it cannot be executed, the
    rows are shown as they were kept, with a note.

    Raises
    ------
    StoreError
        It is no results folder, version 0.4 wrote it, its store is damaged, or its rows are of another sweep.
    InputError
        The sweep cannot be read, for instance because a package that brings a part of it is not installed.
    """
    refuse_former(folder)
    if not has_store(folder) or not (folder / SWEEP).is_file():
        cure = file_guess(folder) or _folders_inside(folder)
        raise StoreError(f"{folder} is not a results folder: it has no rows or no {SWEEP}.{cure}")
    if problem := code_problem(folder / SWEEP):
        return kept_runs(folder, problem)
    with closing(Store(folder, read_only=True)) as store:
        part = store.part
        try:
            plan = make_plan(read_sweep(folder / SWEEP), shard=None if part is None else part.shard)
        except InputError:
            if missing := missing_packages(kept_provenance(folder)):
                raise InputError(f"{folder} cannot be read here: {missing}") from None
            raise
        plan.sweep.measured_by(anew=True)
        if not _holds_a_point(plan, store) and (rows := earlier_rows(plan, store)):
            runs = Results(plan, rows, folder)
            runs.version_note = earlier_sentence(rows, folder / SWEEP, folder)
            return runs
        refuse_stale(plan, store, folder)
        return gather(plan, store, folder)


def _folders_inside(folder: Path) -> str:
    """Return a sentence that names the results folders inside a folder, such as that of the claims."""
    inside = sorted(path.parent.name for path in folder.glob(f"*/{SWEEP}") if has_store(path.parent))
    made = " `workbench run SWEEP.yaml` makes one and says where."
    return f" It holds some: {', '.join(inside)}." if inside else made


def name_in(plan: Plan, folder: Path) -> str:
    """Return the name under which a folder keeps a sweep; empty for the folder's own file, whatever its name was."""
    return "" if Path(plan.sweep.where).absolute() == (folder / SWEEP).absolute() else plan.sweep.name


def run_kept(plan: Plan, folder: Path | None, run: Callable[[Plan, Store], float]) -> Results:
    """Run what a folder does not hold yet, and keep it there as the results of a sweep; in memory without a folder.

    Parameters
    ----------
    run : callable
        Does what is missing of a plan in a store, and returns the seconds that it took. The plan that it is given knows
        the seeds of the folder's first plan.
    """
    if folder is None:
        store = Store(None)
        return gather(plan, store, None, run(plan, store))
    with held(folder), closing(Store(folder, name_in(plan, folder))) as store:
        plan = with_planned(plan, folder, store)
        runs = gather(plan, store, folder, run(plan, store))
        write_results(runs, folder)
        return runs


def write_results(runs: Results, folder: Path) -> None:
    """Write the files next to the store, each whole or not at all."""
    write_sweep(runs, folder)
    write_own(folder / PROVENANCE, as_json(provenance(runs)))
    write_table(runs, folder)


def write_sweep(runs: Results, folder: Path) -> None:
    """Write the sweep as it is run, and sign its code: with both, results can be looked at however the run ends."""
    config = resolved(runs)
    write_own(folder / SWEEP, yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    sign_own(folder, {SWEEP: config}, runs.plan.sweep.where)


def resolved(runs: Results) -> dict[str, Any]:
    """Return the sweep as it was run, overrides applied, policies by name, paths of files made absolute."""
    sweep = runs.plan.sweep
    seeds = shortest(sweep.seeds) if sweep.until is None else sweep.config["seeds"]
    config = {**named(sweep.config), "seeds": seeds}
    return with_files(config, sweep.folder, lambda path: str(path.resolve()))


def with_planned(plan: Plan, folder: Path, store: Store) -> Plan:
    """Return the plan with the number of seeds of the first plan of a results folder, which later plans do not change.

    Whoever adds seeds until a verdict looks right has looked several times. The first plan is the one that was made
    before anything was seen. Points and seeds that the folder does not know are a first plan again. Adaptive seeds look
    at widths alone and have no such number, but the folder keeps it.
    """
    sweep = plan.sweep
    known = not {point.id for point in plan.points}.isdisjoint(store.points())
    is_seen = known or (store.count() > 0 and bool(earlier_rows(plan, store)))
    planned = _planned_before(folder, sweep.seeds) if is_seen else None
    if sweep.until is None:
        planned = planned or sweep.planned or len(sweep.seeds)
        sweep = sweep._replace(planned=planned)
    config = sweep.config if planned is None else {**sweep.config, "planned": planned}
    return replace(plan, sweep=sweep._replace(config=config))


def _planned_before(folder: Path, seeds: list[int]) -> int | None:
    """Return the number of seeds of the first plan of a folder, or of those whose results were seen; None for other
    seeds."""
    if not (folder / SWEEP).is_file():
        return None
    config = read_mapping(folder / SWEEP)
    given = config.get("seeds", 1)
    adaptive = isinstance(given, Mapping) and "until" in given
    before = kept_provenance(folder).get("seeds", []) if adaptive else read_seeds(given, str(folder / SWEEP))
    if set(before).isdisjoint(seeds):
        return None
    former = without_former_keys(config, str(folder / SWEEP))
    return planned_seeds(former, str(folder / SWEEP)) or len(before)


def write_table(runs: Results, folder: Path) -> Path:
    """Return the table as Parquet, or as CSV where the optional part `store` is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        write_own(folder / TABLE_AS_CSV, runs.table.to_csv(index=False))
        return folder / TABLE_AS_CSV
    columns = runs.columns()
    arrays = [_arrow(values) for values in columns.values()]
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, names=list(columns)), buffer)
    write_own(folder / TABLE, buffer.getvalue())
    return folder / TABLE


def _arrow(values: Sequence[Any]) -> pyarrow.Array:
    """Return a column of numbers, truth values or text as an Arrow array; NaN and None are null.

    Where numbers and text are mixed, all is text: a column has one type. The array is made of its buffers, as
    `pyarrow.array` imports pandas, which takes longer than a small sweep.

    >>> _arrow([5, 2.5, None]).to_pylist(), _arrow([5, "uniform(1, 9)", None]).to_pylist()
    ([5.0, 2.5, None], ['5', 'uniform(1, 9)', None])
    """
    import pyarrow

    filler = next((value for value in values if value is not None), None)
    if filler is None:
        return pyarrow.nulls(len(values))
    known = np.array([value is not None for value in values])
    if any(isinstance(value, str) for value in values):
        texts = [b"" if value is None else str(value).encode() for value in values]
        kind, parts = pyarrow.large_string(), [np.cumsum([0, *map(len, texts)], dtype=np.int64), b"".join(texts)]
    else:
        column = np.array([filler if value is None else value for value in values])
        kind, known = pyarrow.from_numpy_dtype(column.dtype), known & (column == column)
        parts = [np.packbits(column, bitorder="little") if column.dtype == np.bool_ else column]
    buffers = [pyarrow.py_buffer(part) for part in (np.packbits(known, bitorder="little"), *parts)]
    return pyarrow.Array.from_buffers(kind, len(values), buffers)


def named(value: Any) -> Any:
    """Return the content of a sweep in plain types: policies and other specs by name, as YAML writes them."""
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
    rows = store.count()
    if rows and not _holds_a_point(plan, store):
        reason = _named_otherwise(store.origins().values()) or _unlike_points(plan, store)
        raise StoreError(
            f"none of the {rows} rows in {folder} is of its sweep as it reads now: {reason}; "
            f"run it again with: workbench run {folder / 'sweep.yaml'} --out {folder}"
        )


def _holds_a_point(plan: Plan, store: Store) -> bool:
    wanted = {point.id for point in plan.points}
    return any(row.point in wanted for row in store.kept())


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
    """Return the version that names runs otherwise than this process: an older version, or another Python; else
    empty."""
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
