"""The trace that a workload replays, and whether it is a memory snapshot of PyTorch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_log import TorchLogs
from workbench.workloads.importers.torch_snapshot import is_snapshot, read_snapshot
from workbench.workloads.trace_pool import TracePool

Dropped = tuple[str, str]
"""A file and its digest."""


def trace_of(workload: Any) -> Dropped | None:
    """Return the file of a trace and its digest; None of any other workload, and of a trace that cannot be read.

    >>> trace_of(None) is None
    True
    """
    if not isinstance(workload, TracePool):
        return None
    try:
        result = workload.found()
    except WorkbenchError:
        return None  # which the panels say
    return str(result.path), result.sha256


def snapshot_of(workload: Any) -> Dropped | None:
    """Return the same of a memory snapshot; None of everything else."""
    trace = trace_of(workload)
    return trace if trace is not None and is_snapshot_file(trace[0]) else None


def is_snapshot_file(path: str) -> bool:
    """Return whether a file begins as a snapshot does; one that cannot be read does not."""
    try:
        return is_snapshot(path)
    except WorkbenchError:
        return False


def reading_of(snapshot: Dropped) -> Callable[[Source], TorchLogs]:
    """Return what reads a snapshot for every panel that shows it: whichever asks first reads the file, others wait."""

    def read(_: Source) -> TorchLogs:
        with _one_reads:
            return _logs_of(snapshot)

    return read


_one_reads = threading.Lock()


@lru_cache(maxsize=1)
def _logs_of(snapshot: Dropped) -> TorchLogs:
    return read_snapshot(Source(Path(snapshot[0])))
