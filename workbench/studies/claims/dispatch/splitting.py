"""H3.6 and H3.7: splitting what is stuck, and the priority of its parts (Em. 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import all_better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import experiment
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.statistics import Finding

THRESHOLDS = [16, 64, 256, 1024, 4096]
"""Spec 3, H3.6; the document's example is 256 (¶88)."""
STUCK = {"regime": "stuck", "count": 2000, "duration": {"uniform": [1000, 10_000]}}
"""Groups that run long enough for 4,096 rounds in a row to fail."""
POLICIES = [
    "never_split",
    *({"split_when_stuck": {"threshold": {"vary": THRESHOLDS}, "priority": p}} for p in ("inherit", "lowest")),
]


def _runs(evidence: Evidence) -> RunSet:
    return evidence.runs("dispatch_splitting", experiment(STUCK, stuck={"vary": POLICIES}))


def _at_each_threshold(first: Callable[[int], str], *measures: str) -> Callable[[Evidence], Sequence[Finding]]:
    def parts(evidence: Evidence) -> list[Finding]:
        runs = _runs(evidence)
        return [
            all_better(runs, point(runs, stuck=first(n)), point(runs, stuck=_split(n)), measures, f"threshold {n}")
            for n in THRESHOLDS
        ]

    return parts


def _split(threshold: int, priority: str = "lowest") -> str:
    return f"split_when_stuck(threshold={threshold}, priority={priority})"


SPLITTING = [
    Claim(
        "H3.6",
        "splitting stuck groups relieves blocking",
        "¶91 and ¶100",
        _at_each_threshold(lambda n: "never_split", "makespan_cycles", "failed_rounds"),
    ),
    Claim(
        "H3.7",
        "the lowest priority for sub-groups lets whole groups go first and raises utilisation",
        "¶98",
        _at_each_threshold(lambda n: _split(n, "inherit"), "wait_unsplit_mean_cycles", "utilisation"),
    ),
]
