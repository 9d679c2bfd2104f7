"""The loop that asks a sampler for trials, runs them, and tells it what came of them.

Trials are proposed in batches of a fixed size, so neither the number of workers nor an interruption changes what is
proposed. A study that goes on is replayed: a fresh sampler of the same seed is asked for every trial from the first
one. A trial whose outcome is kept is not run again. If the sampler proposes another trial than the one that is
kept, its next proposals are not those of an uninterrupted study, and the study is refused. If there are no more
settings than trials, each setting is tried once, in the order of the study file, and no sampler is asked.

The workbench's own facts stand in the trial's user attributes, where a dashboard shows them. They are the point's id,
the error, the means that constraints bound, and the trial that made it hopeless.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.errors import InputError, StoreError, shown
from workbench.runs.run import PlannedPoint
from workbench.tuning.dimension import Dimension
from workbench.tuning.evaluator import Evaluator
from workbench.tuning.objectives import Incumbents, costs_of
from workbench.tuning.space import dimensions, settings, size
from workbench.tuning.study import Proposal, Study, Trial, planned, proposed
from workbench.tuning.trial_store import TrialStore, quiet

if TYPE_CHECKING:
    import optuna


POINT, ERROR, BEATEN_BY = "point", "error", "beaten_by"
AT_ONCE = 32
"""Trials of a batch where every setting is tried."""
_Asked: TypeAlias = "tuple[optuna.trial.Trial, Proposal]"


def run_trials(
    study: Study, trial_store: TrialStore, evaluator: Evaluator, workloads: Sequence[Any], trials: int
) -> tuple[list[Trial], float]:
    """Bring a study to so many trials, and return them; what the store holds is not tried again.

    If there are no more settings than trials, each is tried once and the study stops. The second value is the seconds
    that were spent on proposing, telling and keeping, not on runs.

    Raises
    ------
    StoreError
        The store holds trials that the sampler does not propose, or that the workbench did not write.
    """
    began, runs_before = time.perf_counter(), evaluator.seconds
    with quiet():
        scheduler = _Scheduler(study, trial_store, evaluator, workloads, trials)
        while scheduler.finished < scheduler.trials:
            scheduler.batch()
        done = [trial_of(study, frozen) for frozen in trial_store.trials]
    return done, time.perf_counter() - began - (evaluator.seconds - runs_before)


class _Scheduler:
    """Where a sampler is asked and told; in memory, so that no storage slows it down."""

    def __init__(
        self, study: Study, trial_store: TrialStore, evaluator: Evaluator, workloads: Sequence[Any], trials: int
    ) -> None:
        """Begin Optuna's study with a fresh sampler, which knows no trial yet."""
        import optuna

        self._study, self._trial_store, self._evaluator, self._workloads = study, trial_store, evaluator, workloads
        directions = [objective.direction for objective in study.objectives]
        every = every_setting(study, trial_store) if study.tries_all else []
        self._every = iter(every) if study.tries_all else None
        self.trials = len(every) if study.tries_all and size(study.space) <= trials else trials
        """How many there will be."""
        self._at_once = AT_ONCE if study.tries_all else study.sampler.at_once()
        sampler = optuna.samplers.RandomSampler(seed=0) if study.tries_all else study.sampler.make(study.space)
        self.optuna_study = optuna.create_study(directions=directions, sampler=sampler)
        self.finished = 0
        self._front = Incumbents()

    def batch(self) -> None:
        """Ask for a whole batch, and run and tell as much of it as there are to be trials."""
        wanted = min(self._at_once, self.trials - self.finished)
        self._evaluator.expected = (self.trials - self.finished) * self._study.runs_a_trial
        proposals = self._at_once if self._every is None else wanted
        batch = [self._ask() for _ in range(proposals)][:wanted]
        self._trial_store.settle()
        self._tell(batch)
        self.finished += wanted

    def _ask(self) -> _Asked:
        known = dimensions(self._study.space)
        if self._every is not None:
            parameters = next(self._every)
            self.optuna_study.enqueue_trial(parameters)
            wanted = [dimension for dimension in known if dimension.path in parameters]
        else:
            wanted = [] if self._study.sampler.conditional else list(known)
        trial = self.optuna_study.ask()
        for dimension in wanted:
            dimension.ask(trial)
        return trial, proposed(self._study, lambda dimension: dimension.ask(trial))

    def _tell(self, batch: list[_Asked]) -> None:
        """Run what a batch asks for, tell all of it in order, and keep what is new."""
        kept = self._trial_store.trials
        points = {trial.number: (proposal, self._points(proposal)) for trial, proposal in batch}
        new = {number: request for number, request in points.items() if number >= len(kept)}
        repeated = {t.number: self._repeated(t, points[t.number][1]) for t, _ in batch if t.number not in new}
        judged = repeated | self._evaluator.judge(new, self._front.front)
        outcomes = [tell(self._study, self.optuna_study, trial, judged[trial.number]) for trial, _ in batch]
        for frozen in outcomes:
            if frozen.number in new:
                self._trial_store.append(frozen)
        if new:
            self._trial_store.sync()
        for frozen in outcomes:
            self._learn(frozen)

    def _repeated(self, trial: optuna.trial.Trial, points: Sequence[PlannedPoint] | InputError) -> Trial:
        """Return the outcome that is kept of a trial which the sampler proposes again.

        Raises
        ------
        StoreError
            The sampler proposes another trial now than the one that is kept.
        """
        import optuna

        frozen = self._trial_store.trials[trial.number]
        kept = trial_of(self._study, frozen)
        then = {"number": frozen.number, **frozen.params, POINT: kept.point}
        now = {"number": trial.number, **trial.params, POINT: "" if isinstance(points, InputError) else points[0].id}
        if now == then:
            return kept
        differs = next(name for name in {**now, **then} if now.get(name) != then.get(name))
        raise StoreError(
            f"{self._trial_store.where}: trial {trial.number} is not what {self._study.sampler.name} of "
            f"Optuna {optuna.__version__} proposes now ({differs}: kept {shown(then.get(differs))}, now "
            f"{shown(now.get(differs))}); begin a new study in another folder, or with another sampler."
        )

    def _points(self, proposal: Proposal) -> tuple[PlannedPoint, ...] | InputError:
        """Return the points of a proposal; some combinations of levers are none, which fails the trial and not the
        study."""
        try:
            return planned(self._study, proposal, self._workloads)
        except InputError as wrong:
            return wrong

    def _learn(self, frozen: optuna.trial.FrozenTrial) -> None:
        """Remember a trial of the front, by which others may be given up."""
        if self._study.pruning is None:
            return
        trial = trial_of(self._study, frozen)
        if trial.values is not None and trial.feasible(self._study.constraints):
            costs = costs_of(trial.values, self._study.objectives)
            self._front.take(trial.number, costs, lambda: planned(self._study, trial.proposal, self._workloads))


def every_setting(study: Study, trial_store: TrialStore) -> list[dict[str, Any]]:
    """Return the parameters of every trial of a study that tries each setting: those that are kept, then the others.

    Kept trials come first, because a sampler proposed them when the study was to have fewer trials.
    """
    axes = {dimension.path: dimension for dimension in dimensions(study.space)}
    tried = {trial_of(study, frozen).proposal.setting for frozen in trial_store.trials}
    untried = [chosen for chosen in settings(study.space) if tuple(chosen.items()) not in tried]
    rest = [{path: axes[path].parameter(value) for path, value in chosen.items()} for chosen in untried]
    return [*(frozen.params for frozen in trial_store.trials), *rest]


def trial_of(study: Study, frozen: optuna.trial.FrozenTrial) -> Trial:
    """Return a trial that has an outcome, as a study keeps it.

    Raises
    ------
    StoreError
        The workbench did not write it, or somebody changed it: a value is missing, of another type or out of range.
    """

    def checked(name: str, value: Any, is_right: bool) -> Any:
        if is_right:
            return value
        raise StoreError(
            f"trial {frozen.number} of the study was not written by the workbench, or it was changed: "
            f"{name} is {shown(value)}; choose another folder or study."
        )

    def chosen(dimension: Dimension) -> Any:
        parameter = frozen.params.get(dimension.path)
        return dimension.value(checked(dimension.path, parameter, dimension.holds(parameter)))

    def finite(name: str, value: Any) -> float:
        return float(checked(name, value, type(value) in (int, float) and abs(value) <= sys.float_info.max))

    attrs, values = frozen.user_attrs, frozen.values
    checked("user_attrs", attrs, isinstance(attrs, dict))
    point, error, beaten_by = (attrs.get(key) for key in (POINT, ERROR, BEATEN_BY))
    outcome = "COMPLETE" if values is not None else "FAIL" if beaten_by is None else "PRUNED"
    checked("the state", frozen.state.name, frozen.state.name == outcome)
    for name, value in ((POINT, point), (ERROR, error)):
        checked(name, value, isinstance(value, str))
    assert isinstance(point, str) and isinstance(error, str)
    checked(BEATEN_BY, beaten_by, beaten_by is None or (type(beaten_by) is int and 0 <= beaten_by < frozen.number))
    trial = Trial(frozen.number, proposed(study, chosen), point, None, error, beaten_by=beaten_by)
    if values is None:
        return trial
    checked("the number of values", len(values), len(values) == len(study.objectives))
    limits = tuple(finite(one.measure.name, attrs.get(one.measure.name)) for one in study.constraints)
    named = zip(study.objectives, values, strict=True)
    return trial._replace(values=tuple(finite(one.measure.name, value) for one, value in named), limits=limits)


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
