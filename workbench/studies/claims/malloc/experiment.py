"""The setting that the claims on device malloc share: one lock, one bitmap heap, the same calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import always_better, better
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.statistics import Finding

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
    """Make a sweep of the engine `malloc`; seeds are added where it is run."""
    config = {"engine": "malloc", "machine": MACHINE, "workload": workload, "policy": policies}
    return {**config, "options": dict(options or {})}


def regime(name: str, **levers: Any) -> dict[str, Any]:
    """Return a load, with some levers changed."""
    return {"regime": name, **levers, **CHANGED}


def every_load(**levers: Any) -> dict[str, Any]:
    """Return all loads, in their order."""
    return {"vary": [regime(name, **changed, **levers) for name, changed in LOADS.values()]}


ACTIVE = [1 / 32, 1 / 4, 1 / 2, 1.0]
"""Lanes of a warp that call: one, a quarter, half, all."""
OCCUPANCIES = [0.0, 0.5, 0.9]
"""Of the heap, before the first call."""
DESIGN = "8 laws of sizes x active lanes 1/32, 1/4, 1/2, 1 x heaps 0, 50, 90 % occupied"
FIXED = (*EQUAL, "thread_number")
"""Loads whose sizes are not drawn: with all lanes and an empty heap there is one run, counted and no sample."""


class Pair(NamedTuple):
    """A case of the design: the point per thread and the one that is warp-aggregated."""

    name: str
    runs: RunSet
    alone: PlannedPoint
    together: PlannedPoint
    exact: bool
    """Whether there is one run of it, the same under every seed."""


def loads(evidence: Evidence) -> Iterator[Pair]:
    """Yield every case of the design."""
    for active in ACTIVE:
        for occupancy in OCCUPANCIES:
            one = active == 1.0 and not occupancy
            yield from _cases(evidence, [*LOADS] if not one else [*UNEQUAL][1:], active, occupancy, exact=False)
            yield from _cases(evidence, [*FIXED] if one else [], active, occupancy, exact=True)


def _cases(evidence: Evidence, names: list[str], active: float, occupancy: float, exact: bool) -> Iterator[Pair]:
    if not names:
        return
    requests = [regime(LOADS[n][0], active=active, active_by="warp", **LOADS[n][1]) for n in names]
    sweep = experiment({"vary": requests}, {"occupancy": occupancy}, serve={"vary": BOTH})
    lanes = round(WARP * active)
    runs = evidence.runs(f"malloc_loads_{lanes}_{occupancy:g}{'_exact' * exact}", sweep, seeds=1 if exact else None)
    label = f"{lanes} of {WARP} lanes, heap {occupancy:.0%} occupied"
    for name, alone, together in zip(names, runs.points[::2], runs.points[1::2], strict=True):
        yield Pair(f"{name}, {label}", runs, alone, together, exact)


def gains(pair: Pair, measure: str) -> Finding:
    """Return the case that a measure is better with aggregation: tested, or counted where there is one run."""
    judge = always_better if pair.exact else better
    return judge(pair.runs, pair.alone, pair.together, measure, pair.name)


def counts(evidence: Evidence, threads: list[int]) -> RunSet:
    """Run calls of several numbers of threads, per thread and warp-aggregated, of sizes that are drawn."""
    workload = {"synthetic": "random_mallocs", "threads": {"vary": threads}}
    return evidence.runs("malloc_counts", experiment(workload, serve={"vary": BOTH}))


def every_seed(runs: RunSet, measure: str, **displayed: Any) -> set[float]:
    """Return the different values that a measure has at a point over all seeds."""
    return set(finite(runs, point(runs, **displayed), measure).values())
