"""Of how many launches a trace tells what their residency depends on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.workloads.importers import Trace
from workbench.workloads.kernels import MISSING, KernelTable


class Told(NamedTuple):
    """How much of a trace is told."""

    launches: int
    whole: int
    """With grid, threads and the whole shared memory of a workgroup."""
    dynamic_alone: int
    """With grid and threads, and of shared memory the dynamic part alone."""
    untold: int
    """All others."""
    asking: int
    """Of the whole, those whose workgroups ask for shared memory."""
    time_whole: float
    """Share of the kernels' time, 0 to 1; 0 where no kernel lasted."""
    time_dynamic_alone: float
    with_registers: int
    """Of the whole, those whose vector registers were recorded."""


def told(trace: Trace) -> Told:
    """Return of how many launches a trace tells grid, threads and shared memory, and for how much of the time.

    Examples
    --------
    >>> from pathlib import Path
    >>> from workbench.workloads.kernels import KernelRows
    >>> rows = KernelRows()
    >>> rows.add("gemm", duration_ns=30, start_ns=0, device=0, workgroups=4, threads=64, shared_bytes=700)
    >>> rows.add("replayed", duration_ns=10, start_ns=30, device=0)
    >>> told(Trace(Path("t"), "made", "kernels", rows.table())).time_whole
    0.75
    """
    table = trace.kernels
    whole, dynamic = launches_told(table)
    seconds = table.duration_ns.astype(float)
    total = float(seconds.sum()) or 1.0
    return Told(
        launches=table.rows,
        whole=int(whole.sum()),
        dynamic_alone=int(dynamic.sum()),
        untold=int((~whole & ~dynamic).sum()),
        asking=0 if table.shared_bytes is None else int((whole & (table.shared_bytes > 0)).sum()),
        time_whole=float(seconds[whole].sum()) / total,
        time_dynamic_alone=float(seconds[dynamic].sum()) / total,
        with_registers=int((whole & _known(table, "vgprs")).sum()),
    )


def launches_told(table: KernelTable) -> tuple[np.ndarray, np.ndarray]:
    """Return which launches are wholly told, and which with their dynamic shared memory alone: bool[rows] each."""
    grid = _known(table, "workgroups") & _known(table, "threads")
    whole = grid & _known(table, "shared_bytes")
    return whole, grid & ~whole & _known(table, "launch_shared_bytes")


def _known(table: KernelTable, field: str) -> np.ndarray:
    column = getattr(table, field)
    return np.zeros(table.rows, bool) if column is None else np.asarray(column != MISSING)
