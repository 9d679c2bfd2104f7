"""Bundles of runs: which runs are handed over together, and how a bundle is packed for a worker.

Bundles are large enough that handing one over costs little, and small enough that progress shows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from workbench.engines.kit.engine import Setup
from workbench.mechanisms.user_measure import UserMeasure
from workbench.runs.faults import MOST_OF_NAME, shortened
from workbench.runs.origin import origin
from workbench.runs.pickled_setups import PackedEngine, Packer, packed
from workbench.runs.row import Row
from workbench.runs.run import PlannedRun, Task
from workbench.runs.watchdog import Reporter


class Bundle(NamedTuple):
    """Runs that are handed over together, of one point or of several."""

    setups: Mapping[str, Setup]
    """The setup of each point."""
    tasks: list[Task]
    user_measures: Mapping[str, UserMeasure] = {}
    """The user's measures that are computed of each run."""

    def alone(self) -> Iterator[Bundle]:
        """Return the same runs, one a bundle."""
        return (Bundle({task.point: self.setups[task.point]}, [task], self.user_measures) for task in self.tasks)

    def by_point(self) -> Iterator[Bundle]:
        """Yield the same runs, one bundle a point."""
        for point, setup in self.setups.items():
            yield Bundle({point: setup}, [task for task in self.tasks if task.point == point], self.user_measures)

    def only(self, indices: Collection[int]) -> Iterator[Bundle]:
        """Return some of the runs, one a bundle."""
        return (one for number, one in enumerate(self.alone()) if number in indices)

    def without(self, indices: Collection[int]) -> Iterator[Bundle]:
        """Yield the other runs, one bundle or none."""
        tasks = [task for number, task in enumerate(self.tasks) if number not in indices]
        if tasks:
            yield Bundle(self.setups, tasks, self.user_measures)

    def description(self, index: int) -> str:
        """Return one of the runs as a sentence names it."""
        task = self.tasks[index]
        policies = [policy.short() for policy in self.setups[task.point].policies.values()]
        return f"seed {task.seed} of {shortened(', '.join(policies), MOST_OF_NAME)}"

    def after(self, done: int) -> Iterator[Bundle]:
        """Yield the remainder when the first runs are done: one bundle or none."""
        if done < len(self.tasks):
            yield Bundle(self.setups, self.tasks[done:], self.user_measures)


AIM_SECONDS = 0.15

MOST = 512

# `next` divides by the duration of a run, which may be measured as 0.
_LEAST_SECONDS = 1e-5

_WEIGHT = 0.2
"""Of the newest run in the usual duration of a run, once runs of several points are known."""


class Bundler:
    """Hands out the pending runs, the points taking turns, in bundles that aim at a fixed time."""

    def __init__(self, pending: Iterable[PlannedRun], user_measures: Mapping[str, UserMeasure] | None = None) -> None:
        self._user_measures = user_measures or {}
        self._waiting: dict[str, deque[PlannedRun]] = {}
        for run in pending:
            self._waiting.setdefault(run.point.id, deque()).append(run)
        self._turn = deque(self._waiting)
        self._left = sum(map(len, self._waiting.values()))
        self._seconds: dict[str, float] = {}
        self._usual = AIM_SECONDS

    def next(self, hands: int = 1) -> Bundle | None:
        """Return the next bundle; None when all are handed out. Towards the end each of the hands still gets its
        share."""
        aim = min(AIM_SECONDS, self._left * self._usual / hands)
        runs: list[PlannedRun] = []
        while self._turn and len(runs) < MOST:
            each = self._seconds.get(self._turn[0], self._usual)
            # A bundle has at least one run, however long it takes.
            many = min(int(aim / each), MOST - len(runs)) if runs else max(min(int(aim / each), MOST), 1)
            if many < 1:
                break
            taken = self._take(many)
            runs += taken
            aim -= each * len(taken)
        if not runs:
            return None
        tasks = [Task(r.id, r.point.id, r.seed) for r in runs]
        return Bundle({r.point.id: r.point.setup for r in runs}, tasks, self._user_measures)

    def _take(self, many: int) -> list[PlannedRun]:
        point = self._turn.popleft()
        waiting = self._waiting[point]
        taken = [waiting.popleft() for _ in range(min(many, len(waiting)))]
        self._left -= len(taken)
        if waiting:
            self._turn.append(point)
        else:
            del self._waiting[point]
        return taken

    def empty(self) -> bool:
        """Return whether all are handed out."""
        return not self._turn

    def learn(self, rows: Iterable[Row]) -> None:
        """Learn from finished runs how long a run of each point takes."""
        for row in rows:
            seconds = max(row.seconds, _LEAST_SECONDS)
            self._seconds[row.point] = seconds
            self._usual += (_WEIGHT if len(self._seconds) > 1 else 1.0) * (seconds - self._usual)


class Requests:
    """Packs bundles; each setup and each engine, with the measures of its runs, once."""

    def __init__(self) -> None:
        self._packer = Packer()
        self._engines: dict[str, PackedEngine] = {}

    def pack(self, bundle: Bundle, limit: float, report: Reporter) -> tuple[Any, ...]:
        """Return the arguments of `worker_entry` for a bundle."""
        parcels = {point: self._packer.pack(point, setup) for point, setup in bundle.setups.items()}
        engine = next(iter(bundle.setups.values())).engine
        if engine not in self._engines:
            self._engines[engine] = packed(engine, bundle.user_measures)
        return parcels, bundle.tasks, limit, origin(), report, self._engines[engine]
