"""The one loop that asks a sampler for trials and tells it what came of them.

Trials are proposed in batches of a fixed size, so neither the number of workers nor an interruption changes what is
proposed: after a death the last batch is proposed again, the same trials come, and those whose outcome is kept are not
run again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import StoreError
from workbench.studies.tuning.dimension import Dimension
from workbench.studies.tuning.evaluate import Evaluator, Outcome
from workbench.studies.tuning.journal import Journal
from workbench.studies.tuning.quiet import quiet
from workbench.studies.tuning.sampler_state import SamplerState
from workbench.studies.tuning.space import dimensions
from workbench.studies.tuning.study import Study
from workbench.studies.tuning.trial import Proposal, Trial, planned, proposed

if TYPE_CHECKING:
    import optuna
    from optuna.storages import InMemoryStorage

POINT, ERROR = "point", "error"
_NAME = "study"


class Conducted(NamedTuple):
    """A study whose trials are all told."""

    trials: list[Trial]
    front: list[int]
    """The numbers of the trials that no other trial beats in every objective, in order."""
    tuner_seconds: float
    """Spent on proposing, telling and keeping, not on runs."""


def conduct(study: Study, journal: Journal, evaluator: Evaluator, workload: Any, trials: int) -> Conducted:
    """Bring a study to so many trials; what the journal holds is not tried again.

    Raises
    ------
    StoreError
        The journal holds trials that this version of Optuna would not have proposed.
    """
    began, runs_before = time.perf_counter(), evaluator.seconds
    with quiet():
        storage, asker, told = _resumed(study, journal)
        while told < trials:
            wanted = min(study.sampler.at_once(), trials - told)
            batch = [_ask(study, asker) for _ in range(study.sampler.at_once())][:wanted]
            _tell(study, asker, journal, evaluator, workload, batch)
            told += wanted
            if wanted == study.sampler.at_once():
                journal.keep(_state(storage, asker, told))
        journal.close()
        front = sorted(trial.number for trial in asker.best_trials if trial.number < trials)
        done = [_trial(study, frozen) for frozen in journal.trials]
    spent = time.perf_counter() - began - (evaluator.seconds - runs_before)
    return Conducted(done, front, spent)


def _resumed(study: Study, journal: Journal) -> tuple[InMemoryStorage, optuna.Study, int]:
    """Optuna's study as it stood after the last whole batch."""
    import optuna
    from optuna.storages import InMemoryStorage

    state = journal.state()
    if state is not None and state.optuna != optuna.__version__:
        versions = f"Optuna {state.optuna}, and this is {optuna.__version__}, which may propose other trials"
        raise StoreError(f"the study was begun with {versions}; choose another folder or install that version.")
    storage = InMemoryStorage()
    sampler = study.sampler.make() if state is None else state.sampler
    directions = [objective.direction for objective in study.objectives]
    asker = optuna.create_study(storage=storage, study_name=_NAME, directions=directions, sampler=sampler)
    told = 0 if state is None else state.told
    if told > len(journal.trials):
        lost = f"the journal of the study lacks trials: the sampler was told {told}, and {len(journal.trials)} are kept"
        raise StoreError(f"{lost}; choose another folder.")
    for frozen in journal.trials[:told]:
        asker.add_trial(frozen)
    for key, value in ({} if state is None else state.notes).items():
        storage.set_study_system_attr(storage.get_study_id_from_name(_NAME), key, value)
    return storage, asker, told


def _state(storage: InMemoryStorage, asker: optuna.Study, told: int) -> SamplerState:
    import optuna

    notes = storage.get_study_system_attrs(storage.get_study_id_from_name(_NAME))
    return SamplerState(optuna.__version__, told, asker.sampler, dict(notes))


def _ask(study: Study, asker: optuna.Study) -> tuple[optuna.trial.Trial, Proposal]:
    trial = asker.ask()
    if not study.sampler.conditional:
        for dimension in dimensions(study.space):
            dimension.ask(trial)
    return trial, proposed(study, lambda dimension: dimension.ask(trial))


def _tell(
    study: Study,
    asker: optuna.Study,
    journal: Journal,
    evaluator: Evaluator,
    workload: Any,
    batch: list[tuple[optuna.trial.Trial, Proposal]],
) -> None:
    """Run what a batch asks for, tell all of it in order, and keep what is new."""
    new = [(trial, proposal) for trial, proposal in batch if trial.number >= len(journal.trials)]
    points = {trial.number: planned(study, proposal, workload) for trial, proposal in new}
    evaluator.run(points.values())
    for trial, _ in batch:
        if trial.number < len(journal.trials):
            _repeat(asker, trial, journal.trials[trial.number])
        else:
            point = points[trial.number]
            journal.append(_told(asker, trial, point.id, evaluator.outcome(point)))


def _told(asker: optuna.Study, trial: optuna.trial.Trial, point: str, outcome: Outcome) -> optuna.trial.FrozenTrial:
    from optuna.trial import TrialState

    trial.set_user_attr(POINT, point)
    trial.set_user_attr(ERROR, outcome.error)
    if outcome.values is None:
        return asker.tell(trial, state=TrialState.FAIL)
    return asker.tell(trial, list(outcome.values))


def _repeat(asker: optuna.Study, trial: optuna.trial.Trial, kept: optuna.trial.FrozenTrial) -> None:
    """Tell a trial what the journal says came of it."""
    if trial.params != kept.params:
        cure = "choose another folder; its runs can be copied"
        raise StoreError(f"trial {trial.number} of the study is not what the sampler proposes now; {cure}.")
    _told(asker, trial, kept.user_attrs[POINT], Outcome(kept.values and tuple(kept.values), kept.user_attrs[ERROR]))


def _trial(study: Study, frozen: optuna.trial.FrozenTrial) -> Trial:
    def chosen(dimension: Dimension) -> Any:
        return dimension.value(frozen.params[dimension.path])

    values = None if frozen.values is None else tuple(frozen.values)
    attrs = frozen.user_attrs
    return Trial(frozen.number, proposed(study, chosen), attrs[POINT], values, attrs[ERROR])
