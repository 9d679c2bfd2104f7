"""A Dask cluster on this machine, in a process of its own: its scheduler, and the nannies of its workers.

Dask starts workers by `multiprocessing`, which imports the main module of the process that starts them. In the user's
process that would run a script without a main guard again. Here that module is a program of ours. The scheduler also
takes no time from the user's process, and the nannies do not change its environment.
"""

from __future__ import annotations

import logging
import pickle
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from workbench.errors import WorkbenchError
from workbench.executors.worker_process import END_SECONDS, WORKER_ENVIRONMENT, Child, WorkerDied, be_quiet, die_with

ALLOWED_FAILURES = 1
"""Deaths that a cluster of our own forgives a bundle before its runs are tried alone."""

STATUS_SECONDS = 2.0
"""How long after the news of a worker's death its exit status is waited for."""

UNKNOWN_STATUS = 255
"""What Dask says where somebody else has read the status."""

_SETTINGS = {
    "distributed.scheduler.allowed-failures": ALLOWED_FAILURES,
    "distributed.nanny.pre-spawn-environ": WORKER_ENVIRONMENT,
    # A local cluster gives a worker up for ever that is not back 15 s after any of its deaths: one that dies again just
    # then, or starts slowly on a machine under load, left it without workers (seen with distributed 2026.8).
    "distributed.deploy.lost-worker-timeout": "1 week",
}


class LocalCluster(Child):
    """The process of a local cluster, as its driver sees it.

    Raises
    ------
    WorkbenchError
        It cannot start.
    """

    name = "local cluster"

    def __init__(self, workers: int) -> None:
        super().__init__("workbench.executors.local_cluster", WORKER_ENVIRONMENT, workers)
        try:
            self.address = self.ready().decode()
        except WorkerDied:
            raise WorkbenchError("the local cluster was killed before it was ready; run it again.") from None

    def exit_status(self, pid: int) -> int | None:
        """Return the exit status of a worker process, None if it is not known."""
        try:
            status: int | None = self.ask(pickle.dumps(pid))
        except WorkerDied:
            return None
        return status

    def close(self) -> None:
        """Have the cluster end its workers and remove their folders, and hang up."""
        with suppress(OSError):
            self._connection.send_bytes(pickle.dumps(None))
            self._connection.poll(END_SECONDS)
        super().close()


def serve(socket: int, lifeline: int, driver: int, workers: int) -> None:
    """Keep a cluster until the driver hangs up or ends; return exit statuses of worker processes on request.

    Parameters
    ----------
    socket : int
        The descriptor of a socket to the driver.
    lifeline : int
        The descriptor of a pipe that the driver holds open.
    driver : int
        The driver's process.
    workers : int
        How many workers the cluster has.
    """
    from dask import config

    die_with(lifeline, driver)
    del sys.argv[1:]
    config.set(_SETTINGS)
    processes: dict[int, Any] = {}
    cluster = _started(workers, processes)
    connection = Connection(socket)
    connection.send_bytes(cluster.scheduler_address.encode())
    be_quiet()
    with suppress(EOFError, OSError):
        while (pid := pickle.loads(connection.recv_bytes())) is not None:
            connection.send_bytes(pickle.dumps(_exit_status(processes.get(pid))))
    with suppress(Exception):
        cluster.close(timeout=END_SECONDS)


def _started(workers: int, processes: dict[int, Any]) -> Any:
    """Return a cluster that enters its worker processes by their number, also those that it starts after a death."""
    import distributed

    class Nanny(distributed.Nanny):
        async def instantiate(self) -> Any:
            status = await super().instantiate()
            if (process := getattr(self.process, "process", None)) is not None:
                processes[process.pid] = process
            return status

    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        worker_class=Nanny,
        dashboard_address=None,
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    )


def _exit_status(process: Any) -> int | None:
    deadline = time.monotonic() + STATUS_SECONDS
    while process is not None and process.exitcode is None and time.monotonic() < deadline:
        time.sleep(0.01)
    status = None if process is None else process.exitcode
    return None if status == UNKNOWN_STATUS else status
