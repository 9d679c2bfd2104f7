"""H6.7: balancing power over modules costs translation locality (spec 3, Em. 10)."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.node.experiment import FAMILIES, LOOK_UPS, POWER, experiment
from workbench.studies.statistics import Finding

USUAL, BALANCING = "most_residual", "least_recent_energy"


def _runs(evidence: Evidence, family: str) -> RunSet:
    config = experiment(family, POWER, choice={"vary": [USUAL, BALANCING]})
    return evidence.runs(f"node_balance_{family}", config)


def _compared(evidence: Evidence, first: str, other: str, measure: str) -> Iterator[Finding]:
    """Yield the cases that a measure is better under the other choice."""
    for family in FAMILIES:
        runs = _runs(evidence, family)
        yield better(runs, point(runs, choice=first), point(runs, choice=other), measure, family)


BALANCE = [
    Claim(
        "H6.7",
        "balancing power by what modules have executed costs look-ups in the shared TLB",
        "spec 6",
        lambda e: [*_compared(e, BALANCING, USUAL, LOOK_UPS)],
        costs=lambda e: [*_compared(e, USUAL, BALANCING, "power_cv")],
        design="five families",
        slow=True,
    )
]
