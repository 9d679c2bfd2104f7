"""Where runs are done: processes, threads, a cluster, or an executor that the user hands in.

How much of this machine may be used.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import Executor

from workbench.errors import InputError, unknown_name
from workbench.executors.scheduler import BundleExecutor
from workbench.guests import Guest, guests, load, not_loaded

KINDS = ("processes", "threads", "local:4", "tcp://HOST:PORT")


def bundle_executor(executor: Executor | str | None, workers: int | None) -> BundleExecutor:
    """Return the executor of bundles for an executor of the user's, a kind of one, or a number of workers.

    Parameters
    ----------
    executor : Executor or str, optional
        `processes` (also left out), `threads`, the address of a Dask cluster, the name of an executor that an
        installed package brings, or anything that submits as `concurrent.futures` does.
    workers : int, optional
        How many processes or threads; left out, one a core.

    Raises
    ------
    InputError
        There is no such kind, or workers are counted for a cluster, which has its own.
    WorkbenchError
        An optional part is not installed, or a cluster cannot be used.
    """
    if executor is None or executor == "processes":
        from workbench.executors.processes import Processes

        return Processes(max(workers or cores(), 1))
    if executor == "threads":
        from workbench.executors.processes import Threads

        return Threads(max(workers or cores(), 1))
    if isinstance(executor, str) and (guest := guests("executor").get(executor)):
        from workbench.executors.cluster import Given

        return Given(_of_package(guest, workers))
    if workers is not None:
        raise InputError("workers are counted for processes and threads; a cluster or an executor has its own.")
    if not isinstance(executor, str):
        from workbench.executors.cluster import Given

        return Given(executor)
    if ":" not in executor:
        raise unknown_name("", "executor", executor, (*KINDS, *guests("executor")))
    from workbench.executors.cluster import Cluster

    return Cluster(executor)


@functools.cache
def _of_package(guest: Guest, workers: int | None) -> Executor:
    """Return the executor that a package makes for a number of workers; it serves until the process ends."""
    make = load(guest, callable, "function from a number of workers to an executor")
    try:
        made: Executor = make(workers)
    except Exception as problem:
        raise not_loaded(guest, problem) from None
    return made


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
