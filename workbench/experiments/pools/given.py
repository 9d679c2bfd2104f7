"""An executor that the user hands in: anything that submits as `concurrent.futures` does."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

from workbench.errors import WorkbenchError
from workbench.experiments.chunks import Chunk
from workbench.experiments.parcel import Packer
from workbench.experiments.pools.killed import deaths
from workbench.experiments.sources import origin
from workbench.experiments.work import Done, work_in_worker, work_within

WIDTH = 8
"""Bundles under way where an executor does not say how many workers it has."""


class Given:
    """Somebody else's workers: they are used, and never ended or started."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._here = isinstance(executor, ThreadPoolExecutor)
        self._packer = None if self._here else Packer()
        self.width = 2 * int(getattr(executor, "_max_workers", WIDTH // 2) or WIDTH // 2)

    def submit(self, chunk: Chunk, limit: float) -> Future[Done]:
        if self._packer is None:
            return self._executor.submit(work_within, *chunk, limit)
        parcels = {point: self._packer.pack(point, setup) for point, setup in chunk.setups.items()}
        return self._executor.submit(work_in_worker, parcels, chunk.tasks, limit, origin())

    def deaths(self, problem: BaseException) -> int:
        if isinstance(problem, BrokenExecutor):
            raise WorkbenchError(
                "the executor that was handed in is broken, perhaps because a worker died; what was finished is kept. "
                "Processes that survive this are started when no executor is handed in."
            )
        return deaths(problem)

    def renew(self) -> bool:
        return False

    def replace(self, worker: str) -> bool:
        return False

    def look(self) -> None: ...

    def leave(self, under_way: Sequence[Future[Done]]) -> None:
        for future in under_way:
            future.cancel()
