"""Workers that somebody else runs: a Dask cluster, or an executor that the user hands in.

A cluster runs somewhere (`tcp://HOST:PORT`), or is one of this machine's own (`local:4`). Connections are made once a
process and checked before anything is run. An executor is anything that submits as `concurrent.futures` does; deaths
of Dask's workers in one are told without importing Dask.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from workbench.errors import InputError, WorkbenchError, missing_extra
from workbench.executors.bundles import Bundle, Requests
from workbench.executors.local_cluster import LocalCluster
from workbench.runs.crashes import FRESH_STATUS, USED_STATUS, Death, WorkerFailure
from workbench.runs.origin import Origin, differences, origin
from workbench.runs.pickled_setups import PackedEngine
from workbench.runs.watchdog import Reporter
from workbench.runs.worker import BundleResult, execute_with_timeout, worker_entry
from workbench.units import is_count

BUNDLES_A_THREAD = 2
"""Under way: one that is done, one that waits next to it."""

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

    def submit(self, bundle: Bundle, limit: float, report: Reporter) -> Future[BundleResult]:
        request = self._requests.pack(bundle, limit, report)
        future: Future[BundleResult] = Future()
        # Not pure: otherwise Dask could answer a repeated bundle from its results.
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
            return WorkerFailure("", status == USED_STATUS).death()._replace(times=many)
        return Death(status, many)

    def end(self, future: Future[BundleResult], pid: int) -> bool:
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

    def leave(self, under_way: Sequence[Future[BundleResult]]) -> None:
        for future in under_way:
            future.cancel()


def _hand_over(ended: Any, future: Future[BundleResult]) -> None:
    """Give what came of a task to whoever waits for it.

    `Client.get_executor` does the same, but its futures never end when a worker dies between a result and its transfer
    (seen with distributed 2026.8); asking for the result waits until the task was done again.
    """
    with suppress(InvalidStateError):  # no request waits any more
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
) -> BundleResult:
    """Do a bundle in a worker of the cluster, and say which worker it was when a run hangs in it."""
    from distributed import get_worker

    here = get_worker()
    report = report._replace(may_be_ended=bool(here.nanny))
    try:
        done = worker_entry(parcels, tasks, limit, driver, report, engine)
    except WorkerFailure as problem:
        if here.nanny:  # which starts another; whatever else this process would have to do may fail as well
            os._exit(problem.status)
        raise
    return done._replace(worker=here.address) if done.stuck and here.nanny else done


REACH_SECONDS = 5.0
WORKER_SECONDS = 60.0
"""How long to wait for a cluster's first worker."""

MOST_LOCAL = 256
LOCAL = "local:"


class Connection:
    """A client, and the cluster that ends with it where it is our own."""

    def __init__(self, address: str, client: Any, local: LocalCluster | None = None) -> None:
        self.address = address
        self.client = client
        self._local = local

    def exit_status(self, pid: int) -> int | None:
        """Return the exit status of a worker process of our own cluster, None if it is not known."""
        return self._local.exit_status(pid) if self._local is not None else None

    def threads(self) -> int:
        """Return the number of threads that the workers have together."""
        return sum(self.client.nthreads().values())

    def close(self) -> None:
        """Leave the cluster; end it where it is our own."""
        with suppress(Exception):
            self.client.close(timeout=2)
        if self._local is not None:
            self._local.close()


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
    local = LocalCluster(int(number))
    client = dask.Client(local.address, set_as_default=False)
    client.register_plugin(_quiet())
    return Connection(address, client, local)


def _quiet() -> Any:
    """Return the plug-in that makes every worker of our own cluster quiet, also those that are started after a
    death."""
    from distributed import WorkerPlugin

    class Quiet(WorkerPlugin):
        name = "workbench-quiet"

        def setup(self, worker: Any) -> None:
            from workbench.executors.worker_process import be_quiet

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
    for worker, theirs in conn.client.run(origin, on_error="return").items():
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

    def submit(self, bundle: Bundle, limit: float, report: Reporter) -> Future[BundleResult]:
        self.look()
        if self._requests is None:
            return self._executor.submit(
                execute_with_timeout, bundle.setups, bundle.tasks, limit, user_measures=bundle.user_measures
            )
        report = report._replace(may_be_ended=False)
        return self._executor.submit(worker_entry, *self._requests.pack(bundle, limit, report))

    def death(self, problem: BaseException, pid: int) -> Death | None:
        if isinstance(problem, BrokenExecutor):
            raise WorkbenchError(
                "the executor that was handed in is broken, perhaps because a worker died; what was finished is kept. "
                "Processes that survive this are started when no executor is handed in."
            )
        many = deaths(problem)
        return Death(times=many) if many else None

    def end(self, future: Future[BundleResult], pid: int) -> bool:
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

    def leave(self, under_way: Sequence[Future[BundleResult]]) -> None:
        for future in under_way:
            future.cancel()


def deaths(problem: BaseException) -> int:
    """Return the number of workers that died over a task before Dask gave it up; 0 if a problem is of another kind.

    >>> deaths(ValueError())
    0
    """
    scheduler = sys.modules.get("distributed.scheduler")
    if scheduler is None or not isinstance(problem, scheduler.KilledWorker):
        return 0
    return int(problem.allowed_failures) + 1
