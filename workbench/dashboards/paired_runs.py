"""Paired runs of two points at the same seeds, done seed by seed.

A few seeds are there at once and the rest follows; notes keep a few numbers of each record in addition to its measures.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from workbench.experiments.plan import Plan, plan_different_runs
from workbench.experiments.results import Results
from workbench.experiments.store import Row
from workbench.experiments.sweep import read_sweep
from workbench.figures.labels import LineNames
from workbench.mechanisms.compilation import warm_up
from workbench.runs.execution import execute_runs
from workbench.runs.run import PlannedPoint, PlannedRun

Notes = Mapping[str, Callable[[Any], np.ndarray]]
"""The notes of every record in addition to its measures: a name, and the function that finds a few numbers."""


class PairedRuns:
    """One comparison of two points at the same seeds, as far as it has been run.

    Raises
    ------
    InputError
        The sweep is not valid, or what is asked for is more than the machine has.
    """

    def __init__(self, config: Mapping[str, Any], notes: Notes | None = None) -> None:
        self._plan = plan_different_runs(read_sweep(config))
        self._left = [list(pair) for _, pair in groupby(self._plan.runs(), key=lambda run: run.seed)]
        self._rows: list[Row] = []
        self._done_seeds: list[int] = []
        self._notes = notes or {}
        self._noted: dict[tuple[str, str], list[np.ndarray]] = {}

    @property
    def points(self) -> tuple[PlannedPoint, PlannedPoint]:
        """Return the baseline and the other; the same twice where the two sides are the same."""
        return self._plan.points[0], self._plan.points[-1]

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of the two in figures: the policies in which they differ."""
        names = LineNames(Results(self._plan, []))
        return names.of(self.points[0]), names.of(self.points[1])

    @property
    def same(self) -> bool:
        """Return whether the two sides are one and the same."""
        return len(self._plan.points) == 1

    @property
    def n_seeds(self) -> int:
        """Return the number of seeds to run."""
        return len(self._plan.sweep.seeds)

    @property
    def n_done(self) -> int:
        """Return the number of seeds that have been run."""
        return len(self._done_seeds)

    def noted(self, note: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the notes on the runs of the baseline and of the other, in the order of the seeds."""
        baseline, other = (self._noted.get((point.id, note), []) for point in self.points)
        return baseline, other

    def warm_up(self, say: Callable[[str], object]) -> None:
        """Compile what is not compiled yet, and say so."""
        warm_up(self._plan.points[0].setup, say)

    def advance(self, seconds: float) -> Results:
        """Run the next seeds, at least one, for about so long; return all that is known then."""
        began, count = time.perf_counter(), 0
        while self._left:
            self._run(self._left.pop(0))
            count += 1
            spent = time.perf_counter() - began
            if spent + spent / count > seconds:
                break
        sweep = self._plan.sweep._replace(seeds=list(self._done_seeds))
        return Results(Plan(sweep, self._plan.points), self._rows)

    def records(self, seed: int) -> list[Any]:
        """Return the records of both sides at one seed.

        Raises
        ------
        PolicyError
            A policy raised, or its answer is not allowed.
        """
        engine = self._plan.sweep.mechanism.engine
        return [engine.simulate(point.setup, seed) for point in self.points]

    def _run(self, pair: list[PlannedRun]) -> None:
        for run in pair:
            see = partial(self._note, run.point.id)
            task = run.id, run.point.id, run.seed
            self._rows.extend(execute_runs(run.point.setup, [task], see, self._plan.sweep.user_measures))
        self._done_seeds.append(pair[0].seed)

    def _note(self, point: str, record: Any) -> None:
        for name, note in self._notes.items():
            self._noted.setdefault((point, name), []).append(note(record))
