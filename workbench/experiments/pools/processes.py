"""Processes of this machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor, Future

from workbench.errors import missing_extra
from workbench.experiments.chunks import Chunk
from workbench.experiments.parcel import Packer
from workbench.experiments.sources import origin
from workbench.experiments.work import Done, work_in_worker

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""The environment of a worker: there are as many workers as cores, and each does its arithmetic in one thread."""

IDLE_SECONDS = 300
"""After which a worker without work ends; until then the next sweep of this process finds it warm."""


class Processes:
    """A pool of processes to which policies from a notebook can travel; kept for the next sweep of this process.

    Raises
    ------
    WorkbenchError
        The optional part `workers` is not installed.
    """

    def __init__(self, workers: int) -> None:
        self.width = 2 * workers
        self._workers = workers
        self._packer = Packer()
        self._pool = _pool(workers)

    def submit(self, chunk: Chunk, limit: float) -> Future[Done]:
        parcels = {point: self._packer.pack(point, setup) for point, setup in chunk.setups.items()}
        return self._pool.submit(work_in_worker, parcels, chunk.tasks, limit, origin())

    def deaths(self, problem: BaseException) -> int:
        return int(isinstance(problem, BrokenExecutor))

    def renew(self) -> bool:
        """A broken pool is broken for all; its processes are ended, also those that hang."""
        _end(self._pool)
        self._pool = _pool(self._workers)
        return True

    def replace(self, worker: str) -> bool:
        return self.renew()

    def look(self) -> None: ...

    def leave(self, under_way: Sequence[Future[Done]]) -> None:
        if under_way:
            _end(self._pool)


def _pool(workers: int) -> Executor:
    try:
        from loky import get_reusable_executor
    except ImportError:
        raise missing_extra("running in several processes", "workers") from None
    pool: Executor = get_reusable_executor(
        max_workers=workers, timeout=IDLE_SECONDS, initializer=_leave_with, initargs=(os.getpid(),), env=ONE_THREAD
    )
    return pool


def _end(pool: Executor) -> None:
    pool.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]


def _leave_with(driver: int) -> None:
    """End this worker when its driver is gone, however that went: an orphan is given another parent."""

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
