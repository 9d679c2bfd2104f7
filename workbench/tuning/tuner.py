"""Tune a study, keep it in its folder, and open it again, also while another process tunes it.

`tune` tries what a study file leaves open, keeps every run, and says what is best on seeds that no trial has seen. A
folder keeps, next to the store of runs, the study itself, its trials, its front, and a sweep file for each point of it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import yaml

from workbench.errors import InputError, StoreError, at, file_guess
from workbench.experiments.coordinates import FileNames
from workbench.experiments.fronts import TRIALS
from workbench.experiments.named_code import code_names, sign_own
from workbench.experiments.plan import make_plan
from workbench.experiments.progress import Silent, complete, usual_watcher
from workbench.experiments.results import Results, gather
from workbench.experiments.results_folder import FILES, STUDY, SWEEP, held, write_own
from workbench.experiments.runner import Progress
from workbench.experiments.saved_results import named, open_folder, run_kept, write_results
from workbench.experiments.store import Store
from workbench.experiments.sweep import relative_to, with_files
from workbench.levers import identity_of
from workbench.strict_yaml import read_mapping
from workbench.tuning.driver import run_trials
from workbench.tuning.front import BEST, POINTS, keep_points
from workbench.tuning.holdout import FOLDER, HoldOut, check_fresh, front_sweep
from workbench.tuning.objective_function import Crew, ObjectiveFunction
from workbench.tuning.report import REPORT, report_plan, report_seeds
from workbench.tuning.results import StudyResults
from workbench.tuning.samplers import quiet
from workbench.tuning.space import plain, size
from workbench.tuning.storages import JOURNAL, Database, Journal, TrialStore, saved_trials
from workbench.tuning.study import Study, Trial, hidden, planned, proposed, read_study, read_trials
from workbench.workloads.workload_key import read_workload

FRONT, HISTORY, LEVERS, BY_WORKLOAD = "front.csv", "hypervolume.csv", "importances.csv", "workloads.csv"
STUDY_FILES = (*FILES, STUDY, TRIALS, HISTORY, LEVERS, FRONT, BY_WORKLOAD, BEST)
"""The files that a study leaves next to its store."""
RIVALS = "rivals"
"""The folder in that of a study with the results folder of each rival."""


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
    """Try combinations of policies and levers, run the best of them on fresh seeds, and compare the one to take with
    the baseline on further ones.

    Every evaluation is an ordinary run, kept in the same store under the same name as a sweep would give it. A study
    that is interrupted, or asked for more trials, goes on exactly as if it had never stopped.

    Parameters
    ----------
    study : path or mapping
        A study file (`sweeps/tune/`): the keys of a sweep with `{tune: ...}` where something is chosen, and
        `objectives`, `constraints`, `sampler`, `trials`, `pruning`, `holdout_seeds`, `storage`.
    out : path, optional
        A folder that keeps runs and trials; without one they live in memory. With `storage: postgresql://...` the
        trials are in that database instead.
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
        `optuna_study` has every trial as an `optuna.Study`.

    Raises
    ------
    InputError
        The study is not valid; nothing has been run and nothing written.
    StoreError
        The folder or the database holds another study or a sweep, cannot be used, or another driver has it.

    Examples
    --------
    >>> result = tune({"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 2,
    ...               "policy": {"placement": {"tune": ["first_fit", "last_fit", "next_fit"]}},
    ...               "baseline": {"placement": "first_fit"}, "objectives": ["drain_cycles"],
    ...               "sampler": {"random": {"seed": 1}}, "trials": 6, "holdout_seeds": 3, "report_seeds": 3})
    >>> result.all_tried, bool(result.pareto.best.any())
    ('3 different settings, all tried: the study stopped after 3 of 6 trials', True)
    >>> sorted(result.best["baseline"]), result.best["seeds"]
    (['placement'], {'first': 5, 'count': 3})
    """
    requested = read_study(study, set)
    if trials is not None:
        requested = requested.with_trials(read_trials(trials))
    workloads = _read_workloads(requested)
    studies = [requested, *requested.rivals.values()]
    identities = [_identity(one, workloads) for one in studies]
    other = None if hold_out is None else HoldOut(requested, hold_out)
    if other is not None:  # mistakes are found before anything runs, by the plan of the start
        start = proposed(requested, lambda dimension: dimension.start)
        other.plan(start, planned(requested, start, workloads), len(requested.holdout_seeds))
    crew = Crew(workers, executor, progress or usual_watcher())
    with _place(requested, out) as (folder, store):
        results = _tuned(requested, workloads, identities[0], store, folder, crew)
        for (name, rival), identity in zip(requested.rivals.items(), identities[1:], strict=True):
            with _place(rival, folder and folder / RIVALS / name) as (own, own_store):
                results.rivals[name] = _tuned(rival, workloads, identity, own_store, own, crew)
                if own is not None:
                    keep_results(results.rivals[name], own)
        _report(results, workloads, crew)
        if folder is not None:
            keep_results(results, folder)
        return _compared(results, other, workloads, crew)


def objective(
    study: str | Path | Mapping[str, Any],
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    executor: Executor | str | None = None,
) -> ObjectiveFunction:
    """Return the objective of a study for `optuna.Study.optimize`, with your own Optuna sampler and storage.

    It suggests what the study file leaves open, runs the points on the study's seeds, and returns the mean of each
    objective. The trial has the same user attributes and constraints as in `tune`. `sampler`, `trials`, `storage`,
    `rivals` and the fresh seeds of the study file are not used.

    Parameters
    ----------
    study, set : as in `tune`
    out : path, optional
        A folder that keeps the runs, and is held until `close` or the end of a `with` block. `tune` may go on in it.
        Without one the runs live in memory.
    workers, executor, progress
        As in `workbench.run`.

    Returns
    -------
    ObjectiveFunction
        With `directions` for `optuna.create_study` and `metric_names` for `optuna.Study.set_metric_names`.

    Raises
    ------
    InputError
        The study is not valid; nothing has been run and nothing written.
    StoreError
        The folder belongs to another study or to a sweep, or another driver has it.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> objective = objective({
    ...     "engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 2,
    ...     "policy": {"placement": {"tune": ["first_fit", "last_fit"]}}, "objectives": ["drain_cycles"]})
    >>> study = optuna.create_study(directions=objective.directions, sampler=optuna.samplers.RandomSampler(seed=1))
    >>> study.optimize(objective, n_trials=8)
    >>> sorted({trial.params["policy.placement"] for trial in study.trials})
    ['first_fit', 'last_fit']
    """
    requested = read_study(study, set)
    workloads = _read_workloads(requested)
    planned(requested, proposed(requested, lambda dimension: dimension.start), workloads)
    holding = ExitStack()
    _, store = holding.enter_context(_place(requested, out))
    return ObjectiveFunction(requested, store, Crew(workers, executor, progress or Silent()), workloads, holding)


@contextmanager
def _place(study: Study, out: str | Path | None) -> Iterator[tuple[Path | None, Store]]:
    """Hold the results folder of a study with its store; a store in memory without a folder."""
    if out is None:
        yield None, Store(None)
        return
    with held(Path(out), STUDY_FILES) as folder, closing(Store(folder, f"study {study.name}")) as store:
        yield folder, store


def _read_workloads(study: Study) -> tuple[Any, ...]:
    """Return every workload of a study, read once.

    Raises
    ------
    InputError
        A workload cannot be read, or two are the same.
    """
    sweep, kind = study.sweep, study.sweep.mechanism.engine.workload_kind
    read = [read_workload(it, "workload", sweep.where, sweep.folder, kind) for _, it in study.workloads]
    texts = [json.dumps(identity_of(one), sort_keys=True, default=str) for one in read]
    for place, text in enumerate(texts):
        if text in texts[:place]:
            raise InputError(at(sweep.where, f"workload: {study.workload_names[place]} is there twice."))
    return tuple(read)


def _identity(study: Study, workloads: Sequence[Any]) -> dict[str, Any]:
    """Return the identity of a study; plans its start too, so that mistakes are found before anything runs."""
    start = proposed(study, lambda dimension: dimension.start)
    make_plan(front_sweep(study, [start]))
    with quiet():
        study.sampler.make(study.space)
    setups = [point.setup for point in planned(study, start, workloads)]
    check_fresh(study, setups)
    setup, space = setups[0].identity(), plain(study.space)
    several = [one.identity()["workload"] for one in setups]
    more = {
        "constraints": [one.plain() for one in study.constraints],
        "pruning": study.pruning.plain() if study.pruning else None,
    }
    return {
        **{key: setup[key] for key in ("format", "python", "streams", "engine")},
        "engine_revision": study.sweep.mechanism.revision,
        "measures": study.sweep.measured_by(anew=True).text,
        "workload": several if len(several) > 1 else setup["workload"],
        "search_space": FileNames(space, study.sweep.folder).shown(space),
        "objectives": [[objective.measure.name, objective.direction] for objective in study.objectives],
        "sampler": {study.sampler.name: study.sampler.plain()},
        "seeds": study.sweep.seeds,
        **{key: value for key, value in more.items() if value},
    }


def trial_store_of(study: Study, folder: Path | None, identity: Mapping[str, Any]) -> TrialStore:
    """Return the place where the trials are kept: the database of the study, its folder, or memory."""
    if study.storage is not None:
        return Database(study, study.storage, identity)
    return TrialStore() if folder is None else Journal(folder, study, identity)


def _tuned(
    study: Study,
    workloads: Sequence[Any],
    identity: Mapping[str, Any],
    store: Store,
    folder: Path | None,
    crew: Crew,
) -> StudyResults:
    began = time.perf_counter()
    with closing(trial_store_of(study, folder, identity)) as trial_store:
        if folder is not None:
            keep_study(study, folder)
        objective, watch = ObjectiveFunction(study, store, crew, workloads), crew.watch
        kept, each = len(trial_store.trials), study.runs_a_trial
        trials = max(study.trials, kept)
        watch.begin(int(min(trials, max(size(study.space), kept))) * each, kept * each)
        try:
            tuner_seconds = run_trials(objective, trial_store, trials)
            complete(watch)
        finally:
            watch.end()
    results = StudyResults(study, trial_store.trials, folder)
    if results.best_trials:
        plan = make_plan(front_sweep(study, [trial.proposal for trial in results.best_trials]))
        results.holdout = gather(plan, store, folder, crew.run(plan, store))
    results.seconds, results.tuner_seconds = time.perf_counter() - began, tuner_seconds
    return results


def _report(results: StudyResults, workloads: Sequence[Any], crew: Crew) -> None:
    """Run the point to take, its baseline and the best of each rival on the seeds of the report."""
    if results.holdout is None:
        return
    began, study, front = time.perf_counter(), results.study, results.front
    best = front.trials[front.chosen].proposal
    rivals = [one.front.trials[one.front.chosen].proposal for one in results.rivals.values() if one.holdout is not None]
    seeds = report_seeds(study, front, len(results.rivals)).seeds
    plan = report_plan(study, [best, *rivals], planned(study, best, workloads), seeds)
    if plan is not None:
        results.report = run_kept(plan, results.folder and results.folder / REPORT, crew.run)
    results.seconds += time.perf_counter() - began + sum(one.seconds for one in results.rivals.values())


def _compared(results: StudyResults, hold_out: HoldOut | None, workloads: Sequence[Any], crew: Crew) -> StudyResults:
    """Return the results of the best and the baseline on a workload that was held out."""
    if hold_out is None or results.holdout is None:
        return results
    began = time.perf_counter()
    best = results.front.trials[results.front.chosen].proposal
    count = len(results.study.holdout_seeds if results.report is None else results.report.seeds)
    plan = hold_out.plan(best, planned(results.study, best, workloads), count)
    folder = results.folder and results.folder / FOLDER / hold_out.name
    results.held_out = run_kept(plan, folder, crew.run)
    results.seconds += time.perf_counter() - began
    return results


def open_study(folder: str | Path) -> StudyResults:
    """Return the state of a study; nothing is run and nothing written.

    Parameters
    ----------
    folder : path
        Its results folder. Of a study that is tuned just now the trials so far are there, without a front on fresh
        seeds (`holdout` is None).

    Raises
    ------
    StoreError
        It is no results folder of a study, its trials are in a database, or its files are damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import workbench as wb
    >>> study = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 2,
    ...          "policy": {"placement": {"tune": ["first_fit", "last_fit"]}}, "baseline": {"placement": "first_fit"},
    ...          "objectives": ["drain_cycles"], "sampler": {"random": {"seed": 1}}, "trials": 4, "holdout_seeds": 2}
    >>> with TemporaryDirectory() as folder:
    ...     tuned = wb.tune(study, folder)
    ...     wb.open_study(folder).trials.equals(tuned.trials)
    True
    """
    place = Path(folder)
    if not (place / STUDY).is_file():
        raise StoreError(f"{place} is no results folder of a tuning study: it has no {STUDY}.{file_guess(place)}")
    study = read_study(place / STUDY)
    if not (place / JOURNAL).is_file():
        where = "in a database: workbench tune STUDY --dashboard shows them" if study.storage else "missing"
        raise StoreError(f"{place}: the trials of the study are {where}.")
    results = StudyResults(study, saved_trials(place / JOURNAL), place)
    results.holdout = _saved_holdout(place, results.best_trials)
    if results.holdout is not None and (place / REPORT / SWEEP).is_file():
        runs, chosen = open_folder(place / REPORT), results.front.trials[results.front.chosen]
        results.report = runs if chosen.point in {point.id for point in runs.points} else None
    folders = {name: place / RIVALS / name for name in study.rivals}
    results.rivals = {name: open_study(own) for name, own in folders.items() if (own / STUDY).is_file()}
    return results


def _saved_holdout(folder: Path, best: list[Trial]) -> Results | None:
    """Return the runs on fresh seeds; None where they are not of this front, as the study is tuned on."""
    if not (folder / SWEEP).is_file():
        return None
    runs = open_folder(folder)
    known = {point.id for point in runs.points}
    return runs if all(trial.point in known for trial in best) else None


def keep_results(results: StudyResults, folder: Path) -> None:
    """Write the files next to the store: the trials, the front, and the hold-out sweep with its table."""
    write_own(folder / TRIALS, results.trials.to_csv(index=False))
    write_own(folder / HISTORY, results.hypervolume.to_csv(index=False))
    write_own(folder / LEVERS, results.importances.to_csv(index=False))
    if results.holdout is not None:
        write_own(folder / FRONT, results.pareto.to_csv(index=False))
        if len(results.study.workloads) > 1:
            write_own(folder / BY_WORKLOAD, results.by_workload.to_csv(index=False))
        write_results(results.holdout, folder)
        keep_points(results.front, results.best, folder)
        _sign(results.study, folder)


def _sign(study: Study, folder: Path) -> None:
    """Write the signature of the code of a study and of each sweep that was written of its front."""
    if code_names(read_mapping(folder / STUDY)):
        points = [path.relative_to(folder).as_posix() for path in (folder / POINTS).glob("trial_*.yaml")]
        sweeps = {name: read_mapping(folder / name) for name in [STUDY, SWEEP, BEST, *points]}
        sign_own(folder, sweeps, study.sweep.where)


def keep_study(study: Study, folder: Path) -> None:
    """Write the study as it is tuned: with it, the trials can be looked at while it goes on, and however it ends."""
    config = with_files(named(study.config), study.sweep.folder, relative_to(folder))
    if "storage" in config:
        config["storage"] = _without_password(config["storage"])
    write_own(folder / STUDY, yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    sign_own(folder, {STUDY: config}, study.sweep.where, keep=True)


def _without_password(storage: Any) -> Any:
    """Return the kept form of an address; the password comes from the environment (PGPASSWORD) or ~/.pgpass."""
    return {**storage, "url": hidden(storage["url"])} if isinstance(storage, Mapping) else hidden(storage)
