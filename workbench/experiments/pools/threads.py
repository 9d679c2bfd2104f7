"""Threads of this process: nothing to start and nothing to send; engines release the lock that Python code shares."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future

from workbench.experiments.board import Reporter
from workbench.experiments.chunks import Chunk
from workbench.experiments.strikes import Death
from workbench.experiments.work import Done, work_within


class Threads:
    """A thread a bundle, a fixed number at a time.

    The threads end with the process whatever they do, so a run that hangs cannot keep it alive; until then it goes on.
    A run that ends or stops its process, or holds Python's lock in native code, does so to this one: policies that are
    not trusted belong in processes.
    """

    reports = False

    def __init__(self, workers: int) -> None:
        self.width = workers

    def submit(self, chunk: Chunk, limit: float, report: Reporter) -> Future[Done]:
        future: Future[Done] = Future()
        threading.Thread(target=_do, args=(future, chunk, limit), daemon=True).start()
        return future

    def death(self, problem: BaseException, pid: int) -> Death | None:
        return None

    def end(self, future: Future[Done], pid: int) -> bool:
        return False

    def replace(self, worker: str) -> None: ...

    def look(self) -> None: ...

    def leave(self, under_way: Sequence[Future[Done]]) -> None: ...


def _do(future: Future[Done], chunk: Chunk, limit: float) -> None:
    try:
        future.set_result(work_within(chunk.setups, chunk.tasks, limit, own=chunk.own))
    except BaseException as problem:  # raised again where the result is asked for
        future.set_exception(problem)
