"""GPU policy workbench: composable resource-management policies, compiled simulators, paired experiments.

>>> import workbench as wb
>>> results = wb.run({"engine": "shared_memory", "workload": {"regime": "large_uniform"}, "seeds": 3,
...                   "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}}, workers=0)
>>> len(results.table)  # a row a run
6
"""

from __future__ import annotations

from typing import Any

import workbench.former_modules as former_modules
from workbench.version import IMPORTED_NS, __version__
from workbench.words import WORDS, find

former_modules.install()

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
    "advise": "workbench.advice.torch_memory.advice",
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
    "claims": "workbench.claims",
    "tune": "workbench.tuning",
    "open_study": "workbench.tuning",
    "dashboard": "workbench.dashboards",
    "headline": "workbench.notebooks.execution",
    "lever": "workbench.levers",
    **_BASES,
    "measure": "workbench.mechanisms.mechanism",
    "add_measure": "workbench.mechanisms.mechanism",
    "Recipe": "workbench.figures",
    "add_figure": "workbench.figures",
    "Claim": "workbench.claims",
    "add_claim": "workbench.claims",
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
    value = find(name)
    if name in WORDS:
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *WORDS})
