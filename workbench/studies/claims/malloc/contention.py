"""H2.1, H2.2, H2.9: atomics, tries in vain and traffic, counted and compared."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import ALL, of, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite
from workbench.studies.claims.malloc.experiment import BOTH, DESIGN, WARP, Pair, counts, every_seed, gains, loads
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
        finding = fact(f"n = {threads}", "ceil(n / 32) atomics instead of n", exact, estimate=share, note=note)
        yield of(runs, finding, "heap_atomics", "share of those without")


def _conflicts(evidence: Evidence) -> Iterator[Finding]:
    """Yield the tries in vain a thread, at most 1/32 of those without; of one active lane no warp can spare any."""
    measure, most = "lock_failures_per_thread", 1 / WARP
    for pair in loads(evidence):
        if pair.exact:
            yield _counted(pair, measure, most)
            continue
        statement = f"tries in vain a thread are at most 1/{WARP} of those without"
        yield ratio(pair.runs, pair.alone, pair.together, measure, (-ALL, most), statement, pair.name)


def _counted(pair: Pair, measure: str, most: float) -> Finding:
    (alone,), (together,) = (finite(pair.runs, p, measure).values() for p in (pair.alone, pair.together))
    share = together / alone if alone else float(together > 0)
    note = f"{together:.4g} tries in vain a thread against {alone:.4g}"
    finding = fact(
        f"{pair.name}, {measure}", f"at most 1/{WARP} of those without", share <= most, estimate=share, note=note
    )
    return of(pair.runs, finding, f"{measure} over the baseline's", "")


def _traffic(evidence: Evidence) -> Iterator[Finding]:
    for pair in loads(evidence):
        yield gains(pair, "metadata_transactions_per_thread")


CONTENTION = [
    Claim(
        "H2.1",
        "far fewer atomic operations, such as 1/32",
        "¶11 and ¶79",
        lambda e: list(_atomics(e)),
        kind="counted",
        design="1 to 65,536 threads",
    ),
    Claim("H2.2", "fewer conflicts for the lock", "¶11 and ¶41", lambda e: list(_conflicts(e)), design=DESIGN),
    Claim("H2.9", "less pressure on the memory bus and the caches", "¶28", lambda e: list(_traffic(e)), design=DESIGN),
]
