"""A Dask cluster: one that runs somewhere (`tcp://HOST:PORT`), or one of this machine's own (`local:4`)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from typing import Any

from workbench.errors import WorkbenchError
from workbench.experiments.board import Reporter
from workbench.experiments.chunks import Chunk
from workbench.experiments.foreign_engines import PackedEngine
from workbench.experiments.pools.connect import Connection, connection, forget
from workbench.experiments.pools.killed import deaths
from workbench.experiments.pools.request import Requests
from workbench.experiments.strikes import Death
from workbench.experiments.unfit import FRESH_STATUS, USED_STATUS, Unfit
from workbench.experiments.work import Done, work_in_worker

BUNDLES_A_THREAD = 2
"""Under way: one that is done, one that waits beside it."""

COUNT_SECONDS = 5.0
"""How long a count of the workers is believed: a cluster may grow and shrink while a sweep runs."""

EMPTY_SECONDS = 300.0
"""How long a cluster may be without any worker before it is given up."""


class Cluster:
    """Workers of a Dask cluster; the connection is kept for the next sweep of this process.

    A worker of this machine that does not answer is ended, and its nanny starts another. One of another machine is
    given up by the scheduler when it has sent no sign of life for `distributed.scheduler.worker-ttl` (5 minutes).

    Raises
    ------
    WorkbenchError
        The optional part `cluster` is not installed, the cluster cannot be reached or has no worker, or a worker has
        other versions or sources than this process.
    """

    reports = False

    def __init__(self, address: str) -> None:
        self._requests = Requests()
        self._connection: Connection = connection(address)
        self._threads, self._counted = 0, float("-inf")
        self._empty_since: float | None = None

    @property
    def width(self) -> int:
        if time.monotonic() - self._counted > COUNT_SECONDS:
            self._count()
        return BUNDLES_A_THREAD * max(self._threads, 1)

    def _count(self) -> None:
        self._threads, self._counted = self._connection.threads(), time.monotonic()

    def submit(self, chunk: Chunk, limit: float, report: Reporter) -> Future[Done]:
        request = self._requests.pack(chunk, limit, report)
        self._connection.know_processes()
        future: Future[Done] = Future()
        requested = self._connection.client.submit(_work, *request, pure=False)
        requested.add_done_callback(lambda ended: _hand_over(ended, future))
        future.add_done_callback(lambda ended: requested.cancel() if ended.cancelled() else None)
        return future

    def death(self, problem: BaseException, pid: int) -> Death | None:
        if isinstance(problem, CancelledError) or type(problem).__name__ == "FutureCancelledError":
            forget(self._connection)
            raise WorkbenchError(f"the cluster at {self._connection.address} was lost; what was finished is kept.")
        many = deaths(problem)
        if not many:
            return None
        status = self._connection.exit_status(pid)
        if status in (FRESH_STATUS, USED_STATUS):
            return Unfit("", status == USED_STATUS).death()._replace(times=many)
        return Death(status, many)

    def end(self, future: Future[Done], pid: int) -> bool:
        self._connection.know_processes()
        if pid:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return bool(pid)

    def replace(self, worker: str) -> None:
        """End the process in which a run hangs; its nanny starts another. Without one the thread goes on."""
        if worker:
            with suppress(Exception):
                self._connection.client.run(_end_process, workers=[worker], wait=False)

    def look(self) -> None:
        if time.monotonic() - self._counted < COUNT_SECONDS:
            return
        self._count()
        if self._threads:
            self._empty_since = None
            return
        self._empty_since = self._empty_since or time.monotonic()
        if time.monotonic() - self._empty_since > EMPTY_SECONDS:
            raise WorkbenchError(
                f"the cluster at {self._connection.address} has had no worker for {EMPTY_SECONDS:.0f} s; "
                "what was finished is kept."
            )

    def leave(self, under_way: Sequence[Future[Done]]) -> None:
        for future in under_way:
            future.cancel()


def _hand_over(ended: Any, future: Future[Done]) -> None:
    """Give what came of a task to whoever waits for it.

    `Client.get_executor` does the same, but its futures never end when a worker dies between a result and its transfer
    (seen with distributed 2026.8); asking for the result waits until the task was done again.
    """
    with suppress(InvalidStateError):  # nobody waits any more
        try:
            future.set_result(ended.result())
        except InvalidStateError:
            raise
        except BaseException as problem:  # raised again where the result is asked for
            future.set_exception(problem)


async def _end_process() -> None:
    os._exit(1)


def _work(
    parcels: dict[str, bytes], tasks: list[Any], limit: float, driver: Any, report: Reporter, engine: PackedEngine
) -> Done:
    """Do a bundle in a worker of the cluster, and say which worker it was when a run hangs in it."""
    from distributed import get_worker

    here = get_worker()
    report = report._replace(may_be_ended=bool(here.nanny))
    try:
        done = work_in_worker(parcels, tasks, limit, driver, report, engine)
    except Unfit as problem:
        if here.nanny:  # which starts another; whatever else this process would have to do may fail as well
            os._exit(problem.status)
        raise
    return done._replace(worker=here.address) if done.stuck and here.nanny else done
