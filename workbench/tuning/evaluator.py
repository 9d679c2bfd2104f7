"""The runs behind the trials of a study: a batch of points on the study's seeds, and their means.

A trial is run like anything else: ordinary runs, several paired seeds, kept in the same store. Where the study wants
it, points that are hopeless on the first seeds are given up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

from workbench.errors import InputError
from workbench.executors import cores
from workbench.experiments.plan import Plan
from workbench.experiments.progress import Silent, skip
from workbench.experiments.runner import TRY_SECONDS, WORTH_SECONDS, Progress
from workbench.experiments.store import Row, Store
from workbench.mechanisms.measured_by import lacking
from workbench.process import working_clock
from workbench.runs.run import PlannedPoint, run_id
from workbench.statistics.adaptive_seeds import run_plan
from workbench.tuning.objectives import Constraint, Costs, Incumbent, Objective, beaten_by, costs_of
from workbench.tuning.study import Proposal, Study, Trial


class Crew(NamedTuple):
    """Who does the runs of a study, and who watches."""

    workers: int | None
    executor: Executor | str | None
    watch: Progress

    def run(self, plan: Plan, store: Store) -> float:
        """Run what is missing of a plan; return the seconds that it took."""
        return run_plan(plan, store, *self)


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
