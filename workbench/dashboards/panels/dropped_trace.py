"""The trace that a workload replays, and whether it is a memory snapshot of PyTorch."""

from __future__ import annotations

from typing import Any

from workbench.errors import WorkbenchError
from workbench.workloads.importers.torch_snapshot import is_snapshot
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
