"""An executor that the user hands in: anything that submits as `concurrent.futures` does."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

from workbench.errors import WorkbenchError
from workbench.experiments.board import Reporter
from workbench.experiments.chunks import Chunk
from workbench.experiments.pools.killed import deaths
from workbench.experiments.pools.request import Requests
from workbench.experiments.strikes import Death
from workbench.experiments.work import Done, work_in_worker, work_within

WIDTH = 8
"""Bundles under way where an executor does not say how many workers it has."""


class Given:
    """Somebody else's workers: they are used, and never ended or started."""

    reports = False

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._requests = None if isinstance(executor, ThreadPoolExecutor) else Requests()
        self._workers = int(getattr(executor, "_max_workers", WIDTH // 2) or WIDTH // 2)
        self._given_up = 0
        self.width = 2 * self._workers

    def submit(self, chunk: Chunk, limit: float, report: Reporter) -> Future[Done]:
        self.look()
        if self._requests is None:
            return self._executor.submit(work_within, chunk.setups, chunk.tasks, limit, own=chunk.own)
        report = report._replace(may_be_ended=False)
        return self._executor.submit(work_in_worker, *self._requests.pack(chunk, limit, report))

    def death(self, problem: BaseException, pid: int) -> Death | None:
        if isinstance(problem, BrokenExecutor):
            raise WorkbenchError(
                "the executor that was handed in is broken, perhaps because a worker died; what was finished is kept. "
                "Processes that survive this are started when no executor is handed in."
            )
        many = deaths(problem)
        return Death(times=many) if many else None

    def end(self, future: Future[Done], pid: int) -> bool:
        """Leave the worker alone."""
        self._given_up += 1
        return False

    def replace(self, worker: str) -> None: ...

    def look(self) -> None:
        if self._given_up >= self._workers:
            raise WorkbenchError(
                "no worker of the executor that was handed in answers any more; what was finished is kept. "
                "Processes that are replaced in such a case are started when no executor is handed in."
            )

    def leave(self, under_way: Sequence[Future[Done]]) -> None:
        for future in under_way:
            future.cancel()
