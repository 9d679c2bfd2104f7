"""The setting that the claims on device malloc share: one lock, one bitmap heap, the same calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.evidence import Evidence, finite, point

MACHINE = "h100"
WARP = 32
Load = tuple[str, dict[str, Any]]
"""A regime, and what is changed of it."""
EQUAL: dict[str, Load] = {f"{size} B": ("small_equal", {"size": size}) for size in (2, 4, 16, 256)}
UNEQUAL: dict[str, Load] = {
    name: (name, {}) for name in ("thread_number", "mixed_sizes", "log_normal_sizes", "bimodal_sizes")
}
LOADS = {**EQUAL, **UNEQUAL}
"""Sizes that are equal, t + 1, uniform, log-normal and bimodal (spec 2, section 6)."""
BOTH = ["per_thread", "warp_aggregated"]
CHANGED: dict[str, Any] = {}
"""Levers of every load that are not as its regime has them; tests make the loads smaller."""


def experiment(workload: Any, options: Mapping[str, Any] | None = None, **policies: Any) -> dict[str, Any]:
    """A sweep of the engine `malloc`; seeds are added where it is run."""
    said = {"engine": "malloc", "machine": MACHINE, "workload": workload, "policy": policies}
    return {**said, "options": dict(options or {})}


def regime(name: str, **levers: Any) -> dict[str, Any]:
    """A load, with some levers changed."""
    return {"regime": name, **levers, **CHANGED}


def every_load(**levers: Any) -> dict[str, Any]:
    """All loads, in their order."""
    return {"vary": [regime(name, **changed, **levers) for name, changed in LOADS.values()]}


def loads(evidence: Evidence) -> tuple[RunSet, dict[str, tuple[PlannedPoint, PlannedPoint]]]:
    """The runs of every load, and its two points: per thread and warp-aggregated."""
    runs = evidence.runs("malloc_loads", experiment(every_load(), serve={"vary": BOTH}))
    return runs, dict(zip(LOADS, zip(runs.points[::2], runs.points[1::2], strict=True), strict=True))


def counts(evidence: Evidence, threads: list[int]) -> RunSet:
    """Calls of several numbers of threads, per thread and warp-aggregated."""
    workload = {"synthetic": "random_mallocs", "threads": {"vary": threads}}
    return evidence.runs("malloc_counts", experiment(workload, serve={"vary": BOTH}))


def every_seed(runs: RunSet, measure: str, **shown: Any) -> set[float]:
    """The different values that a measure has at a point over all seeds."""
    return set(finite(runs, point(runs, **shown), measure).values())
