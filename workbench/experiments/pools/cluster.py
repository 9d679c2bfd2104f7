"""A Dask cluster: one that runs somewhere (`tcp://HOST:PORT`), or one of this machine's own (`local:4`)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from typing import Any

from workbench.errors import WorkbenchError
from workbench.experiments.chunks import Chunk
from workbench.experiments.parcel import Packer
from workbench.experiments.pools.connect import Connection, connection, forget
from workbench.experiments.pools.killed import deaths
from workbench.experiments.sources import origin
from workbench.experiments.work import Done, work_in_worker

BUNDLES_A_THREAD = 2
"""Under way: one that is done, one that waits beside it."""

COUNT_SECONDS = 5.0
"""How long a count of the workers is believed: a cluster may grow and shrink while a sweep runs."""

EMPTY_SECONDS = 300.0
"""How long a cluster may be without any worker before it is given up."""


class Cluster:
    """Workers of a Dask cluster; the connection is kept for the next sweep of this process.

    Raises
    ------
    WorkbenchError
        The optional part `cluster` is not installed, the cluster cannot be reached or has no worker, or a worker has
        other versions or sources than this process.
    """

    def __init__(self, address: str) -> None:
        self._packer = Packer()
        self._connection: Connection = connection(address)
        self._threads, self._counted = 0, float("-inf")
        self._empty_since: float | None = None

    @property
    def width(self) -> int:
        if time.monotonic() - self._counted > COUNT_SECONDS:
            self._threads, self._counted = self._connection.threads(), time.monotonic()
        return BUNDLES_A_THREAD * max(self._threads, 1)

    def submit(self, chunk: Chunk, limit: float) -> Future[Done]:
        parcels = {point: self._packer.pack(point, setup) for point, setup in chunk.setups.items()}
        future: Future[Done] = Future()
        asked = self._connection.client.submit(_work, parcels, chunk.tasks, limit, origin(), pure=False)
        asked.add_done_callback(lambda ended: _hand_over(ended, future))
        return future

    def deaths(self, problem: BaseException) -> int:
        if isinstance(problem, CancelledError) or type(problem).__name__ == "FutureCancelledError":
            forget(self._connection)
            raise WorkbenchError(f"the cluster at {self._connection.address} was lost; what was finished is kept.")
        return deaths(problem)

    def renew(self) -> bool:
        """The cluster starts new workers itself."""
        return False

    def replace(self, worker: str) -> bool:
        """End the process in which a run hangs; its nanny starts another. Without one the thread goes on."""
        if worker:
            with suppress(Exception):
                self._connection.client.run(_end_process, workers=[worker], wait=False)
        return False

    def look(self) -> None:
        self._threads, self._counted = self._connection.threads(), time.monotonic()
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
    try:
        future.set_result(ended.result())
    except BaseException as problem:  # raised again where the result is asked for
        with suppress(InvalidStateError):  # nobody waits any more
            future.set_exception(problem)


async def _end_process() -> None:
    os._exit(1)


def _work(parcels: dict[str, bytes], tasks: list[Any], limit: float, driver: Any) -> Done:
    """Do a bundle in a worker of the cluster, and say which worker it was when a run hangs in it."""
    from distributed import get_worker

    done = work_in_worker(parcels, tasks, limit, driver)
    here = get_worker()
    return done._replace(worker=here.address) if done.stuck and here.nanny else done
