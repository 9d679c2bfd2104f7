"""Tune: try what a study file leaves open, keep every run, and say what is best on seeds that no trial has seen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from workbench.experiments.folder import STORE, held
from workbench.experiments.plan import make_plan
from workbench.experiments.progress import complete
from workbench.experiments.run_set import RunSet, gather
from workbench.experiments.runner import Progress
from workbench.experiments.store import Store
from workbench.experiments.watchers import usual_watcher
from workbench.studies.adaptive import run_plan
from workbench.studies.tuning.book import Book, Shelf, Title
from workbench.studies.tuning.driver import conduct
from workbench.studies.tuning.evaluate import Evaluator
from workbench.studies.tuning.hold_out import FOLDER, REPORT, HoldOut, report_plan, run_hold_out
from workbench.studies.tuning.holdout import check_fresh, different, front_sweep
from workbench.studies.tuning.journal import Journal
from workbench.studies.tuning.keep_study import STUDY_FILES, keep_results, keep_study
from workbench.studies.tuning.quiet import quiet
from workbench.studies.tuning.results import StudyResults
from workbench.studies.tuning.space import plain
from workbench.studies.tuning.study import Study, read_study, read_trials
from workbench.studies.tuning.trial import Trial, planned, proposed
from workbench.workloads.read import read_workload


def tune(
    study: str | Path | Mapping[str, Any],
    out: str | Path | None = None,
    trials: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    executor: Executor | str | None = None,
    hold_out: str | Mapping[str, Any] | None = None,
) -> StudyResults:
    """Try combinations of policies and levers, run the best of them on fresh seeds, and report the one to take on
    further ones beside the baseline.

    Every evaluation is an ordinary run, kept in the same store under the same name as a sweep would give it. A study
    that is interrupted, or asked for more trials, goes on exactly as if it had never stopped.

    Parameters
    ----------
    study : path or mapping
        A study file (`sweeps/tune/`): the keys of a sweep with `{tune: ...}` where something is chosen, and
        `objectives`, `constraints`, `sampler`, `trials`, `pruning`, `holdout_seeds`, `storage`.
    out : path, optional
        A folder that keeps runs, trials and sampler; without one they live in memory. With `storage: postgresql://...`
        trials and sampler are in that database instead.
    trials : int, optional
        How many, those that are kept included, instead of what the study says.
    workers, executor, progress
        As in `workbench.run`.
    set : mapping, optional
        Overrides by dotted path; a value may be a policy, also one defined in a notebook.
    hold_out : str or mapping, optional
        A workload that is not tuned on, such as a regime, or a trace by name or path: there the best is compared with
        the baseline at the end (`held_out` of the results), on runs that the study never saw.

    Returns
    -------
    StudyResults
        With `best`, the sweep of the point to take, and `front`, one of each point, which `workbench.run` takes.

    Raises
    ------
    InputError
        The study is not valid; nothing has been run and nothing written.
    StoreError
        The folder or the database holds another study or a sweep, cannot be used, or another driver has it.

    Examples
    --------
    >>> found = tune({"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 2,
    ...               "policy": {"placement": {"tune": ["first_fit", "last_fit", "next_fit"]}},
    ...               "baseline": {"placement": "first_fit"}, "objectives": ["drain_cycles"],
    ...               "sampler": {"random": {"seed": 1}}, "trials": 6, "holdout_seeds": 3})
    >>> len(found.trials), bool(found.pareto.best.any())
    (6, True)
    >>> sorted(found.best["baseline"]), found.best["seeds"]
    (['placement'], {'first': 5, 'count': 3})
    """
    requested = read_study(study, set)
    if trials is not None:
        requested = requested._replace(trials=read_trials(trials))
    sweep = requested.sweep
    wants = sweep.mechanism.engine.workload_kind
    workload = read_workload(sweep.said["workload"], "workload", sweep.where, sweep.folder, wants)
    identity = _identity(requested, workload)
    other = None if hold_out is None else _checked_hold_out(requested, hold_out, workload)
    watch = progress or usual_watcher()
    if out is None:
        store = Store(None)
        results = _tuned(requested, workload, identity, store, None, workers, executor, watch)
        return _compared(results, other, workload, workers, executor, watch)
    with held(Path(out), STUDY_FILES) as folder:
        store = Store(folder / STORE, f"study {requested.name}")
        try:
            results = _tuned(requested, workload, identity, store, folder, workers, executor, watch)
            keep_results(results, folder)
            return _compared(results, other, workload, workers, executor, watch)
        finally:
            store.close()


def _identity(study: Study, workload: Any) -> dict[str, Any]:
    """Return what makes a study the same study; plans its start too, so that mistakes are found before anything
    runs."""
    start = proposed(study, lambda dimension: dimension.start)
    make_plan(front_sweep(study, [start]))
    with quiet():
        study.sampler.make(study.space)
    planned_start = planned(study, start, workload).setup
    check_fresh(study, planned_start)
    setup = planned_start.identity()
    more = {
        "constraints": [one.plain() for one in study.constraints],
        "pruning": study.pruning.plain() if study.pruning else None,
    }
    return {
        **{key: setup[key] for key in ("format", "python", "streams", "engine")},
        "engine_revision": study.sweep.mechanism.revision,
        "measures": study.sweep.measured_by(anew=True).text,
        "workload": setup["workload"],
        "search_space": plain(study.space),
        "objectives": [[objective.measure.name, objective.direction] for objective in study.objectives],
        "sampler": {study.sampler.name: study.sampler.plain()},
        "seeds": study.sweep.seeds,
        **{key: value for key, value in more.items() if value},
    }


def _shelf(study: Study, folder: Path | None, identity: Mapping[str, Any]) -> Shelf | None:
    """Return where the trials are kept; without a folder and a database, nowhere."""
    directions = [objective.direction for objective in study.objectives]
    title = Title(study.name, [objective.measure.name for objective in study.objectives], directions, identity)
    if study.storage is not None:
        from workbench.studies.tuning.database import Database

        return Database(study.storage, title)
    return None if folder is None else Journal(folder, title)


def _tuned(
    study: Study,
    workload: Any,
    identity: Mapping[str, Any],
    store: Store,
    folder: Path | None,
    workers: int | None,
    executor: Executor | str | None,
    watch: Progress,
) -> StudyResults:
    began = time.perf_counter()
    book = Book(_shelf(study, folder, identity))
    if folder is not None:
        keep_study(study, folder)
    try:
        evaluator = Evaluator(study, store, workers, executor, watch)
        trials = max(study.trials, len(book.trials))
        watch.begin(trials * len(study.sweep.seeds), len(book.trials) * len(study.sweep.seeds))
        try:
            conducted = conduct(study, book, evaluator, workload, trials)
            complete(watch)
        finally:
            watch.end()
    finally:
        book.close()
    best = different([conducted.trials[number] for number in conducted.front])
    holdout = _holdout(study, best, store, folder, workers, executor, watch)
    results = StudyResults(study, conducted.trials, best, holdout, folder)
    if holdout is not None:
        plan = report_plan(study, results.front.trials[results.front.chosen].proposal, workload)
        place = folder and folder / REPORT
        results.report = None if plan is None else run_hold_out(plan, place, workers, executor, watch)
    results.seconds, results.tuner_seconds = time.perf_counter() - began, conducted.tuner_seconds
    return results


def _holdout(
    study: Study,
    best: list[Trial],
    store: Store,
    folder: Path | None,
    workers: int | None,
    executor: Executor | str | None,
    watch: Progress,
) -> RunSet | None:
    if not best:
        return None
    plan = make_plan(front_sweep(study, [trial.proposal for trial in best]))
    seconds = run_plan(plan, store, workers, executor, watch)
    return gather(plan, store, folder, seconds)


def _checked_hold_out(study: Study, given: Any, workload: Any) -> HoldOut:
    """Return a workload that is held out; mistakes are found before anything runs, by the plan of the start."""
    hold_out = HoldOut(study, given)
    hold_out.plan(proposed(study, lambda dimension: dimension.start), workload)
    return hold_out


def _compared(
    results: StudyResults,
    hold_out: HoldOut | None,
    workload: Any,
    workers: int | None,
    executor: Executor | str | None,
    watch: Progress,
) -> StudyResults:
    """Return the results with the best beside the baseline on a workload that was held out."""
    if hold_out is None or results.holdout is None:
        return results
    began = time.perf_counter()
    plan = hold_out.plan(results.front.trials[results.front.chosen].proposal, workload)
    folder = results.folder and results.folder / FOLDER / hold_out.name
    results.held_out = run_hold_out(plan, folder, workers, executor, watch)
    results.seconds += time.perf_counter() - began
    return results
