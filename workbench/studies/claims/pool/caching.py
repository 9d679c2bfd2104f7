"""H5.3, H5.4 and H5.8: the cache saves driver calls, best fit with splitting uses it well, the limit bounds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, falling, of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.claims.pool.experiment import BUSY, FITS, experiment
from workbench.studies.statistics import Finding, fact

REGIMES = (BUSY, FITS)
RIVALS: Mapping[str, tuple[Any, str]] = {
    "first fit": ("split_and_coalesce", "first_fit"),
    "no split": ({"split_and_coalesce": {"split": False}}, "best_fit"),
    "size classes": ("size_classes", "best_fit"),
}
"""Caches and the choice of a block in them, against which best fit with splitting is held."""
LIMITS = [1 << power for power in (26, 28, 30, 32)]
"""64 MiB to 4 GiB of cached memory a card."""
CACHES: Mapping[str, Any] = {
    "whole blocks": {"split_and_coalesce": {"split": False}},
    "split blocks": "split_and_coalesce",
}
CROWDED = {"arrival": {"poisson_load": 1.5}}
"""More than all GPUs have: somebody is refused, if CPUs lend nothing."""


def _driver(evidence: Evidence) -> Iterator[Finding]:
    for workload in REGIMES:
        regime, caches = workload["regime"], {"vary": ["no_cache", "split_and_coalesce"]}
        runs = evidence.runs(f"pool_cache_{regime}", experiment(workload, cache=caches))
        without, having = point(runs, cache="no_cache"), point(runs, cache="split_and_coalesce")
        for measure in ("driver_calls_per_request", "latency_mean_ns"):
            yield better(runs, without, having, measure, regime)


def _fits(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    pairs = [("split_and_coalesce", "best_fit"), *RIVALS.values()]
    varied = {
        slot: {"vary": [pair[place] for pair in pairs], "zip": "pair"}
        for place, slot in enumerate(("cache", "cache_fit"))
    }
    for workload in REGIMES:
        regime = workload["regime"]
        runs = evidence.runs(f"pool_fit_{regime}", experiment(workload, **varied))
        best, *others = runs.points
        for name, other in zip(RIVALS, others, strict=True):
            for measure in measures:
                yield better(runs, other, best, measure, f"{regime}, against {name}")


def _limits(evidence: Evidence, kind: str) -> RunSet:
    idle = {"least_recently_used": {"limit_bytes_a_card": {"vary": LIMITS}}}
    config = experiment(BUSY, cache=CACHES[kind], idle_release={"vary": ["keep_all", idle]})
    return evidence.runs(f"pool_idle_{kind.split()[0]}", config)


def _bounded(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the bound: only whole driver allocations go back, so what is left of a split one stays above
    the limit (spec 5, E5)."""
    for kind in CACHES:
        runs = _limits(evidence, kind)
        for limit in LIMITS:
            most = max(finite(runs, point(runs, limit_bytes_a_card=limit), "cached_peak_card_bytes").values())
            says = f"no card caches more than {limit >> 20} MiB between two requests"
            finding = fact(
                f"{kind}, {limit >> 20} MiB", says, most <= limit, estimate=most, note=f"{most / limit:.2f} of it"
            )
            yield of(runs, finding, "cached_peak_card_bytes")
    points = {limit: point(runs, limit_bytes_a_card=limit) for limit in LIMITS}
    yield falling(runs, points, "driver_calls_per_request", "a higher limit")


def _others(evidence: Evidence) -> Iterator[Finding]:
    """Do fewer requests fail where cards return what they do not use, and how much less is cached?

    Counted by requests: a large one that fits now leaves no room for many small ones, so more may fail than before.
    """
    idle = {"least_recently_used": {"limit_bytes_a_card": {"vary": LIMITS[:1]}}}
    config = experiment({**BUSY, **CROWDED}, {"cpus_lend": False}, idle_release={"vary": ["keep_all", idle]})
    runs = evidence.runs("pool_idle_crowded", config)
    kept, limited = runs.points
    for measure in ("completed_rate", "cached_peak_bytes", "latency_mean_ns"):
        yield better(runs, kept, limited, measure, f"crowded, limit {LIMITS[0] >> 20} MiB")


CACHING = [
    Claim("H5.3", "fewer driver calls than without a cache, and shorter waiting", "¶26-27", lambda e: [*_driver(e)]),
    Claim(
        "H5.4",
        "best fit with splitting uses the cache well",
        "¶29",
        lambda e: [*_fits(e, "cache_hit_rate", "fragmentation")],
        costs=lambda e: [*_fits(e, "driver_calls_per_request", "reserved_peak_bytes")],
    ),
    Claim("H5.8", "the idle limit bounds waste", "¶46", lambda e: [*_bounded(e)], costs=lambda e: [*_others(e)]),
]
