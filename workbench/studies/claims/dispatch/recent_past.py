"""H3.16 and H3.17: how long the recent past should be, and how much it should weigh (Em. 10 with Em. 9)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.studies.claims.cases import better, falling
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import POWER, experiment, groups
from workbench.studies.claims.dispatch.modules import calibrated
from workbench.studies.claims.evidence import Evidence
from workbench.studies.statistics import Finding, every, some
from workbench.studies.statistics.finding import weakest_of

NX = [1 << k for k in range(4, 17, 2)]
LONG = groups(6000, duration={"uniform": [1000, 10_000]}, arrival={"poisson_load": 0.7})
"""Some 220,000 cycles, more than three times the longest past."""
MIXED = (0.25, 0.5, 0.75)
WAITING = groups(arrival={"poisson_load": 0.9})
OBJECTIVES = ("power_cv", "wait_mean_cycles")
"""What Em. 10 is for, and what a dispatcher is for."""


def _trends(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("dispatch_nx", experiment(LONG, POWER, choice=calibrated({"vary": NX})))
    points = dict(zip(NX, runs.points, strict=True))
    yield falling(runs, points, "power_cv")
    yield falling(runs, points, "energy_prediction")


def mixture(w: float) -> dict[str, Any]:
    """Mix (1 - w) x what is left + w x little recent energy (E20)."""
    return {"weighted_choice": {"choices": ["most_residual", calibrated()], "weights": [1 - w, w]}}


def _mixtures(evidence: Evidence) -> list[Finding]:
    """Return the cases of mixtures: one is best if it beats both ends in both objectives: each weight is a case, shown
    by its weakest part."""
    weights = (0.0, *MIXED, 1.0)
    sweep = experiment(WAITING, POWER, choice={"vary": [mixture(w) for w in weights]})
    runs = evidence.runs("dispatch_mixtures", sweep)
    points = dict(zip(weights, runs.points, strict=True))
    findings = []
    for w in MIXED:
        beats = [
            better(runs, points[end], points[w], measure, f"against w = {end:g}")
            for end in (0.0, 1.0)
            for measure in OBJECTIVES
        ]
        weakest = every(f"w = {w:g}", "better than both ends in both", beats)
        findings.append(
            weakest._replace(statement=f"better than both ends in both; the weakest is {weakest_of(beats).id}")
        )
    return findings


RECENT_PAST = [
    Claim("H3.16", "a longer past balances more and foretells less", "¶279", lambda e: list(_trends(e))),
    Claim("H3.17", "a mixture is better than either alone", "¶283", _mixtures, joined=some),
]
