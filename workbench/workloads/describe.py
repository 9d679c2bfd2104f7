"""What a trace holds, as `workbench import` prints it, and the same as workload columns in a CSV file."""

from __future__ import annotations

import csv
import io
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.streams import Streams
from workbench.workloads.catalogue import catalogue, digest, trace_file
from workbench.workloads.group_file import group_columns
from workbench.workloads.importers import read_trace
from workbench.workloads.pool_file import pool_columns
from workbench.workloads.trace import TraceWorkgroups
from workbench.workloads.trace_groups import TraceGroups
from workbench.workloads.trace_pool import TracePool


def describe(named: str) -> dict[str, Any]:
    """The facts of a trace, in plain types: what `workbench import FILE --json` prints.

    Parameters
    ----------
    named : str
        A file, or the name of a public trace.

    Returns
    -------
    dict
        `file`, `sha256`, `format`, then the facts that the format has (`kernels` or `dispatches`, `unique_names`,
        `total_duration_ns`, `max_shared_bytes`, `devices`, `streams`, `allocations`, ...), and `missing`: a clause for
        each thing that a workload would need and the trace lacks. What a trace cannot tell is absent, never zero.

    Raises
    ------
    InputError
        There is no such trace, or it cannot be read.
    """
    path = trace_file(named)
    return {**origin(path), **read_trace(path).facts()}


def origin(path: Path) -> dict[str, str]:
    """Which file it is: `file`, `sha256`, and `public_trace` where the catalogue lists it."""
    known = [entry.name for entry in catalogue().values() if entry.sha256 == digest(path)]
    return {"file": str(path), "sha256": digest(path), **({"public_trace": known[0]} if known else {})}


def write_columns(workload: TraceWorkgroups | TraceGroups | TracePool, machine: Any, out: Path | str) -> dict[str, int]:
    """Write the requests of a trace as a workload file: `arrival,length,duration`, or the columns of a group file or
    of a pool file.

    The file appears whole or not at all. It belongs to the machine: what is asked for is in its segments and blocks,
    times are in its cycles.

    Returns
    -------
    dict
        How many kernels and workgroups became requests, and how many did not (`facts` of the workload).

    Raises
    ------
    InputError
        The trace cannot become workgroups of this machine, or the file cannot be written.
    """
    place = Path(out)
    part = place.with_name(f".{place.name}.part")
    text = _text(_columns(workload, machine))
    try:
        part.write_text(text, encoding="ascii")
        os.replace(part, place)
    except OSError as problem:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise InputError(f"{place}: cannot be written ({problem.strerror}).") from None
    return workload.facts(machine)


def _columns(workload: TraceWorkgroups | TraceGroups | TracePool, machine: Any) -> dict[str, np.ndarray]:
    if isinstance(workload, TracePool):
        ids = [card.id for card in machine.cards]
        return pool_columns(workload.pool_requests(machine, Streams(0)), ids)
    if isinstance(workload, TraceGroups):
        return group_columns(workload.groups(machine, Streams(0)))
    return workload.workgroups(machine, Streams(0))._asdict()


def _text(columns: dict[str, np.ndarray]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()
