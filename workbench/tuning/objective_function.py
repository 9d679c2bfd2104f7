"""The objective of a study as Optuna calls it: it runs the points of a trial on the study's seeds, and averages.

A trial is run like anything else: ordinary runs, several paired seeds, kept in the same store. Where the study wants
it, points that are hopeless on the first seeds are given up.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from statistics import fmean
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from workbench.errors import InputError
from workbench.executors import cores
from workbench.experiments.hangs import NEVER_STARTED, hangs
from workbench.experiments.plan import Plan
from workbench.experiments.progress import Silent, skip
from workbench.experiments.runner import TRY_SECONDS, WORTH_SECONDS, Progress
from workbench.experiments.stop_rule import run_plan
from workbench.experiments.store import Row, Store
from workbench.mechanisms.measured_by import lacking
from workbench.metrics.measure import Measure
from workbench.process import working_clock
from workbench.runs.run import PlannedPoint, run_id
from workbench.statistics.adaptive_seeds import stop_rule
from workbench.tuning.front import on_front
from workbench.tuning.objectives import Costs, beaten_by, costs_of, over_workloads
from workbench.tuning.optuna_trials import POINT, carried_levers, record, suggest, trial_of
from workbench.tuning.study import Proposal, Study, Trial, planned

if TYPE_CHECKING:
    import optuna


class Crew(NamedTuple):
    """Who does the runs of a study, and who watches."""

    workers: int | None
    executor: Executor | str | None
    watch: Progress

    def run(self, plan: Plan, store: Store) -> float:
        """Run what is missing of a plan; return the seconds that it took."""
        return run_plan(plan, store, *self, stop=stop_rule(plan.sweep))


Points = Sequence[PlannedPoint]
"""The points of a setting, one a workload."""
Request: TypeAlias = "tuple[Proposal, Points | InputError]"
"""What a trial asks for: its setting with its points, or why there are none."""
HAND_OVER_SECONDS = 0.5
"""Work that takes less is done faster here than it is handed to workers."""


class ObjectiveFunction:
    """A function for `optuna.Study.optimize`: it runs the setting of a trial and returns the values of the objectives.

    A trial that is given up raises `optuna.TrialPruned`. The values of a trial that failed are NaN, so Optuna counts it
    as failed and goes on; its user attribute `error` says why. It may be called from several threads, which take turns.
    """

    def __init__(
        self, study: Study, store: Store, crew: Crew, workloads: Sequence[Any], holding: ExitStack | None = None
    ) -> None:
        """Take the study's store, its workloads as they were read, and what is to be closed in the end."""
        self.study = study
        self.directions: list[str] = [one.direction for one in study.objectives]
        """For `optuna.create_study(directions=)`."""
        self.metric_names: list[str] = [one.measure.name for one in study.objectives]
        """For `optuna.Study.set_metric_names`."""
        self.expected = study.trials * study.runs_a_trial
        """How many runs the study may still need."""
        self.seconds = 0.0
        """Spent on runs so far, not on proposing."""
        self._store, self._crew, self._workloads = store, crew, workloads
        wanted = study.sweep.measured_by()
        kept = {row.id: row for row in store.rows() if not lacking(row.measured, wanted)}
        self._watch = Collector(crew.watch, kept)
        self._working, self._runs = 0.0, 0  # seconds without those of compilation, of so many runs
        self._points: dict[str, Points] = {}  # by the id of the first, where the study prunes
        self._turn = threading.Lock()
        self._holding = holding or ExitStack()

    def __call__(self, trial: optuna.trial.BaseTrial) -> tuple[float, ...]:
        """Return the values of the objectives for what a trial suggests, in the mean over the seeds.

        Raises
        ------
        optuna.TrialPruned
            The study prunes, and the trial is hopeless.
        """
        import optuna

        asker = getattr(trial, "study", None)  # a FixedTrial has none
        carried = () if asker is None else carried_levers(self.study, asker.sampler)
        proposal = suggest(self.study, trial, carried)
        with self._turn:
            outcome = self.outcomes({trial.number: (proposal, self.points(proposal))}, asker)[trial.number]
        record(self.study, trial, outcome)
        if outcome.beaten_by is not None:
            raise optuna.TrialPruned(f"trial {outcome.beaten_by} beats it in every objective.")
        return (math.nan,) * len(self.directions) if outcome.values is None else outcome.values

    def __enter__(self) -> ObjectiveFunction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the results folder go."""
        self._holding.close()

    def points(self, proposal: Proposal) -> Points | InputError:
        """Return the points of a proposal, one a workload; some combinations of levers are none, which fails the trial
        and not the study."""
        try:
            points: tuple[PlannedPoint, ...] = planned(self.study, proposal, self._workloads)
        except InputError as wrong:
            return wrong
        if self.study.pruning is not None:
            self._points[points[0].id] = points
        return points

    def outcomes(self, request: Mapping[int, Request], asker: optuna.Study | None) -> dict[int, Trial]:
        """Run a batch of trials, by their numbers, and return the outcome of each.

        A trial is given up only because of trials of the same study that were over before this batch.
        """
        front = {} if asker is None else self._front(asker)
        points = {number: given for number, (_, given) in request.items() if not isinstance(given, InputError)}
        before = len(self._watch.fresh)
        lost = self._give_up(points, front)
        self._run([given for number, given in points.items() if lost.get(number) is None], self.study.sweep.seeds)
        self._watch.skip(len(request) * self.study.runs_a_trial - (len(self._watch.fresh) - before))
        return {
            number: Trial(number, proposal, "", None, str(given))
            if isinstance(given, InputError)
            else self._judged(given, Trial(number, proposal, given[0].id, None, "", beaten_by=lost.get(number)))
            for number, (proposal, given) in request.items()
        }

    def _front(self, asker: optuna.Study) -> dict[int, Points]:
        """Return the points of each trial, by its number, that keeps the constraints and that no other beats.

        The first of equals is there. There is none where the study does not prune.
        """
        from optuna.trial import TrialState

        if self.study.pruning is None:
            return {}
        first: dict[tuple[float, ...], optuna.trial.FrozenTrial] = {}
        for frozen in asker.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            if POINT in frozen.user_attrs and all(excess <= 0 for excess in frozen.constraints.values()):
                first.setdefault(costs_of(frozen.values, self.study.objectives), frozen)
        is_best = on_front(np.array([*first]))
        return {one.number: self._points_of(one) for one, best in zip(first.values(), is_best, strict=True) if best}

    def _points_of(self, frozen: optuna.trial.FrozenTrial) -> Points:
        """Return the points of a trial that is over; they are planned again if another process ran it."""
        trial = trial_of(self.study, frozen)
        if trial.point not in self._points:
            self._points[trial.point] = planned(self.study, trial.proposal, self._workloads)
        return self._points[trial.point]

    def _give_up(self, points: Mapping[int, Points], front: Mapping[int, Points]) -> dict[int, int | None]:
        """Run the first seeds, and find the trials that make others hopeless."""
        rule = self.study.pruning
        if rule is None:
            return {}
        seeds = self.study.sweep.seeds[: rule.after]
        every = [*points.values(), *front.values()]
        self._run(every, seeds)
        costs = {one[0].id: self._costs(one, seeds) for one in every}
        rows = {number: costs[one[0].id] for number, one in front.items()}
        return {
            number: beaten_by(rows, costs[own[0].id], rule.margin) for number, own in points.items() if costs[own[0].id]
        }

    def _costs(self, points: Points, seeds: Sequence[int]) -> list[Costs]:
        """Return one row a seed; none at all where a run failed or an objective is no number."""
        rows = self._rows(points, seeds)
        if any(row.status != "done" for row in rows):
            return []
        columns = [self._by_seed(one.measure, points, seeds) for one in self.study.objectives]
        values = list(zip(*columns, strict=True))
        known = all(math.isfinite(one) for row in values for one in row)
        return [costs_of(one, self.study.objectives) for one in values] if known else []

    def _by_seed(self, measure: Measure, points: Points, seeds: Sequence[int]) -> list[float]:
        """Return one value a seed over all workloads; NaN where there is none."""
        columns = [[_value(row, measure.name) for row in self._rows([point], seeds)] for point in points]
        return [over_workloads(values, measure) for values in zip(*columns, strict=True)]

    def _run(self, settings: Sequence[Points], seeds: Sequence[int]) -> None:
        """Run what is missing; a run that failed in this process is not tried again."""
        different = {point.id: point for points in settings for point in points}
        missing = [point for point in different.values() if not self._has(point, seeds)]
        if not missing:
            return
        plan = Plan(self.study.sweep._replace(seeds=list(seeds)), missing)
        before, began = len(self._watch.fresh), working_clock()
        self.seconds += Crew(self._workers_for(plan), self._crew.executor, self._watch).run(plan, self._store)
        self._working += working_clock() - began
        self._runs += len(self._watch.fresh) - before

    def _workers_for(self, plan: Plan) -> int | None:
        """Return the number of workers that are worth starting: they pay off over a whole study where they may not over
        a single batch."""
        workers, executor, _ = self._crew
        if workers is not None or executor is not None or self._working < TRY_SECONDS or not self._runs:
            return workers
        each = self._working / self._runs
        worth = each * (self.expected - self._runs) > WORTH_SECONDS and each * len(plan) > HAND_OVER_SECONDS
        return max(cores(), 1) if worth else 1

    def _judged(self, points: Points, trial: Trial) -> Trial:
        """Return a trial with the mean of each objective over the seeds, or why there is none."""
        if trial.beaten_by is not None:
            return trial
        seeds = self.study.sweep.seeds
        for name, point in zip(self.study.workload_names, points, strict=True):
            if problem := self._problem(point):
                on = f" on {name}" if len(points) > 1 else ""
                return trial._replace(error=f"seed {problem[0]}{on}: {problem[1]}")
        values = [self._by_seed(one.measure, points, seeds) for one in self.study.objectives]
        for objective, column in zip(self.study.objectives, values, strict=True):
            if not all(map(math.isfinite, column)):
                return trial._replace(error=f"{objective.measure.name} has no geometric mean over the workloads.")
        bounds = [
            one.worst([fmean(self._by_seed(one.measure, [point], seeds)) for point in points])
            for one in self.study.constraints
        ]
        return trial._replace(values=tuple(map(fmean, values)), limits=tuple(bounds))

    def _problem(self, point: PlannedPoint) -> tuple[int, str] | None:
        """Return the first seed of a point without a value of every measure, and why."""
        rows = self._rows([point], self.study.sweep.seeds)
        for row in rows:
            if row.status != "done":
                return row.seed, row.error
        for name in self.study.sweep.measures:
            for row in rows:
                if not math.isfinite(_value(row, name)):
                    return row.seed, f"{name} {self._why(row, name)}."
        return None

    def _why(self, row: Row, name: str) -> str:
        """Return the reason why a measure of a row cannot be taken."""
        refusals = NEVER_STARTED if hangs(row, name) else self.study.sweep.mechanism.measures[name].refusals
        if count := row.measures.get(refusals, 0):
            why = "does not count, as the run hangs" if hangs(row, name) else "is missing, as something was refused"
            return f"{why} ({refusals}: {count:g})"
        return "is not a finite number"

    def _rows(self, points: Points, seeds: Sequence[int]) -> list[Row]:
        return [self._watch.rows[run_id(point.id, seed)] for point in points for seed in seeds]

    def _has(self, point: PlannedPoint, seeds: Sequence[int]) -> bool:
        runs = [run_id(point.id, seed) for seed in seeds]
        return all(run in self._watch.fresh or self._watch.done(run) for run in runs)


def _value(row: Row, name: str) -> float:
    """Return a measure of a run; NaN where it has none, or the run hangs."""
    return math.nan if hangs(row, name) else row.measures.get(name, math.nan)


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
