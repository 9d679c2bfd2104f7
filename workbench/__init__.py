"""GPU policy workbench: composable resource-management policies, compiled simulators, paired experiments.

>>> import workbench as wb
>>> results = wb.run({"engine": "shared_memory", "workload": {"regime": "large_uniform"}, "seeds": 3,
...                   "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}}, workers=0)
>>> len(results.table)  # a row a run
6
"""

from __future__ import annotations

import importlib
import time
from typing import Any

__version__ = "0.5.0.dev0"

IMPORTED_NS = time.time_ns()
"""When this process imported the package: what was edited later is not, or not in whole, what it runs."""

_BASES = {
    "Arenas": "workbench.policies.malloc.arenas",
    "Cache": "workbench.policies.pool.cache",
    "CacheFit": "workbench.policies.pool.fit",
    "Choice": "workbench.policies.dispatch.choice.question",
    "Eviction": "workbench.policies.translation.eviction.question",
    "Fill": "workbench.policies.translation.fill",
    "HeapLock": "workbench.policies.malloc.lock",
    "HeapPolicy": "workbench.policies.malloc.heap",
    "Frames": "workbench.policies.pool.frames",
    "IdleRelease": "workbench.policies.pool.idle",
    "Locate": "workbench.policies.translation.locate",
    "Peer": "workbench.policies.translation.peer",
    "Placement": "workbench.policies.placement.question",
    "Priority": "workbench.policies.dispatch.priority",
    "Probe": "workbench.policies.probes.question",
    "QueuePolicy": "workbench.policies.placement.queueing",
    "RemoteFill": "workbench.policies.translation.remote_fill",
    "Residency": "workbench.policies.pool.residency",
    "RetryPolicy": "workbench.policies.placement.queueing",
    "Selection": "workbench.policies.dispatch.selection.question",
    "Serve": "workbench.policies.malloc.serve",
    "Stuck": "workbench.policies.dispatch.stuck",
    "Target": "workbench.policies.pool.target.question",
    "Units": "workbench.policies.dispatch.units",
}
"""The base of every question's policies."""

_WORDS = {
    "Results": "workbench.api",
    "advise": "workbench.studies.torch_memory.advice",
    "advice_figure": "workbench.figures.advice",
    "blame": "workbench.api",
    "discover": "workbench.api",
    "figure": "workbench.api",
    "open_results": "workbench.api",
    "planned": "workbench.api",
    "presets": "workbench.api",
    "run": "workbench.api",
    "sensitivity": "workbench.api",
    "step": "workbench.api",
    "status": "workbench.experiments.progress",
    "claims": "workbench.studies.claims",
    "tune": "workbench.studies.tuning",
    "open_study": "workbench.studies.tuning",
    "dashboard": "workbench.dashboards",
    "headline": "workbench.experiments.notebooks.execution",
    "lever": "workbench.levers",
    **_BASES,
    "measure": "workbench.experiments.mechanism",
    "add_measure": "workbench.experiments.mechanism",
    "Recipe": "workbench.figures",
    "add_figure": "workbench.figures",
    "Claim": "workbench.studies.claims",
    "add_claim": "workbench.studies.claims",
    "Generator": "workbench.workloads.generators",
    "add_generator": "workbench.workloads.generators",
    "Importer": "workbench.workloads.importers",
    "add_dashboard": "workbench.dashboards",
    "remove": "workbench.parts",
    "kernel": "workbench.compiled",
    "is_free": "workbench.structures.bitmaps",
    "first_start": "workbench.structures.bitmaps",
    "last_start": "workbench.structures.bitmaps",
}
"""The public words and where they live; each is imported when it is first used."""

__all__ = [*_WORDS, "policies"]


def __getattr__(name: str) -> Any:
    if name == "policies":
        return importlib.import_module("workbench.policies")
    if name not in _WORDS:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    value = getattr(importlib.import_module(_WORDS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WORDS})
