"""A study is opened as its results folder keeps it, also while another process tunes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from workbench.errors import StoreError
from workbench.experiments.folder import SWEEP
from workbench.experiments.kept_front import STUDY
from workbench.experiments.open_folder import open_folder
from workbench.experiments.run_set import RunSet
from workbench.studies.tuning.driver import trial_of
from workbench.studies.tuning.hold_out import REPORT
from workbench.studies.tuning.holdout import different
from workbench.studies.tuning.hypervolume import on_front
from workbench.studies.tuning.journal import JOURNAL, journal_storage
from workbench.studies.tuning.objectives import costs_of
from workbench.studies.tuning.quiet import quiet
from workbench.studies.tuning.results import StudyResults
from workbench.studies.tuning.study import Study, read_study
from workbench.studies.tuning.trial import Trial


def open_study(folder: str | Path) -> StudyResults:
    """Return what a study has come to; nothing is run and nothing written.

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
        raise StoreError(f"{place} is no results folder of a tuning study: it has no {STUDY}.")
    study = read_study(place / STUDY)
    if not (place / JOURNAL).is_file():
        where = "in a database: workbench tune STUDY --dashboard shows them" if study.storage else "missing"
        raise StoreError(f"{place}: the trials of the study are {where}.")
    trials = _trials(study, place / JOURNAL)
    best = different(_front(study, trials))
    results = StudyResults(study, trials, best, _holdout(place, best), place)
    if results.holdout is not None and (place / REPORT / SWEEP).is_file():
        runs, chosen = open_folder(place / REPORT), results.front.trials[results.front.chosen]
        results.report = runs if chosen.point in {point.id for point in runs.points} else None
    return results


def _trials(study: Study, journal: Path) -> list[Trial]:
    import optuna

    try:
        with quiet():
            kept = optuna.load_study(study_name=None, storage=journal_storage(journal)).get_trials(deepcopy=False)
        return [trial_of(study, frozen) for frozen in kept if frozen.state.is_finished()]
    except (KeyError, ValueError, TypeError) as problem:
        raise StoreError(f"{journal} is no journal of the study beside it ({problem}).") from None


def _front(study: Study, trials: list[Trial]) -> list[Trial]:
    """Return the trials that keep the constraints and that no other beats in every objective."""
    done = [trial for trial in trials if trial.values is not None and trial.feasible(study.constraints)]
    costs = [costs_of(trial.values or (), study.objectives) for trial in done]
    if not costs:
        return []
    return [trial for trial, is_best in zip(done, on_front(np.array(costs)), strict=True) if is_best]


def _holdout(folder: Path, best: list[Trial]) -> RunSet | None:
    """Return the runs on fresh seeds; None where they are not of this front, as the study is tuned on."""
    if not (folder / SWEEP).is_file():
        return None
    runs = open_folder(folder)
    known = {point.id for point in runs.points}
    return runs if all(trial.point in known for trial in best) else None
