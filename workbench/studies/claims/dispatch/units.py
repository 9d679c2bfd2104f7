"""H3.13: waves spread over the units by a rotated table (Em. 8), against its literal formulas and other ways."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import POWER, QUEUED, experiment, groups
from workbench.studies.claims.evidence import Evidence
from workbench.studies.statistics import Finding

WRITTEN = {
    "rotated_split": {"as_written": True, "pointer": {"vary": ["tail", "head"]}, "reading": {"vary": ["A", "B"]}}
}
SPREADS = {"vary": ["rotated_split", "no_rotation", WRITTEN, "least_loaded"]}
EVEN = groups(waves={"uniform": [1, 8]}, arrival=QUEUED)
"""Spec 3, section 4: wx ~ U{1..8}."""
MEASURES = ("unit_spread", "utilisation", "energy_joules")


def _balanced(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("dispatch_units", experiment(EVEN, POWER, units=SPREADS))
    rotated, *others = runs.points
    for other in others:
        for measure in MEASURES:
            yield better(runs, other, rotated, measure, f"against {other.coordinates['policy.units']}")


UNITS = [
    Claim(
        "H3.13",
        "the rotated split balances units, raises utilisation and lowers energy",
        "¶224 and ¶236",
        lambda e: list(_balanced(e)),
        design="against no rotation, the four written forms and the least loaded unit, 3 measures",
    ),
]
