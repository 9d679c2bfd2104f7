"""The setting that the claims on the directory share: the pilot's machine, and one way to fill on both sides.

Whoever asked is filled, whatever the rule of the document would copy beside it (`demand_always`), so that the directory
and the way of filling are not confounded; evictions are those of LRU and of the document's MRU in turn (spec 4, E16).
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
BASES = ("lru", "mru")
NONE, DIRECTORY = "no_directory", "directory"
Pair = tuple[str, RunSet, PlannedPoint, PlannedPoint]
"""What it is about, the runs, the point without the directory and the one with it."""


def experiment(workload: Any, machine: Any = MACHINE, options: Any = None, **policies: Any) -> dict[str, Any]:
    """A sweep on the pilot's machine; seeds are added where it is run."""
    chosen = {"fill": "demand_always", **policies}
    said = {"engine": "translation", "machine": machine, "workload": workload, "policy": chosen}
    return {**said, "options": dict(options or {})}


def factorial(evidence: Evidence, regimes: tuple[str, ...] = SHARED) -> Iterator[Pair]:
    """With and without the directory, under LRU and under MRU, for every regime."""
    for regime in regimes:
        said = experiment(regime, locate={"vary": [NONE, DIRECTORY]}, eviction={"vary": list(BASES)})
        runs = evidence.runs(f"translation_{regime}", said)
        for base in BASES:
            without, having = (point(runs, locate=locate, eviction=base) for locate in (NONE, DIRECTORY))
            yield f"{regime}, {base}", runs, without, having
