"""The kernels of one card in the order of their starts, with everything that a stream of workgroups needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.workloads.importers import Trace
from workbench.workloads.kernels import MISSING

FIRST_DEVICE = -1
OF_REQUESTS = ("workgroups", "shared_bytes")
"""What must be known of every launch whose workgroups ask for shared memory."""


class Launches(NamedTuple):
    """One row a launch; what was needed of them is known in every row."""

    device: int
    names: list[str]
    start_ns: np.ndarray
    """int64[rows], not decreasing."""
    duration_ns: np.ndarray
    """int64[rows]."""
    workgroups: np.ndarray
    """int64[rows]."""
    shared_bytes: np.ndarray
    """int64[rows], of a workgroup; 0 where it was neither needed nor recorded."""
    threads: np.ndarray | None
    """int64[rows], of a workgroup; MISSING where it was not recorded, None where it never was."""
    registers: np.ndarray | None
    """int64[rows], vector registers of a thread; likewise."""
    scalar_registers: np.ndarray | None
    """int64[rows], of a wave; likewise."""
    stream: np.ndarray | None
    """int64[rows], the stream that each was launched on; likewise."""
    queue: np.ndarray | None
    """int64[rows], the hardware queue that it went through; likewise."""


def launches_of(
    trace: Trace,
    device: int = FIRST_DEVICE,
    skip: bool = False,
    needed: Sequence[str] = OF_REQUESTS,
    become: str = "workgroups",
    cures: Mapping[str, str] = {},
) -> tuple[Launches, int]:
    """Return the launches of a card, and how many were left out because something that is needed was not recorded.

    Launches that start together keep the order of the file.

    Parameters
    ----------
    device : int
        The number of the card; -1 is the lowest there is.
    skip : bool
        Leave incomplete launches out instead of refusing the trace.
    needed : names of columns of `KernelTable`
        What makes a launch complete: its grid, and what else; a grid is always needed.
    become : str
        What the kernels are to become, for the message.
    cures : mapping
        What helps where a column is missing, for the message; said if it helps with all that is missing.

    Raises
    ------
    InputError
        The trace has no such card, no kernels, no durations, or incomplete launches: one sentence that says what is
        missing and which files have it.
    """
    rows = _rows_of(trace, device, become)
    table = trace.kernels
    known = np.ones(len(rows), bool)
    for column in (getattr(table, field) for field in needed):
        known &= np.zeros(len(rows), bool) if column is None else column[rows] != MISSING
    lasting = table.duration_ns[rows].any()
    if not known.any() or not lasting or not (skip or known.all()):
        help_with = {cures.get(field, "") for field in needed if table.lacking(field)}
        skip_them = ["`incomplete: skip` leaves those out"] if known.any() and lasting else []
        clauses = [*trace.missing(needed), *skip_them, *(help_with if lasting and "" not in help_with else [])]
        raise InputError(f"{trace.path}: cannot become {become}: {'; '.join(clauses)}.")
    kept = table.take(rows[known])
    assert kept.workgroups is not None
    shared = np.zeros(kept.rows, np.int64) if kept.shared_bytes is None else np.maximum(kept.shared_bytes, 0)
    launches = Launches(
        device=int(kept.device[0]),
        names=[kept.name_of(row) for row in range(kept.rows)],
        start_ns=kept.start_ns,
        duration_ns=kept.duration_ns,
        workgroups=kept.workgroups,
        shared_bytes=shared,
        threads=kept.threads,
        registers=kept.registers(),
        scalar_registers=kept.sgprs,
        stream=kept.stream,
        queue=kept.queue,
    )
    return launches, int(np.count_nonzero(~known))


def _rows_of(trace: Trace, device: int, become: str) -> np.ndarray:
    """Return the rows of a card, by start."""
    numbers = np.unique(trace.kernels.device)
    if not len(numbers):
        raise InputError(f"{trace.path}: cannot become {become}: {'; '.join(trace.missing())}.")
    wanted = int(numbers[0]) if device == FIRST_DEVICE else device
    if wanted not in numbers:
        there = ", ".join(map(str, numbers))
        raise InputError(f"{trace.path}: has kernels of device {there} only. Got trace_{become}.device {device}.")
    rows = np.flatnonzero(trace.kernels.device == wanted)
    return rows[np.argsort(trace.kernels.start_ns[rows], kind="stable")]
