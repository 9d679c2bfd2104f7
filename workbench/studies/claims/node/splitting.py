"""H6.8: splitting stuck groups wave by wave makes waves wait longer for the lock of the device heap (spec 3, Em. 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.node.experiment import TIME, experiment
from workbench.studies.statistics import Finding

THRESHOLDS = [16, 256, 4096]
"""Failed rounds; the document's example is 256 (spec 3, ¶88)."""
CALLING: dict[str, Any] = {
    "regime": "small_kernels",
    "kernels": 1,
    "kernel_groups": 16,
    "waves": 4,
    "independent": True,
    "count": 4,
    "lanes": 8,
    "size": 16,
}
"""More groups than a card holds, so that some are stuck; each lane asks for the least."""
LOCK = "group_mean_malloc_lock_cycles"
SERVED = ["per_thread", "warp_aggregated"]


def _without(evidence: Evidence, measure: str) -> Iterator[Finding]:
    """Yield the cases that a measure is better where nothing is split."""
    split = {"split_when_stuck": {"threshold": {"vary": THRESHOLDS}}}
    for serve in SERVED:
        config = experiment(CALLING, stuck={"vary": ["never_split", split]}, serve=serve)
        runs = evidence.runs(f"node_splitting_{serve}", config)
        never, *splitting = runs.points
        for threshold, other in zip(THRESHOLDS, splitting, strict=True):
            yield better(runs, other, never, measure, f"{serve}, threshold {threshold}")


SPLITTING = [
    Claim(
        "H6.8",
        "splitting stuck groups wave by wave raises contention for the lock of device heaps",
        "spec 6",
        lambda e: [*_without(e, LOCK)],
        costs=lambda e: [*_without(e, TIME)],
        design="two ways to serve a warp, three thresholds",
        slow=True,
    )
]
