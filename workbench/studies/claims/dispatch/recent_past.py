"""H3.16 and H3.17: how long the recent past should be, and how much it should weigh (Em. 10 with Em. 9)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.studies.claims.cases import all_better, either_better, falling
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import POWER, experiment, groups
from workbench.studies.claims.dispatch.modules import calibrated
from workbench.studies.claims.evidence import Evidence
from workbench.studies.statistics import Finding

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


def _mixtures(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of a Pareto statement: neither end is as good as a mixture in both objectives.

    A mixture is on the front beside an end where it is better than it in one objective at least; that is what each
    mixture must show against either end.
    """
    weights = (0.0, *MIXED, 1.0)
    sweep = experiment(WAITING, POWER, choice={"vary": [mixture(w) for w in weights]})
    runs = evidence.runs("dispatch_mixtures", sweep)
    points = dict(zip(weights, runs.points, strict=True))
    for w in MIXED:
        for end in (0.0, 1.0):
            yield either_better(runs, points[end], points[w], OBJECTIVES, f"w = {w:g} is not dominated by w = {end:g}")


def _both(evidence: Evidence) -> Iterator[Finding]:
    """Yield every mixture against either end in each objective."""
    runs = evidence.runs(
        "dispatch_mixtures", experiment(WAITING, POWER, choice={"vary": [mixture(w) for w in (0.0, *MIXED, 1.0)]})
    )
    first, *mixed, last = runs.points
    for w, point in zip(MIXED, mixed, strict=True):
        for end, there in ((0.0, first), (1.0, last)):
            yield from all_better(runs, there, point, OBJECTIVES, f"w = {w:g} against w = {end:g}")


RECENT_PAST = [
    Claim("H3.16", "a longer past balances more and foretells less", "¶279", lambda e: list(_trends(e))),
    Claim(
        "H3.17",
        "mixtures of both are on the Pareto front: neither end is as good in power balance and waiting",
        "¶283",
        lambda e: list(_mixtures(e)),
        costs=lambda e: list(_both(e)),
        design="w = 0.25, 0.5 and 0.75 against w = 0 and 1, 2 objectives",
    ),
]
