"""The kernels of one card in the order of their starts, with everything that a workgroup stream needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.workloads.importers import Trace
from workbench.workloads.kernels import MISSING

FIRST_DEVICE = -1


class Launches(NamedTuple):
    """One row a launch; grid and shared memory are known in every row."""

    device: int
    names: list[str]
    start_ns: np.ndarray
    """int64[rows], not decreasing."""
    duration_ns: np.ndarray
    """int64[rows]."""
    workgroups: np.ndarray
    """int64[rows]."""
    shared_bytes: np.ndarray
    """int64[rows], of a workgroup."""
    threads: np.ndarray | None
    """int64[rows], of a workgroup; MISSING where it was not recorded, None where it never was."""
    registers: np.ndarray | None
    """int64[rows], vector registers of a thread; likewise."""


def launches_of(trace: Trace, device: int = FIRST_DEVICE, skip: bool = False) -> tuple[Launches, int]:
    """The launches of a card, and how many were left out because their grid or shared memory was not recorded.

    Launches that start together keep the order of the file.

    Parameters
    ----------
    device : int
        The number of the card; -1 is the lowest there is.
    skip : bool
        Leave incomplete launches out instead of refusing the trace.

    Raises
    ------
    InputError
        The trace has no such card, no kernels, no durations, or incomplete launches: one sentence that says what is
        missing and which files have it.
    """
    rows = _rows_of(trace, device)
    table = trace.kernels
    known = np.ones(len(rows), bool)
    for column in (table.workgroups, table.shared_bytes):
        known &= np.zeros(len(rows), bool) if column is None else column[rows] != MISSING
    lasting = table.duration_ns[rows].any()
    if not known.any() or not lasting or not (skip or known.all()):
        cure = "; `incomplete: skip` leaves those out" if known.any() and lasting else ""
        raise InputError(f"{trace.path}: cannot become workgroups: {'; '.join(trace.missing())}{cure}.")
    kept = table.take(rows[known])
    assert kept.workgroups is not None and kept.shared_bytes is not None
    names = [kept.name_of(row) for row in range(kept.rows)]
    held = (kept.start_ns, kept.duration_ns, kept.workgroups, kept.shared_bytes, kept.threads, kept.registers())
    return Launches(int(kept.device[0]), names, *held), int(np.count_nonzero(~known))


def _rows_of(trace: Trace, device: int) -> np.ndarray:
    """The rows of a card, by start."""
    numbers = np.unique(trace.kernels.device)
    if not len(numbers):
        raise InputError(f"{trace.path}: cannot become workgroups: {'; '.join(trace.missing())}.")
    wanted = int(numbers[0]) if device == FIRST_DEVICE else device
    if wanted not in numbers:
        there = ", ".join(map(str, numbers))
        raise InputError(f"{trace.path}: has kernels of device {there} only. Got trace_workgroups.device {device}.")
    rows = np.flatnonzero(trace.kernels.device == wanted)
    return rows[np.argsort(trace.kernels.start_ns[rows], kind="stable")]
