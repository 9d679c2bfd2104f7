"""H6.1: memory in small pieces costs time at the same bytes in use, where pages are touched here and there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.node.experiment import MACHINE, TIME, experiment
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding

SAME = margin("H6.1 slices")
TOUCHES = 16
"""Pages of a touch that are simulated: with few of them, pages of 4 KiB would be touched too little."""
PIECES = {"pages": {"vary": ["4k", "2m"], "zip": "runs"}, "touches_a_phase": TOUCHES}
FRAMES = {"vary": ["lowest", "longest"], "zip": "runs"}
PATTERNS: dict[str, dict[str, Any]] = {
    "gather": {"regime": "gather"},
    "halo": {"regime": "stencil", "halo_bytes": 16_384},
    "slice": {"regime": "stencil", "halo_bytes": 0},
}


SHORT: dict[str, Any] = {**MACHINE}
ENOUGH: dict[str, Any] = {**MACHINE, "left_mib": 1024}
"""A first card with all of its memory: nothing is borrowed, and no bytes pass a link."""


def _pair(evidence: Evidence, pattern: str, machine: dict[str, Any]) -> tuple[RunSet, PlannedPoint, PlannedPoint]:
    """Return the runs, the point with small pieces and the one with large ones."""
    name = f"node_fragmentation_{pattern}{'_at_home' if machine == ENOUGH else ''}"
    runs = evidence.runs(name, experiment(PATTERNS[pattern], PIECES, machine, frames=FRAMES))
    small, large = runs.points
    return runs, small, large


def _costs_time(evidence: Evidence, machine: dict[str, Any]) -> Iterator[Finding]:
    for pattern in ("gather", "halo"):
        yield better(*_pair(evidence, pattern, machine), TIME, pattern)
    statement = f"makespan with 2 MiB over that with 4 KiB is within 1 give or take {SAME:g}"
    yield ratio(*_pair(evidence, "slice", machine), TIME, (1 - SAME, 1 + SAME), statement, "slice")


def _memory(evidence: Evidence, machine: dict[str, Any]) -> Iterator[Finding]:
    for pattern in PATTERNS:
        yield better(*_pair(evidence, pattern, machine), "reserved_mean_bytes", pattern)


FRAGMENTATION = [
    Claim(
        "H6.1",
        "memory in pieces of 4 KiB costs time against 2 MiB for gather and halo, and nothing for slices",
        "spec 6",
        lambda e: [*_costs_time(e, SHORT)],
        costs=lambda e: [*_memory(e, SHORT)],
        design="three patterns; the first card borrows, and what a group touches of its pages moves over a link",
        slow=True,
    ),
    Claim(
        "H6.1b",
        "the same where nothing is borrowed, so that no bytes pass a link",
        "spec 6",
        lambda e: [*_costs_time(e, ENOUGH)],
        costs=lambda e: [*_memory(e, ENOUGH)],
        design="three patterns; entered after H6.1 had come out against at 16 seeds",
        slow=True,
    ),
]
