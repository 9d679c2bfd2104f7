"""The one loop that asks a sampler for trials and tells it what came of them.

Trials are proposed in batches of a fixed size, so neither the number of workers nor an interruption changes what is
proposed: after a death the last batch is proposed again, the same trials come, and those whose outcome is kept are not
run again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import InputError, StoreError
from workbench.experiments.plan import PlannedPoint
from workbench.studies.tuning import telling
from workbench.studies.tuning.book import Book
from workbench.studies.tuning.dimension import Dimension
from workbench.studies.tuning.evaluate import Evaluator
from workbench.studies.tuning.objectives import costs_of
from workbench.studies.tuning.pruning import Incumbents
from workbench.studies.tuning.quiet import quiet
from workbench.studies.tuning.sampler_state import SamplerState
from workbench.studies.tuning.space import dimensions
from workbench.studies.tuning.study import Study
from workbench.studies.tuning.trial import Proposal, Trial, planned, proposed

if TYPE_CHECKING:
    import optuna
    from optuna.storages import InMemoryStorage

_NAME = "study"


class Conducted(NamedTuple):
    """A study whose trials are all told."""

    trials: list[Trial]
    front: list[int]
    """The numbers of the trials that keep the constraints and that no other beats in every objective, in order."""
    tuner_seconds: float
    """Spent on proposing, telling and keeping, not on runs."""


def conduct(study: Study, book: Book, evaluator: Evaluator, workload: Any, trials: int) -> Conducted:
    """Bring a study to so many trials; what the book holds is not tried again.

    Raises
    ------
    StoreError
        The book holds trials that this version of Optuna would not have proposed.
    """
    began, runs_before = time.perf_counter(), evaluator.seconds
    with quiet():
        scheduler = _Scheduler(study, book, evaluator, workload)
        while scheduler.told < trials:
            scheduler.batch(trials)
        book.write()
        front = sorted(trial.number for trial in scheduler.asker.best_trials if trial.number < trials)
        done = [trial_of(study, frozen) for frozen in book.trials]
    spent = time.perf_counter() - began - (evaluator.seconds - runs_before)
    return Conducted(done, front, spent)


class _Scheduler:
    """Where a sampler is asked and told; in memory, so that no storage slows it down."""

    def __init__(self, study: Study, book: Book, evaluator: Evaluator, workload: Any) -> None:
        """Take Optuna's study as it stood after the last whole batch."""
        import optuna
        from optuna.storages import InMemoryStorage

        self._study, self._book, self._evaluator, self._workload = study, book, evaluator, workload
        state = _state_of(book)
        self._storage: InMemoryStorage = InMemoryStorage()
        sampler = study.sampler.make(study.space) if state is None else state.sampler
        directions = [objective.direction for objective in study.objectives]
        self.asker = optuna.create_study(
            storage=self._storage, study_name=_NAME, directions=directions, sampler=sampler
        )
        self.told = 0 if state is None else state.told
        self._front = Incumbents()
        for frozen in book.trials[: self.told]:
            self.asker.add_trial(frozen)
            self._learn(frozen)
        for key, value in ({} if state is None else state.notes).items():
            self._storage.set_study_system_attr(self._id(), key, value)

    def batch(self, trials: int) -> None:
        """Ask for a whole batch, run and tell as much of it as there are to be trials, and keep the sampler."""
        size = self._study.sampler.at_once()
        wanted = min(size, trials - self.told)
        if wanted < size:
            self._book.write()
        self._evaluator.expected = (trials - self.told) * len(self._study.sweep.seeds)
        batch = [self._ask() for _ in range(size)][:wanted]
        self._book.settle()
        self._tell(batch)
        self.told += wanted
        if wanted == size and self._study.sampler.remembered:
            self._book.keep(self._state())

    def _id(self) -> int:
        return int(self._storage.get_study_id_from_name(_NAME))

    def _state(self) -> SamplerState:
        import optuna

        notes = self._storage.get_study_system_attrs(self._id())
        return SamplerState(optuna.__version__, self.told, self.asker.sampler, dict(notes))

    def _ask(self) -> tuple[optuna.trial.Trial, Proposal]:
        trial = self.asker.ask()
        if not self._study.sampler.conditional:
            for dimension in dimensions(self._study.space):
                dimension.ask(trial)
        return trial, proposed(self._study, lambda dimension: dimension.ask(trial))

    def _tell(self, batch: list[tuple[optuna.trial.Trial, Proposal]]) -> None:
        """Run what a batch asks for, tell all of it in order, and keep what is new."""
        kept = self._book.trials
        new = {trial.number: self._point(proposal) for trial, proposal in batch if trial.number >= len(kept)}
        judged = self._evaluator.judge(new, self._front.front)
        outcomes = []
        for trial, _ in batch:
            if trial.number in judged:
                outcomes.append(telling.tell(self._study, self.asker, trial, *judged[trial.number]))
                self._book.append(outcomes[-1])
            else:
                outcomes.append(telling.repeat(self._study, self.asker, trial, kept[trial.number]))
        self._book.sync()
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


def _state_of(book: Book) -> SamplerState | None:
    import optuna

    state = book.state()
    if state is None:
        return None
    if state.optuna != optuna.__version__:
        versions = f"Optuna {state.optuna}, and this is {optuna.__version__}, which may propose other trials"
        raise StoreError(f"the study was begun with {versions}; choose another folder or install that version.")
    if state.told > len(book.trials):
        lost = f"the journal of the study lacks trials: the sampler was told {state.told}, and {len(book.trials)} are"
        raise StoreError(f"{lost} kept; choose another folder.")
    return state


def trial_of(study: Study, frozen: optuna.trial.FrozenTrial) -> Trial:
    """Return a trial that was told, as a study keeps it."""

    def chosen(dimension: Dimension) -> Any:
        return dimension.value(frozen.params[dimension.path])

    point, outcome = telling.outcome_of(study, frozen)
    return Trial(
        frozen.number, proposed(study, chosen), point, outcome.values, outcome.error, outcome.limits, outcome.beaten_by
    )
