"""H6.1: memory in small pieces costs time at the same bytes in use, where pages are touched here and there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.node.experiment import TIME, experiment
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding

SAME = margin("H6.1 slices")
TOUCHES = 16
"""Pages of a touch that are simulated: with few of them, pages of 4 KiB would be touched too little."""
PIECES = {"pages": {"vary": ["4k", "2m"], "zip": "runs"}, "touches_a_phase": TOUCHES}
FRAMES = {"vary": ["lowest", "longest"], "zip": "runs"}
PATTERNS: dict[str, dict[str, Any]] = {
    "gather": {"regime": "gather"},
    "halo": {"regime": "stencil", "halo": 1},
    "slice": {"regime": "stencil", "halo": 0},
}


def _pair(evidence: Evidence, pattern: str) -> tuple[RunSet, PlannedPoint, PlannedPoint]:
    """Return the runs, the point with small pieces and the one with large ones."""
    runs = evidence.runs(f"node_fragmentation_{pattern}", experiment(PATTERNS[pattern], PIECES, frames=FRAMES))
    small, large = runs.points
    return runs, small, large


def _costs_time(evidence: Evidence) -> Iterator[Finding]:
    for pattern in ("gather", "halo"):
        yield better(*_pair(evidence, pattern), TIME, pattern)
    statement = f"makespan with 2 MiB over that with 4 KiB is within 1 give or take {SAME:g}"
    yield ratio(*_pair(evidence, "slice"), TIME, (1 - SAME, 1 + SAME), statement, "slice")


def _memory(evidence: Evidence) -> Iterator[Finding]:
    for pattern in PATTERNS:
        yield better(*_pair(evidence, pattern), "reserved_mean_bytes", pattern)


FRAGMENTATION = [
    Claim(
        "H6.1",
        "memory in pieces of 4 KiB costs time against 2 MiB for gather and halo, and nothing for slices",
        "spec 6",
        lambda e: [*_costs_time(e)],
        costs=lambda e: [*_memory(e)],
        design="three patterns",
        slow=True,
    )
]
