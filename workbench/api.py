"""The public words: run a sweep and hold its results; list what there is."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import InputError
from workbench.experiments.fronts import front_diff
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.progress import usual_watcher
from workbench.experiments.results import Results
from workbench.experiments.results import gather as gathered
from workbench.experiments.results_folder import SWEEP, held
from workbench.experiments.runner import LIMIT_SECONDS, Progress, check_limit, check_pool
from workbench.experiments.saved_results import name_in, open_folder, resolved, with_planned, write_results, write_sweep
from workbench.experiments.shard_folder import claim_shard
from workbench.experiments.shards import read_shard
from workbench.experiments.stop_rule import run_plan
from workbench.experiments.store import Store
from workbench.experiments.sweep import Sweep, read_sweep
from workbench.mechanisms.any_engine import GENERAL
from workbench.mechanisms.catalogue import figure_engines
from workbench.runs.user_code import check_code
from workbench.statistics.adaptive_seeds import settled, stop_rule
from workbench.strict_yaml import read_mapping

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from workbench.explain.blame import Blame
    from workbench.explain.decisions import Steps
    from workbench.explain.discovery import Discovery
    from workbench.explain.sensitivity import Sensitivity
    from workbench.explain.sensitivity.analysis import Of

MEASURE = "group_p99_cycles"
"""What blame looks at unless another measure is named."""


def run(
    sweep: str | Path | Mapping[str, Any] | Plan,
    out: str | Path | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    limit_seconds: float = LIMIT_SECONDS,
    repeat: bool | None = None,
    shard: str | None = None,
) -> Results:
    """Run what a sweep asks and `out` does not hold yet; return every result.

    Parameters
    ----------
    sweep : path, mapping or Plan
        A sweep file, the same as a mapping, or the plan that `workbench.plan` made of it.
    out : path, optional
        A folder that keeps every row as it comes; without one the rows live in memory.
    set : mapping, optional
        Overrides by dotted path; a value may be a policy, also one defined in a notebook.
    seeds : int, optional
        How many paired seeds, instead of what the sweep says.
    workers : int, optional
        Processes (or threads). 1 runs in this process, 0 in this very thread and without a limit, for a debugger. Left
        out, one process a core is started when that pays off.
    executor : str or Executor, optional
        `processes`, `threads`, a Dask cluster (`tcp://HOST:PORT`, or `local:4` for one of this machine's own), or
        anything that submits as `concurrent.futures` does.
    progress : optional
        The watcher; left out, in a notebook a line below the cell, elsewhere none, and failed runs are warned of.
    limit_seconds : float
        The longest that one run may take; a run that takes longer is a failed row.
    repeat : bool, optional
        Whether runs are repeated in a fresh process, in addition to the sweep. Two of each new code of the user's are,
        and one in a hundred of the rows that are kept. Where they differ, rows are withdrawn with the reason. With
        False, rows of the user's code stay unchecked. Left out, runs are repeated, but for `workers=0`.
    shard : str, optional
        `2/4` does the second of four parts, in a folder of its own; `gather` merges the folders of all parts.

    Raises
    ------
    InputError
        The sweep is not valid, or has no such shard; or a plan comes with `set`, `seeds` or `shard`. Nothing has been
        run and nothing written.
    StoreError
        The folder belongs to another sweep or shard, to a newer version, or to a driver that is still running. Or its
        rows were removed or moved away meanwhile, and the sentence says where they are now.

    Examples
    --------
    >>> import workbench as wb
    >>> results = wb.run({"engine": "shared_memory", "workload": "large_uniform", "measures": ["drain_cycles"],
    ...                   "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}, "seeds": 2})
    >>> results.table.shape
    (4, 6)
    """
    todo = _plan_of(sweep, set, seeds, shard)
    check_pool(executor, workers)
    check_limit(limit_seconds)
    part = None if todo.part is None else todo.part.shard
    if out is None:
        if part is not None:
            raise InputError(f"{part.name} is kept in a folder, from which it is gathered: name one as `out`.")
        rows = Store(None)
        seconds = run_plan(todo, rows, workers, executor, progress, limit_seconds, repeat, stop=stop_rule(todo.sweep))
        return _watched(_settled(gathered(todo, rows, None, seconds)), progress)
    with held(Path(out)) as folder, closing(Store(folder, name_in(todo, folder), shard=part)) as rows:
        _say_changed_front(todo, folder, progress)
        todo = with_planned(todo, folder, rows)
        if part is not None:
            claim_shard(todo, rows)
        write_sweep(Results(todo, ()), folder)
        seconds = run_plan(todo, rows, workers, executor, progress, limit_seconds, repeat, stop=stop_rule(todo.sweep))
        results = _kept(_settled(gathered(todo, rows, folder, seconds)))
        rows.prove_place()
        return _watched(results, progress)


def gather(folders: Sequence[str | Path], out: str | Path) -> Path:
    """Merge the folders of all shards of a sweep into a new results folder, once it is proved that nothing is missing.

    Nothing is run and no code of a sweep is executed. The new folder is signed only if this user has signed every one.

    Parameters
    ----------
    folders : sequence of paths
        Those of `run(..., shard="K/N")`, for each K from 1 to N; a shard that was done twice counts once.
    out : path
        The new folder, which `open_results` opens.

    Raises
    ------
    StoreError
        A shard is missing, incomplete, or of another sweep or version; two contradict each other; or the new folder is
        there already. Nothing is written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> sweep = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 4, "measures": ["drain_cycles"]}
    >>> with TemporaryDirectory() as place:
    ...     parts = [run(sweep, f"{place}/{k}", shard=f"{k}/2").folder for k in (1, 2)]
    ...     len(open_results(gather(parts, f"{place}/all")).table)
    4
    """
    from workbench.experiments.shard_merge import gather_shards

    return gather_shards([Path(folder) for folder in folders], Path(out)).folder


def _watched(results: Results, progress: Progress | None) -> Results:
    """Return results; warn of failed runs if there was no watcher."""
    if results.failures and progress is None:
        many = f"{len(results.failures)} of {len(results.rows)} runs failed"
        warnings.warn(f"{many} (`failures` has them): {results.failures[0].error}", stacklevel=3)
    return results


def sensitivity(
    study: str | Path | Mapping[str, Any] | Plan,
    out: str | Path | None = None,
    *,
    measure: str | None = None,
    of: Of = "mean",
    set: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Estimate which levers a measure depends on, alone and together: Sobol's indices or Morris's effects, with
    intervals.

    A study is a sweep whose ranges are drawn by `design: {saltelli: ...}` or `{morris: ...}`. Its evaluations are
    ordinary runs: with a folder they are kept, and what is kept is not run again.

    Parameters
    ----------
    study, out, set, seeds, workers, executor, progress
        As in `run`.
    measure : str, optional
        Any measure of the engine; all that the sweep names if None.
    of : {"mean", "gain"}
        The measure itself in the mean over the seeds, or the mean paired difference to the baseline, positive = better.

    Raises
    ------
    InputError
        The sweep is not valid or no such study; an output is not finite; or all are equal.

    Examples
    --------
    >>> import workbench as wb
    >>> result = wb.sensitivity({"engine": "shared_memory", "measures": ["drain_cycles"],
    ...     "workload": {"regime": "small_uniform", "count": {"vary": {"from": 20, "to": 60}}},
    ...     "machine": {"segments": {"vary": {"from": 32, "to": 128}}}, "design": {"saltelli": {"base": 16}}})
    >>> list(result.table["lever"])
    ['machine.segments', 'workload.count']
    """
    from workbench.explain.sensitivity import check

    todo = _plan_of(study, set, seeds)
    check(todo.sweep, measure, of)
    analysed = run(todo, out, workers=workers, executor=executor, progress=progress)
    return analysed.sensitivity(measure, of)


def blame(
    sweep: str | Path | Mapping[str, Any],
    out: str | Path | None = None,
    *,
    measure: str | None = MEASURE,
    parts: Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
) -> Blame:
    """Estimate what each kind of delay costs: run a sweep, then again without each of them, with the same seeds.

    Kinds of delay are the parts of a group's time in the engine `node` (spec 6, R18). The runs are ordinary ones: with
    a folder they are kept, and what is kept is not run again.

    Parameters
    ----------
    sweep, out, set, seeds, workers, executor, progress
        As in `run`.
    measure : str, optional
        Any measure of the engine of which less or more is better; all of these that the sweep names if None.
    parts : sequence of str, optional
        The kinds of delay, such as `walkers`; all of them if None.

    Returns
    -------
    Blame
        With a `table`: one row a point and kind of delay, with the mean change and its 95 % interval over the seeds.

    Raises
    ------
    InputError
        The sweep is not valid or its engine is another; there is no such measure or kind of delay.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "node", "workload": {"synthetic": "small_kernels"}, "measures": ["makespan_cycles"],
    ...     "machine": {"card": {"compute_units": 4}, "translation": {"cores": 4}}, "seeds": 2}
    >>> blame = wb.blame(sweep, parts=["walkers"], workers=0)
    >>> list(blame.table["part"])
    ['walkers']
    """
    from workbench.explain.blame import Blame, blame_sweep, measures_of

    read = read_sweep(sweep, _overrides(set, seeds))
    _check_figures(read)
    measures = measures_of(read, measure)
    todo = make_plan(blame_sweep(read, None if parts is None else tuple(parts)))
    return Blame(run(todo, out, workers=workers, executor=executor, progress=progress), measures)


def discover(
    sweep: str | Path | Mapping[str, Any] | Plan,
    out: str | Path | None = None,
    *,
    measure: str | None = None,
    win: bool = False,
    clear: bool = False,
    above: float | None = None,
    below: float | None = None,
    boxes: int = 1,
    density: float | None = None,
    set: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
) -> Discovery:
    """Search where in the space of workload and machine a policy loses: a box of limits on levers that holds many of
    the losses and little else.

    Every point of the sweep is a case, so many levers are varied together, best by `design: {latin_hypercube: ...}`.
    The box is found by the patient rule induction method, PRIM; it stands only if the same search among shuffled labels
    seldom finds one as clear.

    Parameters
    ----------
    sweep, out, set, seeds, workers, executor, progress
        As in `run`; or the sweep is a results folder, of which nothing is run.
    measure : str, optional
        Any measure of the engine; the first that the sweep names if None.
    win : bool
        Look for where the policy beats its baseline in the mean over the seeds, not for where it loses.
    clear : bool
        Count a loss or win only where its interval is clear of zero and its p-value, with the false discovery rate held
        over all points, is below 5 %.
    above, below : float, optional
        Look for a mean of the measure above or below a number, in the measure's unit; then no baseline is needed.
    boxes : int
        How many boxes a policy at most, each among the points outside of those before.
    density : float, optional
        Take the largest box of which at least this share is of interest, not the one that tells losses best.

    Returns
    -------
    Discovery
        With `sentences()`, and as tables its `boxes`, their `trajectory` and the `cases`.

    Raises
    ------
    InputError
        The sweep is not valid; there is no such measure, nothing to lose against, or too few points.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "measures": ["drain_cycles"], "machine": {"segments": 128}, "workload": {
    ...     "regime": "large_uniform", "count": {"vary": {"from": 10, "to": 90, "count": 20}}}}
    >>> print(wb.discover(sweep, above=900, workers=0).sentences()[0])  # doctest: +ELLIPSIS
    the sweep has drain_cycles above 900 where count >= ...
    """
    from workbench.explain.discovery import check, interest_of

    interest = interest_of(win, clear, above, below)
    if isinstance(sweep, (str, Path)) and Path(sweep).is_dir():
        results = open_results(sweep)
    else:
        todo = _plan_of(sweep, set, seeds)
        check(todo, measure, interest)
        results = run(todo, out, workers=workers, executor=executor, progress=progress)
    return results.discover(measure, win=win, clear=clear, above=above, below=below, boxes=boxes, density=density)


def plan(
    sweep: str | Path | Mapping[str, Any],
    *,
    set: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    shard: str | None = None,
) -> Plan:
    """Return the plan of a sweep: how many points and runs, and which; nothing is run.

    `run` takes the plan, so that the sweep is read once.

    Parameters
    ----------
    sweep
        A sweep's file, or what one holds.
    set : mapping, optional
        Levers by path, such as `policy.placement`, that replace the sweep's.
    seeds : int, optional
        Replaces the sweep's.
    shard : str, optional
        `2/4` plans the second of four parts alone, and makes no other point.

    Raises
    ------
    InputError
        The sweep is wrong, or has no such shard; the sentence says where.

    Examples
    --------
    >>> sweep = {"engine": "shared_memory", "workload": "large_uniform", "measures": ["drain_cycles"]}
    >>> todo = plan(sweep, set={"policy.placement": {"vary": ["first_fit", "best_fit"]}}, seeds=5)
    >>> todo
    Plan(2 points x 5 seeds = 10 runs)
    >>> len(run(todo, workers=0).table)
    10
    """
    read = read_sweep(sweep, _overrides(set, seeds))
    _check_figures(read)
    return make_plan(read, shard=None if shard is None else read_shard(shard))


def _check_figures(sweep: Sweep) -> None:
    """Refuse figures that cannot be drawn of a sweep; those of the package are known by the manifests alone."""
    engine, known = sweep.mechanism.engine.name, figure_engines()
    if others := [name for name in sweep.figures if known.get(name) not in (engine, GENERAL.name)]:
        from workbench.figures import check

        check(others, engine, sweep.where)


def __getattr__(name: str) -> Any:
    """Return `plan` by its word of version 0.5, with a warning."""
    if name != "planned":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    message = "workbench.api.planned is plan since 0.6; the former name goes with 0.7"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return plan


def _plan_of(
    sweep: str | Path | Mapping[str, Any] | Plan,
    set: Mapping[str, Any] | None,
    seeds: int | None,
    shard: str | None = None,
) -> Plan:
    """Return a plan as it is, and that of any other sweep.

    Raises
    ------
    InputError
        The sweep is not valid, or a plan comes with levers, seeds or a shard.
    PolicyError
        Code of the user's was edited since the plan was made.
    """
    if not isinstance(sweep, Plan):
        return plan(sweep, set=set, seeds=seeds, shard=shard)
    given = {"set": set, "seeds": seeds, "shard": shard}
    late = [name for name, value in given.items() if value is not None]
    if late:
        raise InputError(f"a plan has its levers, seeds and shard: give {', '.join(late)} to workbench.plan instead.")
    for point in sweep.points:
        check_code(point.setup)
    return sweep


def _overrides(set: Mapping[str, Any] | None, seeds: int | None) -> dict[str, Any]:
    return {**(set or {}), **({"seeds": seeds} if seeds is not None else {})}


def step(
    sweep: str | Path | Mapping[str, Any] | Plan,
    seed: int = 0,
    *,
    set: Mapping[str, Any] | None = None,
    point: int = 0,
) -> Steps:
    """Run one seed of a point in plain Python, one decision of its policies at a time.

    The results are those of the compiled run, to the bit. The run waits after each answer, before the engine acts on
    it; meanwhile the engine's state can be read.

    Parameters
    ----------
    sweep
        A sweep's file, what one holds, or a plan.
    seed : int
    set : mapping, optional
        Levers by path, such as `policy.placement`, that replace the sweep's.
    point : int
        Which of the sweep's points, in the order of `plan(sweep).points`.

    Returns
    -------
    Steps
        With `next()`, `take(most)`, `until(wanted)` and `state`; it may be iterated, and `with` leaves it.

    Raises
    ------
    InputError
        The sweep is wrong, has no such point, or a policy of the user's cannot be sent to another process.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}}
    >>> with wb.step(sweep, set={"policy.placement": "first_fit"}) as run:
    ...     refused = run.until(lambda decision: decision.answer < 0)
    ...     waiting = run.state["counters"]
    >>> refused.question, refused.policy, refused.saw["length"] > 0
    ('placement', 'first_fit', True)
    """
    from workbench.explain.decisions import Steps

    points = _plan_of(sweep, set, None).points
    if not 0 <= point < len(points):
        raise InputError(f"point {point} is asked for; the sweep has points 0 to {len(points) - 1}.")
    return Steps(points[point].setup, seed)


def open_results(folder: str | Path) -> Results:
    """Open the results that a folder holds, for its sweep as it was last run there; or the runs of a bundle.

    Raises
    ------
    StoreError
        It is no results folder, its store is damaged, or its rows are of another sweep.
    InputError
        It is a bundle whose runs cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> sweep = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 2, "measures": ["drain_cycles"]}
    >>> with TemporaryDirectory() as folder:
    ...     rows = run(sweep, folder).table.shape[0]
    ...     rows, open_results(folder).table.shape[0]
    (2, 2)
    """
    from workbench.export.bundle import open_bundle
    from workbench.export.manifest import is_bundle

    place = Path(folder)
    return _settled(open_bundle(place) if is_bundle(place) else open_folder(place))


def figure(name: str, /, **choices: Any) -> Figure:
    """Draw a figure of theory, which needs no runs; figures of runs are drawn of their results,
    `run(...).figure(name)`.

    Parameters
    ----------
    name : str
        `probe_success`, `probe_accuracy_against_gates` or `malloc_on_card`; `workbench figure` lists them.
    choices
        What its data function takes, such as `free` or `demands`.

    Raises
    ------
    InputError
        There is no such figure or choice; the sentence says where figures of runs are.

    Examples
    --------
    >>> import workbench as wb
    >>> wb.figure("probe_success", demands=[4, 5], free=[0.5], machines=0).axes[0].get_xlabel()
    'demand on each unit (blocks)'
    >>> wb.figure("pareto")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: figure pareto is drawn of runs: workbench figure pareto DIR, ...
    """
    from workbench.figures import calculated

    return calculated(name).figure(**choices)


def presets() -> pd.DataFrame:
    """Return every machine preset with its main figures: a table, one row a preset.

    Examples
    --------
    >>> table = presets().set_index("name")
    >>> "dgx_h100" in table.index
    True
    """
    import pandas as pd

    from workbench.machine import presets as rows

    return pd.DataFrame(rows())


def _say_changed_front(todo: Plan, folder: Path, progress: Progress | None) -> None:
    """Say where the front that a sweep varies over is another than when the folder was last run."""
    if not (folder / SWEEP).is_file():
        return
    changed = front_diff(read_mapping(folder / SWEEP), resolved(Results(todo, ())))
    if changed:
        (progress or usual_watcher()).say(changed)


def _settled(runs: Results) -> Results:
    """Return the results of runs: those up to the seed at which adaptive seeds stop."""
    done = settled(runs)
    if done is runs.plan:
        return runs
    wanted = {*done.ids}
    results = Results(done, (row for row in runs.rows.values() if row.id in wanted), runs.folder, runs.seconds)
    results.checked, results.version_note, results.code_notes = runs.checked, runs.version_note, runs.code_notes
    return results


def _kept(results: Results) -> Results:
    assert results.folder is not None
    write_results(results, results.folder)
    return results
