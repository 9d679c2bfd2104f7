"""H4.1 to H4.3: fewer accesses to the shared TLB, lower latency, more hits near the core (spec 4, section 6)."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import ALL, better, differs_by
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.registered import margin
from workbench.studies.claims.translation.experiment import factorial
from workbench.studies.statistics import Finding

LOST = margin("H4.3 local")
"""What the share of local hits may lose and still counts as not lower."""


def _gains(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    for about, runs, without, having in factorial(evidence):
        for measure in measures:
            yield better(runs, without, having, measure, about)


def _near_hits(evidence: Evidence) -> Iterator[Finding]:
    yield from _gains(evidence, "near_hit_rate")
    statement = f"the share of local hits falls by less than {LOST:g}"
    for about, runs, without, having in factorial(evidence):
        yield differs_by(runs, without, having, "private_hit_rate", (-LOST, ALL), statement, about)


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
