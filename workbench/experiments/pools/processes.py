"""Processes of this machine."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from concurrent.futures import Future

from workbench.experiments.board import Reporter
from workbench.experiments.chunks import Chunk
from workbench.experiments.pools.crew import Crew
from workbench.experiments.pools.request import Requests
from workbench.experiments.pools.worker_process import WorkerDied, request_of
from workbench.experiments.strikes import Death
from workbench.experiments.unfit import Unfit
from workbench.experiments.work import Done


class Processes:
    """A pool of processes to which policies from a notebook can travel; kept for the next sweep of this process.

    Raises
    ------
    WorkbenchError
        The optional part `workers` is not installed.
    """

    reports = True

    def __init__(self, workers: int) -> None:
        self.width = 2 * workers
        self._requests = Requests()
        self._crew = _crew(workers)

    def submit(self, chunk: Chunk, limit: float, report: Reporter) -> Future[Done]:
        return self._crew.submit(request_of(self._requests.pack(chunk, limit, report)))

    def death(self, problem: BaseException, pid: int) -> Death | None:
        if isinstance(problem, Unfit):
            return problem.death()
        return Death(problem.status) if isinstance(problem, WorkerDied) else None

    def end(self, future: Future[Done], pid: int) -> bool:
        self._crew.end(future)
        return True

    def replace(self, worker: str) -> None:
        """Do nothing: the crew has replaced it already."""

    def look(self) -> None: ...

    def leave(self, under_way: Sequence[Future[Done]]) -> None:
        for future in under_way:
            if not future.cancel():
                self._crew.end(future)


_kept: dict[tuple[object, ...], Crew] = {}
"""The crew of the latest sweep: at most one."""


def _crew(workers: int) -> Crew:
    """Return the crew of the last sweep if it is as large and was started from the same places, else another."""
    kind = (workers, os.getpid(), os.getcwd(), *sys.path)
    if kind not in _kept:
        for _, crew in list(_kept.items()):
            crew.dismiss()
        _kept.clear()
        _kept[kind] = Crew(workers)
    return _kept[kind]


@atexit.register
def _end_all() -> None:
    for crew in _kept.values():
        crew.kill()
