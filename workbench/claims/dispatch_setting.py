"""The machine, the groups and the sweep of every claim on dispatching.

It is the document's machine, with policies at their defaults but for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MACHINE = "patent_dispatch"
MODULES, BLOCKS = 16, 128
"""Modules of the machine, and blocks of vector registers of a unit (spec 3, ¶151)."""
POWER: dict[str, Any] = {"power": "class_power", "heat": "rc_heat"}
QUEUED = "all_at_once"
"""All groups wait from cycle 0 on, so that the dispatcher is never idle."""
SOONER = ("makespan_cycles", "wait_mean_cycles")


def experiment(workload: Any, options: Mapping[str, Any] | None = None, **policies: Any) -> dict[str, Any]:
    """Make a sweep on the document's machine; seeds are added where it is run."""
    config = {"engine": "dispatch", "machine": MACHINE, "workload": workload, "policy": policies}
    return {**config, "options": dict(options or {})}


def groups(count: int = 2000, **levers: Any) -> dict[str, Any]:
    """Return the workbench's random groups, with some laws chosen."""
    return {"synthetic": "random_groups", "count": count, **levers}


REGISTERS = groups(arrival=QUEUED, waves={"uniform": [1, 8]}, vgpr_blocks={"uniform": [8, 24]})
"""Vector registers run out before wave slots do: what probes report, and where blocks are placed, decides."""
