"""H3.6 and H3.7: splitting what is stuck, and the priority of its parts (Em. 3)."""

from __future__ import annotations

import itertools

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import all_better, better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import experiment
from workbench.studies.claims.evidence import Evidence
from workbench.studies.statistics import Finding

THRESHOLDS = [16, 64, 256, 1024, 4096]
"""Spec 3, H3.6; the document's example is 256 (¶88)."""
STUCK = {"regime": "stuck", "count": 2000, "duration": {"uniform": [1000, 10_000]}}
"""Groups that run long enough for 4,096 rounds in a row to fail."""
PRIORITIES = ["inherit", "lowest"]
"""Of sub-groups; the lowest is the document's (¶97-98)."""
SPLIT = {"split_when_stuck": {"priority": {"vary": PRIORITIES}, "threshold": {"vary": THRESHOLDS}}}


def _points(evidence: Evidence) -> tuple[RunSet, dict[tuple[str, int], PlannedPoint], PlannedPoint]:
    """Return the runs, the point of every priority and threshold, and the one that never splits."""
    runs = evidence.runs("dispatch_splitting", experiment(STUCK, stuck={"vary": ["never_split", SPLIT]}))
    never, *splitting = runs.points
    return runs, dict(zip(itertools.product(PRIORITIES, THRESHOLDS), splitting, strict=True)), never


def _relieves(evidence: Evidence) -> list[Finding]:
    runs, split, never = _points(evidence)
    measures = ("makespan_cycles", "failed_rounds")
    findings = [all_better(runs, never, split["lowest", n], measures, f"threshold {n}") for n in THRESHOLDS]
    return [case for cases in findings for case in cases]


def _lowest(evidence: Evidence, measure: str) -> list[Finding]:
    """Return a case a threshold: a measure is better with the lowest priority for sub-groups than inherited."""
    runs, split, _ = _points(evidence)
    return [better(runs, split["inherit", n], split["lowest", n], measure, f"threshold {n}") for n in THRESHOLDS]


SPLITTING = [
    Claim("H3.6", "splitting stuck groups relieves blocking", "¶91 and ¶100", _relieves),
    Claim(
        "H3.7",
        "with the lowest priority for sub-groups whole groups wait less than with the inherited one",
        "¶98",
        lambda e: _lowest(e, "wait_unsplit_mean_cycles"),
        costs=lambda e: _lowest(e, "utilisation"),
    ),
]
