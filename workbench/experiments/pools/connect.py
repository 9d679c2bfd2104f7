"""Connections to Dask clusters: made once a process, checked before anything is run."""

from __future__ import annotations

import atexit
import logging
import time
import warnings
from contextlib import suppress
from typing import Any

from workbench.errors import InputError, WorkbenchError, missing_extra
from workbench.experiments import sources
from workbench.experiments.pools.worker_process import WORKER_ENVIRONMENT
from workbench.experiments.sources import Origin, differences, origin
from workbench.units import is_count

REACH_SECONDS = 5.0
WORKER_SECONDS = 60.0
"""How long to wait for a cluster's first worker."""

MOST_LOCAL = 256
LOCAL = "local:"
ALLOWED_FAILURES = 1
"""Deaths that a cluster of our own forgives a bundle before its runs are tried alone."""

STATUS_SECONDS = 2.0
"""How long after the news of a worker's death its exit status is waited for."""

UNKNOWN_STATUS = 255
"""What Dask says where somebody else has read the status."""

_FOR_GOOD = {"distributed.deploy.lost-worker-timeout": "1 week"}
"""A local cluster gives a worker up for ever that is not back 15 s after any of its deaths: one that dies again just
then, or starts slowly on a machine under load, left it without workers (seen with distributed 2026.8)."""


class Connection:
    """A client, and the cluster that ends with it where it is our own."""

    def __init__(self, address: str, client: Any, own: Any = None) -> None:
        self.address = address
        self.client = client
        self._own = own
        self._processes: dict[int, Any] = {}
        """The worker processes of our own cluster that have been seen, by number."""

    def know_processes(self) -> None:
        """Note the present worker processes of our own cluster, so that it can be told how they ended."""
        for nanny in list(getattr(self._own, "workers", {}).values()):
            process = getattr(getattr(nanny, "process", None), "process", None)
            if process is not None and process.pid is not None:
                self._processes[process.pid] = process

    def exit_status(self, pid: int) -> int | None:
        """Return the exit status of a worker process of our own cluster, None if it is not known."""
        process, deadline = self._processes.get(pid), time.monotonic() + STATUS_SECONDS
        while process is not None and process.exitcode is None and time.monotonic() < deadline:
            time.sleep(0.01)
        status = None if process is None else process.exitcode
        return None if status == UNKNOWN_STATUS else status

    def threads(self) -> int:
        """Return how many threads the workers have together."""
        return sum(self.client.nthreads().values())

    def close(self) -> None:
        """Leave the cluster; end it where it is our own."""
        with suppress(Exception):
            self.client.close(timeout=2)
        if self._own is not None:
            with suppress(Exception):
                self._own.close(timeout=5)


_open: dict[str, Connection] = {}


def connection(address: str) -> Connection:
    """Return the connection to a cluster, made if there is none yet.

    Raises
    ------
    InputError
        The address of a local cluster does not say how many workers it has.
    WorkbenchError
        Dask is not installed; the cluster cannot be reached, has no worker, or has workers unlike this process.
    """
    known = _open.get(address)
    if known is not None and known.client.status == "running":
        return known
    result = _local(address) if address.startswith(LOCAL) else _remote(address)
    try:
        _admit(result)
    except BaseException:
        result.close()
        raise
    if not _open:
        atexit.register(close_all)
    _open[address] = result
    return result


def forget(lost: Connection) -> None:
    """Take a connection that broke out of use."""
    _open.pop(lost.address, None)
    lost.close()


def close_all() -> None:
    """Leave every cluster."""
    for one in list(_open.values()):
        forget(one)


def _remote(address: str) -> Connection:
    dask = _dask()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions that differ, which are refused below
            return Connection(address, dask.Client(address, timeout=REACH_SECONDS, set_as_default=False))
    except (OSError, ValueError, TypeError, ImportError, RuntimeError) as problem:
        raise WorkbenchError(
            f"the cluster at {address} cannot be reached ({' '.join(str(problem).split()) or type(problem).__name__}); "
            "is its scheduler running, and is this its address?"
        ) from None


def _local(address: str) -> Connection:
    number = address.removeprefix(LOCAL)
    if not is_count(number) or not 1 <= int(number) <= MOST_LOCAL:
        raise InputError(f"a local cluster is written local:N, with 1 to {MOST_LOCAL} workers. Got {address!r}.")
    dask = _dask()
    from dask import config

    config.set(_FOR_GOOD)
    settings = {
        "distributed.scheduler.allowed-failures": ALLOWED_FAILURES,
        "distributed.nanny.pre-spawn-environ": WORKER_ENVIRONMENT,
    }
    with config.set(settings):
        own = dask.LocalCluster(
            n_workers=int(number),
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
    client = dask.Client(own, set_as_default=False)
    client.register_plugin(_quiet())
    return Connection(address, client, own)


def _quiet() -> Any:
    """Return what makes every worker of our own cluster quiet, also those that are started after a death."""
    from distributed import WorkerPlugin

    class Quiet(WorkerPlugin):
        name = "workbench-quiet"

        def setup(self, worker: Any) -> None:
            from workbench.experiments.pools.worker import be_quiet

            be_quiet()

    return Quiet()


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise missing_extra("running on a cluster", "cluster") from None
    for name in ("client", "core", "utils"):  # what they have to say is said in one sentence
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
    return distributed


def _admit(conn: Connection) -> None:
    """Refuse a cluster without workers, and one whose workers would compute something else."""
    try:
        conn.client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise WorkbenchError(
            f"the cluster at {conn.address} has had no worker for {WORKER_SECONDS:.0f} s; "
            f"start some with: dask worker {conn.address}"
        ) from None
    mine, unlike = origin(), {}
    for worker, theirs in conn.client.run(sources.origin, on_error="return").items():
        if lack := _unlike(theirs, mine):
            unlike[worker] = lack
    if unlike:
        worker, lack = sorted(unlike.items())[0]
        others = f" (and {len(unlike) - 1} more differ)" if len(unlike) > 1 else ""
        raise WorkbenchError(
            f"the cluster at {conn.address}: worker {worker} has {lack}{others}; install the same versions everywhere."
        )


def _unlike(theirs: object, mine: Origin) -> str:
    if isinstance(theirs, BaseException):
        return f"no workbench of this version ({type(theirs).__name__}: {' '.join(str(theirs).split())})"
    return differences(Origin(*theirs), mine)  # type: ignore[misc]
