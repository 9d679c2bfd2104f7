"""H6.2: what placement and the directory gain together is what each gains by itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.node.experiment import DIRECTORY, FAMILIES, NONE, TIME, experiment
from workbench.studies.claims.registered import margin
from workbench.studies.factorial import contrast
from workbench.studies.statistics import Finding, equivalent, median_within
from workbench.studies.values import by_seed

BEYOND = margin("H6.2 additive")
FIRST, BOUNDARY = "first_fit", "nearest_boundary"
PLACEMENTS = {"vary": [FIRST, BOUNDARY], "zip": "placement"}


def _runs(evidence: Evidence, family: str) -> RunSet:
    locate = {"vary": [NONE, DIRECTORY]}
    config = experiment(family, placement=PLACEMENTS, shared_placement=PLACEMENTS, locate=locate)
    return evidence.runs(f"node_additive_{family}", config)


def _interaction(evidence: Evidence, family: str) -> Finding:
    """Return the case that what both gain beyond the sum is nothing, as a share of the baseline's makespan."""
    runs = _runs(evidence, family)
    by_levels = {
        (a, b): by_seed(runs, point(runs, placement=placement, locate=locate), TIME)
        for a, placement in enumerate((FIRST, BOUNDARY))
        for b, locate in enumerate((NONE, DIRECTORY))
    }
    seeds = [seed for seed in runs.seeds if not any(np.isnan(values[seed]) for values in by_levels.values())]
    values = {levels: np.array([one[seed] for seed in seeds], float) for levels, one in by_levels.items()}
    beyond = -contrast(values, (0, 1)) / (values[0, 0].mean() if seeds else 1.0)
    statement = f"both gain the sum give or take {BEYOND:g} of the baseline's makespan"
    case = equivalent(family, statement, median_within(beyond, (-BEYOND, BEYOND)))
    case = case._replace(missing=len(runs.seeds) - len(seeds))
    return of(runs, case, f"{TIME}, gain of both less the gains of each", "share of the baseline")


def _alone(evidence: Evidence) -> Iterator[Finding]:
    for family in FAMILIES:
        runs = _runs(evidence, family)
        neither = point(runs, placement=FIRST, locate=NONE)
        yield better(runs, neither, point(runs, placement=BOUNDARY, locate=NONE), TIME, f"{family}, placement alone")
        yield better(runs, neither, point(runs, placement=FIRST, locate=DIRECTORY), TIME, f"{family}, directory alone")


ADDITIVE = [
    Claim(
        "H6.2",
        "placement nearest to a boundary and the sharing directory gain together what they gain alone",
        "spec 6",
        lambda e: [_interaction(e, family) for family in FAMILIES],
        costs=lambda e: [*_alone(e)],
        design="five families",
        slow=True,
    )
]
