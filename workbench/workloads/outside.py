"""Requests from outside: which workload reads a file of one's own, and which a recorded trace, for what engine."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from workbench.errors import InputError
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
        "accesses": ("workbench.workloads.trace_accesses", "TraceAccesses"),
    },
}
"""The key in a sweep, what the engine wants -> the module and the class of the workload."""


def outside(key: str, wants: str) -> type[Workload] | None:
    """The workload of a `file` or a `trace` for what an engine wants; None where there is none.

    >>> outside("file", "groups").name
    'group_file'
    """
    if wants not in _READ_BY[key]:
        return None
    module, name = _READ_BY[key][wants]
    found: type[Workload] = getattr(importlib.import_module(module), name)
    return found


def needed(key: str, wants: str, place: str) -> type[Workload]:
    """The same, where there must be one.

    Raises
    ------
    InputError
        There is none.
    """
    found = outside(key, wants)
    if found is None:
        others = ", ".join(_READ_BY[key])
        raise InputError(f"{place}: a {key} gives {others}; this engine serves {wants}. Take a synthetic workload.")
    return found


def all_outside(wants: str) -> dict[str, type[Workload]]:
    """Every workload from outside for what an engine wants, by name.

    >>> list(all_outside("groups"))
    ['group_file', 'trace_groups']
    """
    found = [outside(key, wants) for key in _READ_BY]
    return {cls.name: cls for cls in found if cls is not None}


def written_as(name: str) -> tuple[str, type[Workload]] | None:
    """The key under which a workload from outside is written, and its class, by its name; None = nothing is so named.

    >>> written_as("trace_groups")[0]
    'trace'
    """
    for key in _READ_BY:
        for kind in KINDS:
            found = outside(key, kind)
            if found is not None and found.name == name:
                return key, found
    return None
