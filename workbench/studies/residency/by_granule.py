"""What it costs that shared memory is given in whole granules: the workgroups that a unit holds fewer, kernel by
kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.studies.residency.told import launches_told
from workbench.workloads.importers import Trace

GRANULES = (128, 256, 512, 1024, 1280, 2048)
"""Bytes: NVIDIA from Volta on (gfx12 as well), MGPUSim, AMD's GFX7 to CDNA3, gfx11, CDNA4, and one twice as coarse."""


class GranuleLoss(NamedTuple):
    """What one granule costs on one trace and machine."""

    granule_bytes: int
    launches: int
    """Launches that count, by the rule of this study."""
    asking: int
    """Of those, the launches whose workgroups take shared memory, the system's share included."""
    bound: int
    """Of those, the launches whose residency shared memory limits more than slots, waves and registers do, in bytes."""
    affected: int
    """Launches that hold fewer workgroups a unit than bytes alone would allow."""
    affected_time: float
    """Their share of the time of the launches that count."""
    lost: float
    """Residency lost: 1 - workgroups a unit over those in bytes, both averaged over the time of launches that ask."""
    lost_used: float
    """The same where no unit holds more than its share of the grid: a small grid fills no unit, and loses nothing."""
    worst: float
    """The largest loss of one launch."""
    padding: float
    """Share of the shared memory given that nobody asked for, averaged over workgroups."""


def by_granule(
    trace: Trace, machine: Any, granules: Sequence[int] = GRANULES, dynamic_alone: bool = False
) -> list[GranuleLoss]:
    """Return what each granule costs in residency, against a memory that is given by the byte.

    A kernel alone on a unit is compared with itself: of equal pieces no rule loses any to holes, so this is the granule
    alone. The machine's memory keeps its bytes; what is left over below a granule is given to nobody.

    Parameters
    ----------
    machine : Machine
        Whose slots, waves, registers and bytes of shared memory limit the residency.
    granules : sequence of int
        Bytes.
    dynamic_alone : bool
        Let launches of which only the dynamic part is known count with that part.

    Raises
    ------
    InputError
        No launch of the trace tells what is needed, or a granule is no whole number of bytes of at least 1.

    Examples
    --------
    >>> from pathlib import Path
    >>> from workbench.machine import Machine
    >>> from workbench.workloads.kernels import KernelRows
    >>> rows = KernelRows()
    >>> rows.add("gemm", duration_ns=30, start_ns=0, device=0, workgroups=9000, threads=64, shared_bytes=8200)
    >>> trace = Trace(Path("t"), "made", "kernels", rows.table())
    >>> [round(one.lost, 3) for one in by_granule(trace, Machine(), [512, 2048])]  # 7 by the byte, 7 and 6 so
    [0.0, 0.143]
    """
    for granule in granules:
        if isinstance(granule, bool) or not isinstance(granule, int) or granule < 1:
            raise wrong_value("", "granules", "must be whole numbers of bytes of at least 1", granule, 1)
    demand = _demand(trace, machine, dynamic_alone)
    return [_loss(demand, granule) for granule in granules]


class _Demand(NamedTuple):
    """The launches that count, as columns."""

    bytes: np.ndarray
    """int64[rows], of a workgroup, the system's share included."""
    others: np.ndarray
    """int64[rows], how many workgroups a unit holds by everything but shared memory."""
    share: np.ndarray
    """int64[rows], workgroups of the grid for each unit, rounded up."""
    workgroups: np.ndarray
    seconds: np.ndarray
    capacity: int


def _demand(trace: Trace, machine: Any, dynamic_alone: bool) -> _Demand:
    table = trace.kernels
    whole, dynamic = launches_told(table)
    counted = np.flatnonzero(whole | dynamic if dynamic_alone else whole)
    if not len(counted) or table.workgroups is None:
        more = "; say dynamic_alone to count what launches tell" if dynamic.any() and not dynamic_alone else ""
        raise InputError(f"{trace.path}: no launch tells grid, threads and shared memory{more}.")
    request = np.zeros(table.rows, np.int64) if table.shared_bytes is None else table.shared_bytes.astype(np.int64)
    if table.launch_shared_bytes is not None:
        request = np.where(dynamic, table.launch_shared_bytes, request)
    threads, registers = (None if c is None else c[counted] for c in (table.threads, table.registers()))
    others = machine.resident(None, threads, registers)
    grid = table.workgroups[counted].astype(np.int64)
    capacity = machine.shared_memory_bytes
    wanted = request[counted] + machine.reserved_bytes
    fits = (wanted <= capacity) & (others > 0)
    if not fits.any():
        raise InputError(f"{trace.path}: no workgroup fits into a unit of this machine; name the machine it ran on.")
    seconds = table.duration_ns[counted].astype(float)
    return _Demand(
        wanted[fits], others[fits], -(-grid // machine.compute_units)[fits], grid[fits], seconds[fits], capacity
    )


def _loss(demand: _Demand, granule: int) -> GranuleLoss:
    asking = demand.bytes > 0
    wanted, most = np.maximum(demand.bytes, 1), demand.capacity
    taken = -(-wanted // granule)
    exact = np.where(asking, np.minimum(demand.others, most // wanted), demand.others)
    whole = np.where(asking, np.minimum(demand.others, most // granule // taken), demand.others)
    affected = whole < exact
    seconds = demand.seconds
    whole_used, exact_used = np.minimum(whole, demand.share), np.minimum(exact, demand.share)
    given = (taken * granule * demand.workgroups)[asking].sum()
    return GranuleLoss(
        granule_bytes=granule,
        launches=len(seconds),
        asking=int(asking.sum()),
        bound=int((asking & (most // wanted < demand.others)).sum()),
        affected=int(affected.sum()),
        affected_time=_share(seconds[affected].sum(), seconds.sum()),
        lost=_lost(whole, exact, seconds * asking),
        lost_used=_lost(whole_used, exact_used, seconds * asking),
        worst=float((1 - whole / np.maximum(exact, 1)).max()),
        padding=1 - _share((demand.bytes * demand.workgroups)[asking].sum(), given) if given else 0.0,
    )


def _lost(whole: np.ndarray, exact: np.ndarray, seconds: np.ndarray) -> float:
    return 1 - _share((whole * seconds).sum(), (exact * seconds).sum()) if (exact * seconds).sum() else 0.0


def _share(part: float, of: float) -> float:
    return float(part / of) if of else 0.0
