"""Pools of worker processes on this machine."""

from __future__ import annotations

import os
from concurrent.futures import Executor

from workbench.errors import missing_extra


def local_pool(workers: int) -> Executor:
    """A pool of processes to which policies from a notebook can travel; kept for the next sweep of this process.

    Raises
    ------
    WorkbenchError
        The optional part `workers` is not installed.
    """
    try:
        from loky import get_reusable_executor
    except ImportError:
        raise missing_extra("running in several processes", "workers") from None
    pool: Executor = get_reusable_executor(
        max_workers=workers, timeout=300, initializer=_leave_with, initargs=(os.getpid(),)
    )
    return pool


def end_pool(pool: Executor) -> None:
    """Stop a local pool's workers at once, also those that hang."""
    pool.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]


def _leave_with(driver: int) -> None:
    """End this worker when its driver is gone, however that went; and let it use one thread for its arithmetic."""
    import threading
    import time

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")

    def watch() -> None:
        while True:
            time.sleep(0.5)
            try:
                os.kill(driver, 0)
            except OSError:
                os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
