"""H4.5: the fill threshold helps (spec 4, R14-R20): copies pushed to peers that share enough entries."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import ALL, better, of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.claims.translation.experiment import DIRECTORY, SHARED, experiment
from workbench.studies.statistics import Finding, equivalent, median_within

THRESHOLDS = (2, 3, 4, 5)
COSTS = ("shared_per_kilo", "noc_messages_per_kilo", "pushes_per_kilo")
MOSTLY_USED = (-ALL, 0.5)
"""The share of pushed entries that leave unused, where most are used."""
ALWAYS, EMPTY = "demand_always", "gate_any"


def _runs(evidence: Evidence, regime: str) -> RunSet:
    pushed = {"push_pair": {"fill_threshold": {"vary": list(THRESHOLDS)}}}
    config = experiment(regime, locate=DIRECTORY, eviction="lru", fill={"vary": [ALWAYS, pushed, EMPTY]})
    return evidence.runs(f"translation_filling_{regime}", config)


def _gains(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    for regime in SHARED:
        runs = _runs(evidence, regime)
        for threshold in THRESHOLDS:
            first, other = point(runs, fill=ALWAYS), point(runs, fill_threshold=threshold)
            for measure in measures:
                yield better(runs, first, other, measure, f"{regime}, threshold {threshold}")


def _pollution(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of pollution: without pushes there is no such share, so it is not compared with the
    baseline's."""
    for regime in SHARED:
        runs = _runs(evidence, regime)
        for threshold in THRESHOLDS:
            values = finite(runs, point(runs, fill_threshold=threshold), "push_pollution")
            result = median_within([*values.values()], MOSTLY_USED)
            about = f"{regime}, threshold {threshold}, push_pollution"
            finding = equivalent(about, "of the pushed entries fewer than half leave unused", result)
            yield of(runs, finding, "push_pollution")


def _literal(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the rule as it is written: nothing is ever filled (spec 4, E1)."""
    for regime in SHARED:
        runs = _runs(evidence, regime)
        yield better(runs, point(runs, fill=ALWAYS), point(runs, fill=EMPTY), "private_hit_rate", f"{regime}, literal")


FILLING = [
    Claim(
        "H4.5",
        "the fill threshold lowers the latency and raises local hits",
        "implied by ¶80-82",
        lambda e: list(_gains(e, "latency_mean_cycles", "private_hit_rate")),
        costs=lambda e: [*_gains(e, *COSTS), *_pollution(e), *_literal(e)],
    )
]
