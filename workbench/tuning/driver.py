"""The loop that asks a sampler for trials, runs them, and tells it their outcomes.

Trials are proposed in batches of a fixed size, so neither the number of workers nor an interruption changes what is
proposed. A study that goes on is replayed: a fresh sampler of the same seed is asked for every trial from the first
one. A trial whose outcome is kept is not run again. If the sampler proposes another trial than the one that is
kept, its next proposals are not those of an uninterrupted study, and the study is refused. If there are no more
settings than trials, each setting is tried once, in the order of the study file, and no sampler is asked.

The sampler is not kept. A seeded sampler that is made again starts its random numbers again: without the replay it
repeats trials (optuna/optuna#3255). No pickle is written or read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import InputError, StoreError, shown
from workbench.tuning.objective_function import ObjectiveFunction, Points, Request
from workbench.tuning.optuna_trials import POINT, STATES, carried_levers, record, suggest, trial_of
from workbench.tuning.samplers import quiet
from workbench.tuning.space import dimensions, settings, size
from workbench.tuning.storages import TrialStore, optuna_study
from workbench.tuning.study import Study, Trial

if TYPE_CHECKING:
    import optuna


AT_ONCE = 32
"""Trials of a batch where every setting is tried."""


def run_trials(objective: ObjectiveFunction, trial_store: TrialStore, trials: int) -> float:
    """Bring a study to so many trials; those that the store holds are not run again.

    If there are no more settings than trials, each is tried once and the study stops. The result is the seconds that
    were spent on proposing, telling and keeping, not on runs.

    Raises
    ------
    StoreError
        The store holds trials that the sampler does not propose, or that the workbench did not write.
    """
    study, began, runs_before = objective.study, time.perf_counter(), objective.seconds
    with quiet():
        if study.tries_all:
            asker, trials = _asker_of_all(study, trial_store.trials, trials)
        else:
            asker = optuna_study(study, sampler=study.sampler.make(study.space))
        at_once = AT_ONCE if study.tries_all else study.sampler.at_once()
        for first in range(0, trials, at_once):
            objective.expected = (trials - first) * study.runs_a_trial
            _run_batch(objective, asker, trial_store, min(at_once, trials - first))
    return time.perf_counter() - began - (objective.seconds - runs_before)


def _run_batch(objective: ObjectiveFunction, asker: optuna.Study, trial_store: TrialStore, count: int) -> None:
    """Ask for a batch of trials, run those that are new, tell all of them in order, and keep what is new."""
    from optuna.trial import TrialState

    study, kept = objective.study, len(trial_store.trials)
    carried = [] if study.tries_all else carried_levers(study, asker.sampler)
    batch: list[tuple[optuna.trial.Trial, Request]] = []
    for _ in range(count):
        trial = asker.ask()
        proposal = suggest(study, trial, carried)
        batch.append((trial, (proposal, objective.points(proposal))))
    outcomes = {
        one.number: _repeated(study, one, points, trial_store) for one, (_, points) in batch if one.number < kept
    }
    outcomes |= objective.outcomes({one.number: request for one, request in batch if one.number >= kept}, asker)
    frozen = []
    for trial, _ in batch:
        outcome = outcomes[trial.number]
        record(study, trial, outcome)
        frozen.append(asker.tell(trial, outcome.values, TrialState[STATES[outcome.status]]))
    trial_store.add([one for one in frozen if one.number >= kept])


def _repeated(study: Study, trial: optuna.trial.Trial, points: Points | InputError, trial_store: TrialStore) -> Trial:
    """Return the outcome that is kept of a trial which the sampler proposes again.

    Raises
    ------
    StoreError
        The sampler proposes another trial now than the one that is kept.
    """
    import optuna

    frozen = trial_store.trials[trial.number]
    kept = trial_of(study, frozen)
    then = {"number": frozen.number, **frozen.params, POINT: kept.point}
    now = {"number": trial.number, **trial.params, POINT: "" if isinstance(points, InputError) else points[0].id}
    differs = [name for name, value in now.items() if then.get(name) != value]
    if not differs:
        return kept
    raise StoreError(
        f"{trial_store.where}: trial {trial.number} is not what {study.sampler.name} of "
        f"Optuna {optuna.__version__} proposes now ({differs[0]}: kept {shown(then.get(differs[0]))}, now "
        f"{shown(now[differs[0]])}); begin a new study in another folder, or with another sampler."
    )


def _asker_of_all(study: Study, kept: Sequence[optuna.trial.FrozenTrial], trials: int) -> tuple[optuna.Study, int]:
    """Return Optuna's study with every setting enqueued, and how many trials there will be.

    Kept trials come first, because a sampler proposed them when the study was to have fewer trials.
    """
    from optuna.samplers import RandomSampler

    axes = {dimension.path: dimension for dimension in dimensions(study.space)}
    tried = {trial_of(study, frozen).proposal.setting for frozen in kept}
    untried = [chosen for chosen in settings(study.space) if tuple(chosen.items()) not in tried]
    rest = [{path: axes[path].parameter(value) for path, value in chosen.items()} for chosen in untried]
    every: list[dict[str, Any]] = [*(frozen.params for frozen in kept), *rest]
    if size(study.space) > trials:
        every = every[:trials]
    asker = optuna_study(study, sampler=RandomSampler(seed=0))
    for parameters in every:
        asker.enqueue_trial(parameters)
    return asker, len(every)
