"""H3.4: contiguous allocation against scattered blocks behind a table (¶64)."""

from __future__ import annotations

from collections.abc import Callable

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import always_better, better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import QUEUED, REGISTERS, experiment, groups
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.statistics import Finding

WORKLOADS = {
    "small demands": groups(arrival=QUEUED),
    "large demands": REGISTERS,
}
SCATTERED = {"paged_memory": {"access_penalty": 0}}
"""Its accesses cost no time here: how much they cost is not known, and the claim must not rest on an assumption."""


def _runs(evidence: Evidence, name: str) -> RunSet:
    sweep = experiment(WORKLOADS[name], placement={"vary": [SCATTERED, "nearest_boundary"]})
    return evidence.runs(f"dispatch_scattered_{name.split()[0]}", sweep)


def _compared(evidence: Evidence, *measures: str, judge: Callable[..., Finding] = better) -> list[Finding]:
    findings = []
    for name in WORKLOADS:
        runs = _runs(evidence, name)
        contiguous = point(runs, placement="nearest_boundary")
        (scattered,) = (p for p in runs.points if p is not contiguous)
        findings += [judge(runs, scattered, contiguous, measure, name) for measure in measures]
    return findings


def _executes_faster(evidence: Evidence) -> list[Finding]:
    return _compared(evidence, "makespan_cycles")


ALLOCATION = [
    Claim(
        "H3.4",
        "contiguous allocation needs fewer pieces, each of which is a search and an address of its own",
        "¶64 (R13)",
        lambda e: _compared(e, "pieces_per_dispatch", judge=always_better),
        costs=lambda e: _compared(e, "refused_by_fragmentation"),
        kind="by_construction",
        design="2 laws of demand",
    ),
    Claim(
        "H3.4b",
        "contiguous allocation executes faster than scattered blocks",
        "¶64 (R13)",
        _executes_faster,
        design="2 laws of demand",
    ),
]
