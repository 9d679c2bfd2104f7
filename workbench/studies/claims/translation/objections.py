"""H4.7 to H4.9: without sharing it gains nothing, the network can take the gain away, and so can old records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, differs_by, gain_falls
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.registered import margin
from workbench.studies.claims.translation.experiment import BASES, DIRECTORY, MACHINE, NONE, PRIVATE, experiment
from workbench.studies.statistics import Finding, some

LOOK_UP, MARGIN = 1.0, margin("H4.7 nothing")
"""Cycles of a look-up in the directory, what a miss may lose where nothing is shared; and what counts as nothing."""
UNQUEUED = {"preset": MACHINE, "walkers": 32}
"""A walker for every warp: what a miss takes longer is then its own look-up, not the wait for others' walks."""
PRIVATE_PAGES: dict[str, Any] = {
    PRIVATE: {"regime": PRIVATE},
    "zipf_mixture of private pages": {"synthetic": "zipf_mixture", "sharing": 0.0},
}
BUSY = "pilot_half_shared"
GAPS = (16, 32, 64, 128, 256)
"""Mean cycles between two accesses of a core: the smaller, the more messages there are."""
SLOW_LINKS = {"preset": MACHINE, "link_cycles": 4, "private_ports": 1}
DELAYS = (1, 10, 100, 1000, 10_000)


def _nothing_shared(evidence: Evidence) -> Iterator[Finding]:
    statement = f"a miss takes 0 to {LOOK_UP:g} cycles longer, give or take {MARGIN:g}"
    band = (-MARGIN, LOOK_UP + MARGIN)
    for about, workload in PRIVATE_PAGES.items():
        config = experiment(workload, UNQUEUED, eviction={"vary": list(BASES)}, locate={"vary": [NONE, DIRECTORY]})
        runs = evidence.runs(f"translation_nothing_shared_{about.split()[0]}", config)
        for base in BASES:
            without, having = (point(runs, eviction=base, locate=locate) for locate in (NONE, DIRECTORY))
            case = f"{about}, {base}"
            yield differs_by(runs, without, having, "miss_latency_mean_cycles", band, statement, case)


def _loads(evidence: Evidence) -> tuple[RunSet, dict[int, tuple[PlannedPoint, PlannedPoint]]]:
    workload = {"regime": BUSY, "gap": {"vary": list(GAPS)}}
    config = experiment(workload, SLOW_LINKS, eviction="lru", locate={"vary": [NONE, DIRECTORY]})
    runs = evidence.runs("translation_load", config)
    return runs, {gap: (point(runs, gap=gap, locate=NONE), point(runs, gap=gap, locate=DIRECTORY)) for gap in GAPS}


def _reverses(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of a reverse: at some load the network makes the directory the slower way."""
    runs, both = _loads(evidence)
    for gap, (without, having) in both.items():
        yield better(runs, having, without, "latency_mean_cycles", f"an access in {gap} cycles, no directory is faster")


def _queueing(evidence: Evidence) -> Iterator[Finding]:
    runs, both = _loads(evidence)
    for gap, (without, having) in both.items():
        for measure in ("latency_mean_cycles", "private_latency_mean_cycles", "noc_messages_per_kilo"):
            yield better(runs, without, having, measure, f"an access in {gap} cycles")


def _delayed(evidence: Evidence) -> Iterator[Finding]:
    message = {"directory": {"update": {"message": {"delay": {"vary": list(DELAYS)}}}}}
    for regime in ("pilot_zipf", "pilot_half_shared"):
        config = experiment(regime, eviction="lru", locate={"vary": [NONE, message]})
        runs = evidence.runs(f"translation_delay_{regime}", config)
        without = point(runs, locate=NONE)
        both = {delay: (without, point(runs, delay=delay)) for delay in DELAYS}
        for measure in ("shared_per_kilo", "latency_mean_cycles"):
            yield gain_falls(runs, both, measure, f"{regime}, delay of news")


OBJECTIONS = [
    Claim(
        "H4.7", "where nothing is shared a miss loses the look-up at most", "spec 4", lambda e: [*_nothing_shared(e)]
    ),
    Claim(
        "H4.8",
        "there is a load of the network at which the directory makes accesses slower",
        "spec 4",
        lambda e: [*_reverses(e)],
        costs=lambda e: [*_queueing(e)],
        joined=some,
    ),
    Claim("H4.9", "the older the records, the smaller the benefit", "spec 4", lambda e: [*_delayed(e)]),
]
