"""H2.10 and H2.11, two objections: blocks that are held for one piece, and larger requests that fail earlier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.malloc.experiment import BOTH, experiment, regime
from workbench.studies.statistics import Finding

LIVES = [100_000, 1_000_000]
"""The longest lifetime of what a thread holds; batches come 200,000 cycles apart."""
ALIGN = {"align": 16}
"""Pieces of whole granules on both sides, so that rounding does not speak for either."""
AT_ONCE = {"lock_free": {"hold_cycles": 1}}
"""Both sides are served at once: under a slow lock threads give up what they got before the others are served, and a
slow allocator would seem to need little memory."""
OCCUPIED = [0.7, 0.8, 0.9]
FULL: dict[str, Any] = {"heap_bytes": 1 << 20, "occupied_run_bytes": 4096}


def _churn(evidence: Evidence, life: int) -> Any:
    serve = [
        {"warp_aggregated": ALIGN},
        {"per_thread": ALIGN},
        {"warp_aggregated": {**ALIGN, "free_policy": "piecewise"}},
    ]
    workload = regime("churn", frees={"freed_by_thread": {"lifetime": {"uniform": [1, life]}}})
    return evidence.runs(f"malloc_churn_{life}", experiment(workload, serve={"vary": serve}, lock=AT_ONCE))


def _harms_reuse(evidence: Evidence) -> Iterator[Finding]:
    for life in LIVES:
        runs = _churn(evidence, life)
        together, alone, _ = runs.points
        yield better(runs, together, alone, "peak_heap_bytes", f"per thread, lifetimes up to {life}")


def _piece_by_piece(evidence: Evidence) -> Iterator[Finding]:
    for life in LIVES:
        runs = _churn(evidence, life)
        together, _, pieces = runs.points
        yield better(runs, together, pieces, "peak_heap_bytes", f"freed piece by piece, lifetimes up to {life}")


def _fails_earlier(evidence: Evidence) -> Iterator[Finding]:
    workload = {"regime": "mixed_sizes", "threads": 1024}
    options = {**FULL, "occupancy": {"vary": OCCUPIED}}
    runs = evidence.runs("malloc_full", experiment(workload, options, serve={"vary": BOTH}))
    for occupancy in OCCUPIED:
        alone, together = (point(runs, occupancy=occupancy, serve=name) for name in BOTH)
        yield better(runs, together, alone, "failure_rate", f"per thread, {occupancy:.0%} occupied")


REUSE = [
    Claim(
        "H2.10",
        "aggregation harms reuse: the heap's peak is higher with blocks that are freed as a whole",
        "spec 2, counter-hypothesis",
        lambda e: list(_harms_reuse(e)),
        costs=lambda e: list(_piece_by_piece(e)),
    ),
    Claim(
        "H2.11",
        "larger contiguous requests fail earlier in a heap that is nearly full",
        "spec 2, counter-hypothesis",
        lambda e: list(_fails_earlier(e)),
    ),
]
