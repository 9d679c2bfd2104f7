"""H4.6: better performance of the GPU, which warps that hide latency should make smaller (spec 4, section 6)."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, gain_falls
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.translation.experiment import DIRECTORY, NONE, experiment
from workbench.studies.statistics import Finding

WARPS = (1, 2, 4, 8, 16)
REGIMES = ("pilot_zipf", "pilot_cyclic_shared", "pilot_half_shared")
BUSY = {"gap": 0}
"""Accesses as fast as warps can issue them: the trace keeps no warp waiting."""


def _points(evidence: Evidence, regime: str) -> tuple[RunSet, dict[int, tuple[PlannedPoint, PlannedPoint]]]:
    warps = {"vary": list(WARPS)}
    config = experiment({"regime": regime, **BUSY}, warps=warps, eviction="lru", locate={"vary": [NONE, DIRECTORY]})
    runs = evidence.runs(f"translation_warps_{regime}", config)
    both = {w: (point(runs, count=w, locate=NONE), point(runs, count=w, locate=DIRECTORY)) for w in WARPS}
    return runs, both


def _faster(evidence: Evidence) -> Iterator[Finding]:
    for regime in REGIMES:
        runs, both = _points(evidence, regime)
        for warps, (without, having) in both.items():
            yield better(runs, without, having, "accesses_per_kilocycle", f"{regime}, {warps} warps a core")


def _shrinks(evidence: Evidence) -> Iterator[Finding]:
    for regime in REGIMES:
        runs, both = _points(evidence, regime)
        yield gain_falls(runs, both, "accesses_per_kilocycle", f"{regime}, warps a core")


THROUGHPUT = [
    Claim(
        "H4.6",
        "more accesses in the same time, whatever the number of warps",
        "¶90",
        lambda e: list(_faster(e)),
        costs=lambda e: list(_shrinks(e)),
    )
]
