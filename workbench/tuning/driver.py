"""The loop that asks a sampler for trials, runs them, and tells it what came of them.

Trials are proposed in batches of a fixed size, so neither the number of workers nor an interruption changes what is
proposed: after a death the last batch is proposed again, the same trials come, and those whose outcome is kept are not
run again. A trial is run like anything else: ordinary runs, several paired seeds, kept in the same store. What the
workbench knows beyond Optuna's own fields stands in the trial's user attributes, where a dashboard shows it: the
point's id, the error, the means that constraints bound, and which trial made it hopeless.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import InputError, StoreError
from workbench.executors import cores
from workbench.experiments.plan import Plan
from workbench.experiments.progress import Silent, skip
from workbench.experiments.runner import TRY_SECONDS, WORTH_SECONDS, Progress
from workbench.experiments.store import Row, Store
from workbench.mechanisms.measured_by import lacking
from workbench.process import working_clock
from workbench.runs.run import PlannedPoint, run_id
from workbench.statistics.adaptive_seeds import run_plan
from workbench.tuning.objectives import Constraint, Costs, Incumbent, Incumbents, Objective, beaten_by, costs_of
from workbench.tuning.space import dimensions
from workbench.tuning.study import Proposal, Study, Trial, planned, proposed
from workbench.tuning.trial_store import SamplerState, TrialStore, quiet

if TYPE_CHECKING:
    import optuna

POINT, ERROR, BEATEN_BY = "point", "error", "beaten_by"


class Crew(NamedTuple):
    """Who does the runs of a study, and who watches."""

    workers: int | None
    executor: Executor | str | None
    watch: Progress

    def run(self, plan: Plan, store: Store) -> float:
        """Run what is missing of a plan; return the seconds that it took."""
        return run_plan(plan, store, *self)


def conduct(
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
        while scheduler.told < trials:
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
        self.asker = optuna.create_study(directions=directions, sampler=sampler)
        self.told = 0 if state is None else state.told
        self._front = Incumbents()
        for frozen in trial_store.trials[: self.told]:
            self.asker.add_trial(frozen)
            self._learn(frozen)
        for key, value in ({} if state is None else state.notes).items():
            self.asker._storage.set_study_system_attr(self.asker._study_id, key, value)

    def batch(self, trials: int) -> None:
        """Ask for a whole batch, run and tell as much of it as there are to be trials, and keep the sampler."""
        size = self._study.sampler.at_once()
        wanted = min(size, trials - self.told)
        if wanted < size:
            self._trial_store.write()
        self._evaluator.expected = (trials - self.told) * len(self._study.sweep.seeds)
        batch = [self._ask() for _ in range(size)][:wanted]
        self._trial_store.settle()
        self._tell(batch)
        self.told += wanted
        if wanted == size and self._study.sampler.remembered:
            self._trial_store.keep(self._state())

    def _state(self) -> SamplerState:
        import optuna

        notes = self.asker._storage.get_study_system_attrs(self.asker._study_id)
        return SamplerState(optuna.__version__, self.told, self.asker.sampler, dict(notes))

    def _ask(self) -> tuple[optuna.trial.Trial, Proposal]:
        trial = self.asker.ask()
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
                outcomes.append(tell(self._study, self.asker, trial, judged[trial.number]))
                self._trial_store.append(outcomes[-1])
            else:
                outcomes.append(repeat(self._study, self.asker, trial, kept[trial.number]))
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
    if state.told > len(trial_store.trials):
        lost = (
            f"the journal of the study lacks trials: the sampler was told {state.told}, and {len(trial_store.trials)}"
        )
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


HAND_OVER_SECONDS = 0.5
"""Work that takes less is done faster here than it is handed to workers."""


class Evaluator:
    """Runs points on the study's seeds and averages the objectives."""

    def __init__(self, study: Study, store: Store, crew: Crew) -> None:
        self._study, self._store, self._crew = study, store, crew
        wanted = study.sweep.measured_by()
        kept = {row.id: row for row in store.rows() if not lacking(row.measured, wanted)}
        self._watch = Collector(crew.watch, kept)
        self.expected = 0
        """How many runs the study may still need."""
        self.seconds = 0.0
        """Spent on runs so far, not on proposing."""
        self._working, self._runs = 0.0, 0  # seconds without those of compilation, of so many runs

    def judge(
        self, request: Mapping[int, tuple[Proposal, PlannedPoint | InputError]], front: Sequence[Incumbent]
    ) -> dict[int, Trial]:
        """Run a batch of trials, and return them with what they are told.

        Parameters
        ----------
        request : mapping
            By number of the trial, its proposal with its point, or why there is no such point.
        front : incumbents
            The front before this batch, by which trials are given up where the study wants that.
        """
        points = {number: point for number, (_, point) in request.items() if isinstance(point, PlannedPoint)}
        before = len(self._watch.fresh)
        lost = self._give_up(points, front)
        self._run([point for number, point in points.items() if lost.get(number) is None], self._study.sweep.seeds)
        self._watch.skip(len(request) * len(self._study.sweep.seeds) - (len(self._watch.fresh) - before))
        return {
            number: self._judged(point, Trial(number, proposal, point.id, None, "", beaten_by=lost.get(number)))
            if isinstance(point, PlannedPoint)
            else Trial(number, proposal, "", None, str(point))
            for number, (proposal, point) in request.items()
        }

    def _give_up(self, points: Mapping[int, PlannedPoint], front: Sequence[Incumbent]) -> dict[int, int | None]:
        """Run the first seeds, and find the trials that make others hopeless."""
        rule = self._study.pruning
        if rule is None:
            return {}
        seeds = self._study.sweep.seeds[: rule.after]
        self._run([*points.values(), *(one.point for one in front)], seeds)
        costs = {point.id: self._costs(point, seeds) for point in (*points.values(), *(one.point for one in front))}
        return {
            number: beaten_by(front, lambda one: costs[one.id], costs[point.id], rule.margin)
            for number, point in points.items()
            if costs[point.id]
        }

    def _costs(self, point: PlannedPoint, seeds: Sequence[int]) -> list[Costs]:
        """Return one row a seed; none at all where a run failed or an objective is no number."""
        rows = self._rows(point, seeds)
        names = [one.measure.name for one in self._study.objectives]
        values = [[row.measures.get(name, math.nan) for name in names] for row in rows]
        known = all(row.status == "done" for row in rows) and all(math.isfinite(one) for row in values for one in row)
        return [costs_of(one, self._study.objectives) for one in values] if known else []

    def _run(self, points: Sequence[PlannedPoint], seeds: Sequence[int]) -> None:
        """Run what is missing; a run that failed in this process is not tried again."""
        different = {point.id: point for point in points}
        missing = [point for point in different.values() if not self._has(point, seeds)]
        if not missing:
            return
        plan = Plan(self._study.sweep._replace(seeds=list(seeds)), missing)
        before, began = len(self._watch.fresh), working_clock()
        self.seconds += Crew(self._workers_for(plan), self._crew.executor, self._watch).run(plan, self._store)
        self._working += working_clock() - began
        self._runs += len(self._watch.fresh) - before

    def _workers_for(self, plan: Plan) -> int | None:
        """Return how many workers are worth starting: they pay off over a whole study where they may not over a single
        batch."""
        workers, executor, _ = self._crew
        if workers is not None or executor is not None or self._working < TRY_SECONDS or not self._runs:
            return workers
        each = self._working / self._runs
        worth = each * (self.expected - self._runs) > WORTH_SECONDS and each * len(plan) > HAND_OVER_SECONDS
        return max(cores(), 1) if worth else 1

    def _judged(self, point: PlannedPoint, trial: Trial) -> Trial:
        """Return a trial with the mean of each objective over the seeds, or why there is none."""
        if trial.beaten_by is not None:
            return trial
        rows = self._rows(point, self._study.sweep.seeds)
        for row in rows:
            if row.status != "done":
                return trial._replace(error=f"seed {row.seed}: {row.error}")
        for name in self._study.sweep.measures:
            for row in rows:
                if not math.isfinite(row.measures.get(name, math.nan)):
                    return trial._replace(error=f"seed {row.seed}: {name} {self._why(row, name)}.")

        def means(bounds: Iterable[Objective | Constraint]) -> tuple[float, ...]:
            return tuple(math.fsum(row.measures[one.measure.name] for row in rows) / len(rows) for one in bounds)

        return trial._replace(values=means(self._study.objectives), limits=means(self._study.constraints))

    def _why(self, row: Row, name: str) -> str:
        """Return why a measure of a row cannot be taken."""
        refusals = self._study.sweep.mechanism.measures[name].refusals
        if count := row.measures.get(refusals, 0):
            return f"is missing, as something was refused ({refusals}: {count:g})"
        return "is not a finite number"

    def _rows(self, point: PlannedPoint, seeds: Sequence[int]) -> list[Row]:
        return [self._watch.rows[run_id(point.id, seed)] for seed in seeds]

    def _has(self, point: PlannedPoint, seeds: Sequence[int]) -> bool:
        runs = [run_id(point.id, seed) for seed in seeds]
        return all(run in self._watch.fresh or self._watch.done(run) for run in runs)


class Collector(Silent):
    """Watches many small plans as one: collects their rows and tells the user's own watcher of each."""

    def __init__(self, watch: Progress, rows: dict[str, Row]) -> None:
        self._watch = watch
        self.rows = rows
        self.fresh: set[str] = set()

    def done(self, run: str) -> bool:
        """Return whether a run is kept and did not fail."""
        return run in self.rows and self.rows[run].status == "done"

    def say(self, line: str) -> None:
        self._watch.say(line)

    def advance(self, row: Row) -> None:
        self.rows[row.id] = row
        self.fresh.add(row.id)
        self._watch.advance(row)

    def skip(self, runs: int) -> None:
        skip(self._watch, runs)


def tell(study: Study, asker: optuna.Study, trial: optuna.trial.Trial, outcome: Trial) -> optuna.trial.FrozenTrial:
    """Tell a trial's outcome; returns the trial as it is to be kept."""
    from optuna.trial import TrialState

    trial.set_user_attr(POINT, outcome.point)
    trial.set_user_attr(ERROR, outcome.error)
    if outcome.beaten_by is not None:
        trial.set_user_attr(BEATEN_BY, outcome.beaten_by)
        return asker.tell(trial, state=TrialState.PRUNED)
    if outcome.values is None:
        return asker.tell(trial, state=TrialState.FAIL)
    for constraint, value in zip(study.constraints, outcome.limits, strict=True):
        trial.set_user_attr(constraint.measure.name, value)
        for bound, broken in constraint.broken_by(value).items():
            trial.set_constraint(bound, broken)
    return asker.tell(trial, list(outcome.values))


def repeat(
    study: Study, asker: optuna.Study, trial: optuna.trial.Trial, kept: optuna.trial.FrozenTrial
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
    return tell(study, asker, trial, trial_of(study, kept))
