"""H2.1, H2.2, H2.9: atomics, tries in vain and traffic, counted and compared."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import ALL, better, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.malloc.experiment import BOTH, WARP, counts, every_seed, loads
from workbench.studies.statistics import Finding, fact

THREADS = [1, 2, 8, 60, 64, 1000, 1024, 16384, 65536]


def _atomics(evidence: Evidence) -> Iterator[Finding]:
    runs = counts(evidence, THREADS)
    for threads in THREADS:
        alone, together = (every_seed(runs, "heap_atomics", threads=threads, serve=name) for name in BOTH)
        warps = -(-threads // WARP)
        exact = (alone, together) == ({threads}, {warps})
        share = warps / threads
        note = f"{sorted(together)} atomics against {sorted(alone)}: 1/{1 / share:g} of them"
        yield fact(f"n = {threads}", "ceil(n / 32) atomics instead of n", exact, estimate=share, note=note)


def _conflicts(evidence: Evidence) -> Iterator[Finding]:
    runs, pairs = loads(evidence)
    for load, (alone, together) in pairs.items():
        statement = f"tries in vain a thread are at most 1/{WARP} of those without"
        yield ratio(runs, alone, together, "lock_failures_per_thread", (-ALL, 1 / WARP), statement, load)


def _traffic(evidence: Evidence) -> Iterator[Finding]:
    runs, pairs = loads(evidence)
    for load, (alone, together) in pairs.items():
        yield better(runs, alone, together, "metadata_transactions_per_thread", load)


CONTENTION = [
    Claim("H2.1", "far fewer atomic operations, such as 1/32", "¶11 and ¶79", lambda e: list(_atomics(e))),
    Claim("H2.2", "fewer conflicts for the lock", "¶11 and ¶41", lambda e: list(_conflicts(e))),
    Claim("H2.9", "less pressure on the memory bus and the caches", "¶28", lambda e: list(_traffic(e))),
]
