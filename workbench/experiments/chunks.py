"""Runs in bundles: large enough that handing one over costs little, small enough that progress shows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from workbench.engines.engine import Setup
from workbench.experiments.plan import PlannedRun
from workbench.experiments.work import Task

AIM_SECONDS = 0.15
MOST = 512


class Chunk(NamedTuple):
    """Runs of one point."""

    setup: Setup
    tasks: list[Task]

    def alone(self) -> Iterator[Chunk]:
        """The same runs, one a chunk."""
        return (Chunk(self.setup, [task]) for task in self.tasks)


class Bundler:
    """Hands out the pending runs point by point, in bundles that aim at a fixed time."""

    def __init__(self, pending: Iterable[PlannedRun]) -> None:
        self._waiting: dict[str, deque[PlannedRun]] = {}
        for run in pending:
            self._waiting.setdefault(run.point.id, deque()).append(run)
        self._turn = deque(self._waiting)
        self._seconds: dict[str, float] = {}

    def next(self) -> Chunk | None:
        """The next bundle, the points taking turns; None when all are handed out."""
        if not self._turn:
            return None
        point = self._turn.popleft()
        waiting = self._waiting[point]
        runs = [waiting.popleft() for _ in range(min(self._size(point), len(waiting)))]
        if waiting:
            self._turn.append(point)
        return Chunk(runs[0].point.setup, [(run.id, run.point.id, run.seed) for run in runs])

    def empty(self) -> bool:
        """Whether all are handed out."""
        return not self._turn

    def took(self, chunk: Chunk, seconds: float) -> None:
        """Learn how long a run of a point takes."""
        self._seconds[chunk.tasks[0][1]] = seconds / len(chunk.tasks)

    def _size(self, point: str) -> int:
        known = self._seconds.get(point) or (max(self._seconds.values()) if self._seconds else AIM_SECONDS)
        return int(min(max(AIM_SECONDS / known, 1), MOST))
