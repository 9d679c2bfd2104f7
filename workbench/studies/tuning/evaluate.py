"""What a trial asks for is run like anything else: ordinary runs, several paired seeds, kept in the same store."""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import Executor
from typing import NamedTuple

from workbench.experiments.plan import Plan, PlannedPoint
from workbench.experiments.run_id import run_id
from workbench.experiments.runner import Progress, Silent, run_plan
from workbench.experiments.store import Row, Store
from workbench.studies.tuning.study import Study


class Outcome(NamedTuple):
    """What a trial is told."""

    values: tuple[float, ...] | None
    error: str


class Evaluator:
    """Runs points on the study's seeds and averages the objectives."""

    def __init__(
        self, study: Study, store: Store, workers: int | None, executor: Executor | None, watch: Progress | None
    ) -> None:
        self._study, self._store = study, store
        self._workers, self._executor = workers, executor
        self._watch = Collector(watch or Silent(), {row.id: row for row in store.rows()})
        self.seconds = 0.0
        """Spent on runs so far, not on proposing."""

    def run(self, points: Iterable[PlannedPoint]) -> None:
        """Run what is missing of the points; a run that failed in this process is not tried again."""
        different = {point.id: point for point in points}
        plan = Plan(self._study.sweep, [point for point in different.values() if not self._has(point)])
        if plan.points:
            self.seconds += run_plan(plan, self._store, self._workers, self._executor, self._watch)

    def outcome(self, point: PlannedPoint) -> Outcome:
        """The mean of each objective over the seeds, or why there is none; a point must have been run before."""
        rows = [self._watch.rows[run_id(point.id, seed)] for seed in self._study.sweep.seeds]
        for row in rows:
            if row.status != "done":
                return Outcome(None, f"seed {row.seed}: {row.error}")
        names = [objective.measure.name for objective in self._study.objectives]
        for name in names:
            for row in rows:
                if not math.isfinite(row.measures.get(name, math.nan)):
                    return Outcome(None, f"seed {row.seed}: {name} is not a finite number.")
        return Outcome(tuple(math.fsum(row.measures[name] for row in rows) / len(rows) for name in names), "")

    def _has(self, point: PlannedPoint) -> bool:
        runs = [run_id(point.id, seed) for seed in self._study.sweep.seeds]
        return all(run in self._watch.fresh or self._watch.done(run) for run in runs)


class Collector:
    """Watches many small plans as one: collects their rows and tells the user's own watcher of each."""

    def __init__(self, watch: Progress, rows: dict[str, Row]) -> None:
        self._watch = watch
        self.rows = rows
        self.fresh: set[str] = set()

    def done(self, run: str) -> bool:
        """Whether a run is kept and did not fail."""
        return run in self.rows and self.rows[run].status == "done"

    def say(self, line: str) -> None:
        self._watch.say(line)

    def begin(self, total: int, kept: int) -> None: ...

    def advance(self, row: Row) -> None:
        self.rows[row.id] = row
        self.fresh.add(row.id)
        self._watch.advance(row)

    def end(self) -> None: ...
