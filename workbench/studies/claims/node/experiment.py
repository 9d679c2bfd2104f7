"""The setting that the claims on the whole node share: four small cards, every coupling on, five families.

What a driver's calls, a shoot-down and a link cost are assumptions of ours. A call of the driver takes a fifth of what
the claims on the pool say, because kernels of some 50 microseconds are short, and else nothing but the pool would be
seen. All was chosen on small seeds, before anything was run on those that judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MACHINE = {"cards": 4, "modules": 4}
"""A node by the rule `CardsAlike`, of which the first card is nearly full."""
FAMILIES = ["training", "serving", "stencil", "gather", "small_kernels"]
"""Every family of spec 6, R8, that is drawn."""
COUPLED: dict[str, Any] = {
    "memory": "wait",
    "pages": "64k",
    "shootdown_cycles": 500,
    "touches_hold": "group",
    "touches_a_phase": 16,
    "remote": "link",
    "link_latency_ns": 500,
    "malloc": "wait",
    "history": True,
    "pool": {"service_ns": 500, "driver_alloc_ns": 4000, "driver_free_ns": 4000, "driver_ns_per_mib": 100},
}
"""R9 to R16, none at its neutral value."""
POWER = {"dispatch": {"power": "class_power"}}
NONE, DIRECTORY = "no_directory", "directory"
TIME = "makespan_cycles"
LOOK_UPS = "shared_per_kilo"


def experiment(
    workload: Any, options: Mapping[str, Any] | None = None, machine: Any = None, **policies: Any
) -> dict[str, Any]:
    """Make a sweep on the small node, of a family by name or a workload; seeds are added where it is run.

    Pages are filled on demand alone: who shares them is then the directory's business or nobody's.
    """
    return {
        "engine": "node",
        "machine": machine or MACHINE,
        "workload": {"regime": workload} if isinstance(workload, str) else workload,
        "policy": {"locate": NONE, "fill": "demand_always", **policies},
        "options": {**COUPLED, **(options or {})},
    }
