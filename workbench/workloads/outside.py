"""Requests from outside: which workload reads a file of one's own, and which a recorded trace, for what engine."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from workbench.errors import InputError
from workbench.workloads.csv_columns import column_names
from workbench.workloads.importers.source import Source
from workbench.workloads.workload import KINDS, Workload

_READ_BY: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "file": {
        "workgroups": ("workbench.workloads.file", "WorkgroupFile"),
        "groups": ("workbench.workloads.group_file", "GroupFile"),
        "mallocs": ("workbench.workloads.malloc_file", "MallocFile"),
        "pool_requests": ("workbench.workloads.pool_file", "PoolFile"),
        "accesses": ("workbench.workloads.access_file", "AccessFile"),
    },
    "trace": {
        "workgroups": ("workbench.workloads.trace", "TraceWorkgroups"),
        "groups": ("workbench.workloads.trace_groups", "TraceGroups"),
        "pool_requests": ("workbench.workloads.trace_pool", "TracePool"),
        "tensor_requests": ("workbench.workloads.trace_tensors", "TraceTensors"),
        "accesses": ("workbench.workloads.trace_accesses", "TraceAccesses"),
        "applications": ("workbench.workloads.trace_applications", "TraceApplications"),
    },
}
"""The key in a sweep, what the engine wants -> the module and the class of the workload."""
_BY_HEADER: Mapping[str, tuple[str, str]] = {"pool_requests": ("workbench.workloads.serving_file", "ServingFile")}
"""What the engine wants -> another workload that a CSV file may give, if its header says so (`reads`)."""


def outside(key: str, wants: str) -> type[Workload] | None:
    """Return the workload of a `file` or a `trace` for what an engine wants; None where there is none.

    >>> outside("file", "groups").name
    'group_file'
    """
    if wants not in _READ_BY[key]:
        return None
    return _imported(*_READ_BY[key][wants])


def _imported(module: str, name: str) -> type[Workload]:
    result: type[Workload] = getattr(importlib.import_module(module), name)
    return result


def of_file(name: object, wants: str) -> type[Workload] | None:
    """Return the workload that reads a CSV file for what an engine wants, as its header says; None = there is none.

    >>> of_file("no such file", "pool_requests").name
    'pool_file'
    """
    if wants in _BY_HEADER and isinstance(name, str) and os.path.isfile(name):
        other: Any = _imported(*_BY_HEADER[wants])
        if other.reads(column_names(_first_line(name))):
            result: type[Workload] = other
            return result
    return outside("file", wants)


def _first_line(name: str) -> bytes:
    try:
        return Source(name).head
    except InputError:
        return b""  # which reading the file as a whole will say


def needed(key: str, wants: str, place: str) -> type[Workload]:
    """Return the same, where there must be one.

    Raises
    ------
    InputError
        There is none.
    """
    workload = outside(key, wants)
    if workload is None:
        others = ", ".join(_READ_BY[key])
        raise InputError(f"{place}: a {key} gives {others}; this engine serves {wants}. Take a synthetic workload.")
    return workload


def all_outside(wants: str) -> dict[str, type[Workload]]:
    """Return every workload from outside for what an engine wants, by name.

    >>> list(all_outside("groups"))
    ['group_file', 'trace_groups']
    >>> list(all_outside("pool_requests"))
    ['pool_file', 'trace_pool', 'serving_file']
    """
    found = [outside(key, wants) for key in _READ_BY]
    found += [_imported(*_BY_HEADER[wants])] if wants in _BY_HEADER else []
    return {cls.name: cls for cls in found if cls is not None}


def written_as(name: str) -> tuple[str, type[Workload]] | None:
    """Return the key under which a workload from outside is written, and its class, by its name; None = nothing is so
    named.

    >>> written_as("trace_groups")[0]
    'trace'
    """
    for key in _READ_BY:
        for kind in KINDS:
            workload = outside(key, kind)
            if workload is not None and workload.name == name:
                return key, workload
    by_header = (_imported(*place) for place in _BY_HEADER.values())
    return next((("file", cls) for cls in by_header if cls.name == name), None)
