"""H4.4: entries that many cores hold are protected from eviction (spec 4, R22-R27; E17 doubts it)."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.translation.experiment import BASES, DIRECTORY, SHARED, experiment
from workbench.studies.statistics import Finding

THRESHOLDS = (2, 3, 4)
LOW = "protect_low_degree"


def _runs(evidence: Evidence, regime: str) -> RunSet:
    aware = {"sharing_aware_eviction": {"base": "mru", "share_threshold": {"vary": list(THRESHOLDS)}}}
    config = experiment(regime, locate=DIRECTORY, eviction={"vary": [*BASES, aware, LOW]})
    return evidence.runs(f"translation_eviction_{regime}", config)


def _against(evidence: Evidence, base: str) -> Iterator[tuple[str, RunSet, PlannedPoint, PlannedPoint]]:
    for regime in SHARED:
        runs = _runs(evidence, regime)
        for threshold in THRESHOLDS:
            about = f"{regime}, threshold {threshold}, against {base}"
            yield about, runs, point(runs, eviction=base), point(runs, share_threshold=threshold)


def _better(evidence: Evidence) -> Iterator[Finding]:
    for base in reversed(BASES):
        for about, runs, plain, aware in _against(evidence, base):
            for measure in ("shared_per_kilo", "latency_mean_cycles"):
                yield better(runs, plain, aware, measure, about)


def _rival(evidence: Evidence) -> Iterator[Finding]:
    for regime in SHARED:
        runs = _runs(evidence, regime)
        for base in reversed(BASES):
            plain, rival = point(runs, eviction=base), point(runs, eviction=LOW)
            yield better(runs, plain, rival, "latency_mean_cycles", f"{regime}, protecting low degrees against {base}")


EVICTION = [
    Claim(
        "H4.4",
        "sharing-aware eviction is better than plain MRU and plain LRU",
        "¶90",
        lambda e: list(_better(e)),
        costs=lambda e: list(_rival(e)),
    )
]
