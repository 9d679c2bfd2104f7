"""The loop that asks a sampler for trials, runs them, and tells it what came of them.

Trials are proposed in batches of a fixed size, so neither the number of workers nor an interruption changes what is
proposed: after a death the last batch is proposed again, the same trials come, and those whose outcome is kept are not
run again. What the workbench knows beyond Optuna's own fields stands in the trial's user attributes, where a
dashboard shows it: the point's id, the error, the means that constraints bound, and which trial made it hopeless.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from workbench.errors import InputError, StoreError
from workbench.runs.run import PlannedPoint
from workbench.tuning.evaluator import Evaluator
from workbench.tuning.objectives import Incumbents, costs_of
from workbench.tuning.space import dimensions
from workbench.tuning.study import Proposal, Study, Trial, planned, proposed
from workbench.tuning.trial_store import SamplerState, TrialStore, quiet

if TYPE_CHECKING:
    import optuna


POINT, ERROR, BEATEN_BY = "point", "error", "beaten_by"


def run_trials(
    study: Study, trial_store: TrialStore, evaluator: Evaluator, workload: Any, trials: int
) -> tuple[list[Trial], float]:
    """Bring a study to so many trials, and return them; what the store holds is not tried again.

    Beside them the seconds that were spent on proposing, telling and keeping, not on runs.

    Raises
    ------
    StoreError
        The store holds trials that this version of Optuna would not have proposed.
    """
    began, runs_before = time.perf_counter(), evaluator.seconds
    with quiet():
        scheduler = _Scheduler(study, trial_store, evaluator, workload)
        while scheduler.finished < trials:
            scheduler.batch(trials)
        trial_store.write()
        done = [trial_of(study, frozen) for frozen in trial_store.trials]
    return done, time.perf_counter() - began - (evaluator.seconds - runs_before)


class _Scheduler:
    """Where a sampler is asked and told; in memory, so that no storage slows it down."""

    def __init__(self, study: Study, trial_store: TrialStore, evaluator: Evaluator, workload: Any) -> None:
        """Take Optuna's study as it stood after the last whole batch."""
        import optuna

        self._study, self._trial_store, self._evaluator, self._workload = study, trial_store, evaluator, workload
        state = _state_of(trial_store)
        sampler = study.sampler.make(study.space) if state is None else state.sampler
        directions = [objective.direction for objective in study.objectives]
        self.optuna_study = optuna.create_study(directions=directions, sampler=sampler)
        self.finished = 0 if state is None else state.finished
        self._front = Incumbents()
        for frozen in trial_store.trials[: self.finished]:
            self.optuna_study.add_trial(frozen)
            self._learn(frozen)
        for key, value in ({} if state is None else state.notes).items():
            self.optuna_study._storage.set_study_system_attr(self.optuna_study._study_id, key, value)

    def batch(self, trials: int) -> None:
        """Ask for a whole batch, run and tell as much of it as there are to be trials, and keep the sampler."""
        size = self._study.sampler.at_once()
        wanted = min(size, trials - self.finished)
        if wanted < size:
            self._trial_store.write()
        self._evaluator.expected = (trials - self.finished) * len(self._study.sweep.seeds)
        batch = [self._ask() for _ in range(size)][:wanted]
        self._trial_store.settle()
        self._tell(batch)
        self.finished += wanted
        if wanted == size and self._study.sampler.remembered:
            self._trial_store.keep(self._state())

    def _state(self) -> SamplerState:
        import optuna

        notes = self.optuna_study._storage.get_study_system_attrs(self.optuna_study._study_id)
        return SamplerState(optuna.__version__, self.finished, self.optuna_study.sampler, dict(notes))

    def _ask(self) -> tuple[optuna.trial.Trial, Proposal]:
        trial = self.optuna_study.ask()
        if not self._study.sampler.conditional:
            for dimension in dimensions(self._study.space):
                dimension.ask(trial)
        return trial, proposed(self._study, lambda dimension: dimension.ask(trial))

    def _tell(self, batch: list[tuple[optuna.trial.Trial, Proposal]]) -> None:
        """Run what a batch asks for, tell all of it in order, and keep what is new."""
        kept = self._trial_store.trials
        new = {trial.number: (it, self._point(it)) for trial, it in batch if trial.number >= len(kept)}
        judged = self._evaluator.judge(new, self._front.front)
        outcomes = []
        for trial, _ in batch:
            if trial.number in judged:
                outcomes.append(tell(self._study, self.optuna_study, trial, judged[trial.number]))
                self._trial_store.append(outcomes[-1])
            else:
                outcomes.append(repeat(self._study, self.optuna_study, trial, kept[trial.number]))
        self._trial_store.sync()
        for frozen in outcomes:
            self._learn(frozen)

    def _point(self, proposal: Proposal) -> PlannedPoint | InputError:
        """Return the point of a proposal; some combinations of levers are none, which fails the trial and not the
        study."""
        try:
            return planned(self._study, proposal, self._workload)
        except InputError as wrong:
            return wrong

    def _learn(self, frozen: optuna.trial.FrozenTrial) -> None:
        """Remember a trial of the front, by which others may be given up."""
        if self._study.pruning is None:
            return
        trial = trial_of(self._study, frozen)
        if trial.values is not None and trial.feasible(self._study.constraints):
            costs = costs_of(trial.values, self._study.objectives)
            self._front.take(trial.number, costs, lambda: planned(self._study, trial.proposal, self._workload))


def _state_of(trial_store: TrialStore) -> SamplerState | None:
    import optuna

    state = trial_store.state()
    if state is None:
        return None
    if state.optuna != optuna.__version__:
        versions = f"Optuna {state.optuna}, and this is {optuna.__version__}, which may propose other trials"
        raise StoreError(f"the study was begun with {versions}; choose another folder or install that version.")
    if state.finished > len(trial_store.trials):
        kept = len(trial_store.trials)
        lost = f"the journal of the study lacks trials: the sampler was told {state.finished}, and {kept}"
        raise StoreError(f"{lost} are kept; choose another folder.")
    return state


def trial_of(study: Study, frozen: optuna.trial.FrozenTrial) -> Trial:
    """Return a trial that was told, as a study keeps it.

    Raises
    ------
    StoreError
        It was not told by the workbench.
    """
    attrs = frozen.user_attrs
    if POINT not in attrs or not frozen.state.is_finished():
        cure = "it holds trials of somebody else; choose another"
        raise StoreError(f"trial {frozen.number} of the study was not told by the workbench; {cure}.")
    proposal = proposed(study, lambda dimension: dimension.value(frozen.params[dimension.path]))
    trial = Trial(frozen.number, proposal, attrs[POINT], None, attrs[ERROR], beaten_by=attrs.get(BEATEN_BY))
    if frozen.values is None:
        return trial
    limits = tuple(attrs[one.measure.name] for one in study.constraints)
    return trial._replace(values=tuple(frozen.values), limits=limits)


def tell(
    study: Study, optuna_study: optuna.Study, trial: optuna.trial.Trial, outcome: Trial
) -> optuna.trial.FrozenTrial:
    """Tell a trial's outcome; returns the trial as it is to be kept."""
    from optuna.trial import TrialState

    trial.set_user_attr(POINT, outcome.point)
    trial.set_user_attr(ERROR, outcome.error)
    if outcome.beaten_by is not None:
        trial.set_user_attr(BEATEN_BY, outcome.beaten_by)
        return optuna_study.tell(trial, state=TrialState.PRUNED)
    if outcome.values is None:
        return optuna_study.tell(trial, state=TrialState.FAIL)
    for constraint, value in zip(study.constraints, outcome.limits, strict=True):
        trial.set_user_attr(constraint.measure.name, value)
        for bound, broken in constraint.broken_by(value).items():
            trial.set_constraint(bound, broken)
    return optuna_study.tell(trial, list(outcome.values))


def repeat(
    study: Study, optuna_study: optuna.Study, trial: optuna.trial.Trial, kept: optuna.trial.FrozenTrial
) -> optuna.trial.FrozenTrial:
    """Tell a trial what is kept of it.

    Raises
    ------
    StoreError
        What is kept is another trial than the sampler proposes.
    """
    if trial.params != kept.params:
        cure = "choose another folder; its runs can be copied"
        raise StoreError(f"trial {trial.number} of the study is not what the sampler proposes now; {cure}.")
    return tell(study, optuna_study, trial, trial_of(study, kept))
