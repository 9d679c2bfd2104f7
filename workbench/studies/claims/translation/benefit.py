"""H4.1 to H4.3: fewer accesses to the shared TLB, lower latency, more hits near the core (spec 4, section 6)."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import ALL, better, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.translation.experiment import factorial
from workbench.studies.statistics import Finding

KEPT = 0.99
"""What must be left of the local hits of the baseline, at least; stated before anything was run."""


def _gains(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    for about, runs, without, having in factorial(evidence):
        for measure in measures:
            yield better(runs, without, having, measure, about)


def _near_hits(evidence: Evidence) -> Iterator[Finding]:
    yield from _gains(evidence, "near_hit_rate")
    for about, runs, without, having in factorial(evidence):
        statement = f"local hits with the directory over those without are above {KEPT:g}"
        yield ratio(runs, without, having, "private_hit_rate", (KEPT, ALL), statement, about)


BENEFIT = [
    Claim(
        "H4.1",
        "fewer accesses to the shared TLB where pages are shared",
        "¶34, ¶64 and ¶90",
        lambda e: list(_gains(e, "shared_per_kilo")),
        costs=lambda e: list(_gains(e, "noc_messages_per_kilo", "walks_per_kilo")),
    ),
    Claim(
        "H4.2",
        "lower mean and 99th percentile of the latency where pages are shared",
        "¶34 and ¶64",
        lambda e: list(_gains(e, "latency_mean_cycles", "latency_p99_cycles")),
        costs=lambda e: list(_gains(e, "private_latency_mean_cycles")),
    ),
    Claim("H4.3", "more hits in private TLBs, and no fewer local ones", "¶90", lambda e: list(_near_hits(e))),
]
