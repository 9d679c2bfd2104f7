"""What `workbench trace import` gives: the facts of a trace, or its requests as a workload file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workbench.files import digest_of_file
from workbench.streams import Streams
from workbench.workloads.catalogue import catalogue, trace_file
from workbench.workloads.csv_columns import write_file
from workbench.workloads.group_file import group_columns
from workbench.workloads.importers import read_trace
from workbench.workloads.pool_file import pool_columns
from workbench.workloads.recorded_accesses import TraceAccesses
from workbench.workloads.recorded_memory import TracePool
from workbench.workloads.trace_groups import TraceGroups
from workbench.workloads.trace_workgroups import TraceWorkgroups

FromTrace = TraceWorkgroups | TraceGroups | TraceAccesses | TracePool


def describe(named: str) -> dict[str, Any]:
    """Return the facts of a trace, in plain types: what `workbench trace import FILE --json` prints.

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
    """Return the identity of the file: `file`, `sha256`, and `public_trace` where the catalogue lists it."""
    known = [entry.name for entry in catalogue().values() if entry.sha256 == digest_of_file(path)]
    return {"file": str(path), "sha256": digest_of_file(path), **({"public_trace": known[0]} if known else {})}


def write_columns(workload: FromTrace, machine: Any, out: Path | str) -> dict[str, Any]:
    """Write the requests of a trace's workload as a CSV file that the matching file workload reads.

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
    write_file(_columns(workload, machine), out)
    return workload.facts(machine)


def _columns(workload: FromTrace, machine: Any) -> Iterator[dict[str, np.ndarray]]:
    """Yield the columns, some rows at a time."""
    if isinstance(workload, TraceAccesses):
        for block in workload.accesses(machine, Streams(0)):
            yield {"cycle": block.cycle, "core": block.core, "page": block.page}
    elif isinstance(workload, TracePool):
        yield pool_columns(workload.pool_requests(machine, Streams(0)), [card.id for card in machine.cards])
    elif isinstance(workload, TraceGroups):
        yield group_columns(workload.groups(machine, Streams(0)))
    else:
        yield workload.workgroups(machine, Streams(0))._asdict()
