"""H6.6: choosing the module by its pages against a directory, by time, and by look-ups in the shared TLB."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.node.experiment import DIRECTORY, FAMILIES, LOOK_UPS, NONE, TIME, experiment
from workbench.studies.statistics import Finding

BALANCED, AFFINITY = "least_waves", "affinity"
WAYS = {
    "locate": {"vary": [NONE, DIRECTORY, NONE], "zip": "way"},
    "choice": {"vary": [BALANCED, BALANCED, AFFINITY], "zip": "way"},
}
"""Neither, the directory alone, the choice alone."""


def _runs(evidence: Evidence, family: str) -> RunSet:
    return evidence.runs(f"node_affinity_{family}", experiment(family, **WAYS))


def _against_directory(evidence: Evidence, measure: str) -> Iterator[Finding]:
    for family in FAMILIES:
        runs = _runs(evidence, family)
        yield better(runs, point(runs, locate=DIRECTORY), point(runs, choice=AFFINITY), measure, family)


def _each_alone(evidence: Evidence) -> Iterator[Finding]:
    for family in FAMILIES:
        runs = _runs(evidence, family)
        neither = point(runs, locate=NONE, choice=BALANCED)
        for name, other in ((AFFINITY, {"choice": AFFINITY}), (DIRECTORY, {"locate": DIRECTORY})):
            for measure in (TIME, LOOK_UPS):
                yield better(runs, neither, point(runs, **other), measure, f"{family}, {name} alone")


LOCALITY = [
    Claim(
        "H6.6",
        "choosing the module by its pages saves more time than a directory, at no storage",
        "spec 6",
        lambda e: [*_against_directory(e, TIME)],
        costs=lambda e: [*_each_alone(e), *_against_directory(e, LOOK_UPS)],
        design="five families",
        slow=True,
        mark="-time-median",
    )
]
