"""H6.2: what placement and the directory gain together is what each gains by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.node.experiment import DIRECTORY, FAMILIES, NONE, TIME, experiment
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding, equivalent, median_within
from workbench.studies.statistics.median import sign_p
from workbench.studies.statistics.paired import shares
from workbench.studies.values import by_seed

BEYOND = margin("H6.2 quarter")
ALPHA = 0.05
FIRST, BOUNDARY = "first_fit", "nearest_boundary"
PLACEMENTS = {"vary": [FIRST, BOUNDARY], "zip": "placement"}
COMPUTE = (50_000, 5_000, 500)
"""The axis: the median of the cycles that a group computes in a phase, from what the families say on down.

Look-ups, walkers and links together are then 2 to 12, 18 to 53 and 28 to 64 % of a group's time, by the family: seen at
two seeds that judge nothing.
"""


def _runs(evidence: Evidence, family: str, cycles: int) -> RunSet:
    locate = {"vary": [NONE, DIRECTORY]}
    workload = {"regime": family, "cycles": {"log_normal": {"median": cycles, "sigma": 0.5}}}
    config = experiment(workload, placement=PLACEMENTS, shared_placement=PLACEMENTS, locate=locate)
    return evidence.runs(f"node_additive_{family}_{cycles}", config)


def _interaction(evidence: Evidence, family: str, cycles: int) -> Finding:
    """Return the case that what both gain beyond the sum is small beside the smaller of the gains alone, seed by seed.

    Where that gain is not established there is nothing to compare with, and the case is not tested.
    """
    runs = _runs(evidence, family, cycles)
    values = _by_levels(runs)
    placement, directory = values[0, 0] - values[1, 0], values[0, 0] - values[0, 1]
    beyond = values[0, 0] - values[1, 1] - placement - directory
    smaller = np.minimum(abs(placement), abs(directory))
    statement = f"both gain the sum give or take {BEYOND:g} of the smaller gain"
    about = f"{family}, {cycles:,} cycles a phase"
    missing = [name for name, gain in (("placement", placement), ("directory", directory)) if not _established(gain)]
    ratio = np.empty(0) if missing else shares(beyond, smaller)
    case = equivalent(about, statement, median_within(ratio, (-BEYOND, BEYOND)))
    if missing:
        case = case._replace(note=f"not judged: no gain or loss of {' and '.join(missing)} alone is established here")
    case = case._replace(missing=len(runs.seeds) - len(beyond))
    return of(runs, case, f"{TIME}, gain of both less the gains of each", "share of the smaller gain")


def _by_levels(runs: RunSet) -> Mapping[tuple[int, int], np.ndarray]:
    """Return the makespans at the seeds that all four have, by whether placement and directory are the patents'."""
    of_levels = {
        (a, b): by_seed(runs, point(runs, placement=placement, locate=locate), TIME)
        for a, placement in enumerate((FIRST, BOUNDARY))
        for b, locate in enumerate((NONE, DIRECTORY))
    }
    seeds = [seed for seed in runs.seeds if not any(np.isnan(values[seed]) for values in of_levels.values())]
    return {levels: np.array([one[seed] for seed in seeds], float) for levels, one in of_levels.items()}


def _established(gains: np.ndarray) -> bool:
    """Return whether a median gain, or loss, is told from nothing by the exact sign test, with ties counted."""
    return sign_p(int((gains > 0).sum()), int((gains < 0).sum()), len(gains)) < ALPHA


def _alone(evidence: Evidence) -> Iterator[Finding]:
    for family in FAMILIES:
        for cycles in COMPUTE:
            runs, about = _runs(evidence, family, cycles), f"{family}, {cycles:,} cycles a phase"
            neither = point(runs, placement=FIRST, locate=NONE)
            yield better(runs, neither, point(runs, placement=BOUNDARY, locate=NONE), TIME, f"{about}, placement alone")
            yield better(
                runs, neither, point(runs, placement=FIRST, locate=DIRECTORY), TIME, f"{about}, directory alone"
            )


ADDITIVE = [
    Claim(
        "H6.2",
        "placement nearest to a boundary and the sharing directory gain together what they gain alone",
        "spec 6",
        lambda e: [_interaction(e, family, cycles) for family in FAMILIES for cycles in COMPUTE],
        costs=lambda e: [*_alone(e)],
        design="five families over compute per touch, where both gains are established",
        slow=True,
        mark="-quarter-median",
    )
]
