"""The setting that the claims on the directory share: the pilot's machine, and one way to fill on both sides.

Whoever asked is filled, whatever the rule of the document would copy beside it (`demand_always`), so that the directory
and the way of filling are not confounded; evictions are those of LRU and of the document's MRU in turn (spec 4, E16).

Cores have four warps, which wait for their translations: with a walk of 2,400 cycles (spec 4, section 4) cores that go
on regardless pile up walks without end, and a latency would say how long the trace is. Their accesses are a Poisson
process: cores in lock-step would find at their peers what is on its way itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.evidence import Evidence, point

MACHINE = "patent_pilot"
SHARED = ("pilot_zipf", "pilot_cyclic_shared", "pilot_half_shared", "halo_exchange", "producer_and_consumers")
"""Every regime in which cores share pages."""
PRIVATE = "pilot_cyclic_private"
GAP = 100
"""Mean cycles between two accesses of a core, where its warps keep up."""
WARPS = 4
BASES = ("lru", "mru")
NONE, DIRECTORY = "no_directory", "directory"
Pair = tuple[str, RunSet, PlannedPoint, PlannedPoint]
"""What it is about, the runs, the point without the directory and the one with it."""


def experiment(workload: Any, machine: Any = MACHINE, warps: Any = WARPS, **policies: Any) -> dict[str, Any]:
    """Make a sweep on the pilot's machine, of a regime by name or a workload; seeds are added where it is run."""
    regime = {"regime": workload} if isinstance(workload, str) else dict(workload)
    return {
        "engine": "translation",
        "machine": machine,
        "workload": {"pace": "poisson", "gap": GAP, **regime},
        "policy": {"fill": "demand_always", **policies},
        "options": {"cores_issue": {"warps": {"count": warps}}},
    }


def factorial(evidence: Evidence, regimes: tuple[str, ...] = SHARED) -> Iterator[Pair]:
    """Yield the pairs with and without the directory, under LRU and under MRU, for every regime."""
    for regime in regimes:
        config = experiment(regime, locate={"vary": [NONE, DIRECTORY]}, eviction={"vary": list(BASES)})
        runs = evidence.runs(f"translation_{regime}", config)
        for base in BASES:
            without, having = (point(runs, locate=locate, eviction=base) for locate in (NONE, DIRECTORY))
            yield f"{regime}, {base}", runs, without, having
