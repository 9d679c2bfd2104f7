"""H5.3, H5.4 and H5.8: the cache saves driver calls, best fit with splitting uses it well, the limit bounds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, falling
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.claims.pool.experiment import BUSY, experiment
from workbench.studies.statistics import Finding, fact

REGIMES = (BUSY, "data_parallel_fits")
RIVALS: Mapping[str, Mapping[str, Any]] = {
    "first fit": {"cache": "split_and_coalesce", "cache_fit": "first_fit"},
    "no split": {"cache": {"split_and_coalesce": {"split": False}}, "cache_fit": "best_fit"},
    "size classes": {"cache": "size_classes", "cache_fit": "best_fit"},
}
LIMITS = [1 << power for power in (26, 28, 30, 32)]
"""64 MiB to 4 GiB of cached memory a card."""


def _driver(evidence: Evidence) -> Iterator[Finding]:
    for regime in REGIMES:
        caches = {"vary": ["no_cache", "split_and_coalesce"]}
        runs = evidence.runs(f"pool_cache_{regime}", experiment(regime, cache=caches))
        without, having = point(runs, cache="no_cache"), point(runs, cache="split_and_coalesce")
        for measure in ("driver_calls_per_request", "latency_mean_ns"):
            yield better(runs, without, having, measure, regime)


def _fits(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    for regime in REGIMES:
        ours = evidence.runs(f"pool_fit_{regime}", experiment(regime, **_varied()))
        best = point(ours, cache_fit="best_fit", cache="split_and_coalesce")
        for name, rival in RIVALS.items():
            other = next(p for p in ours.points if _is(p, rival))
            for measure in measures:
                yield better(ours, other, best, measure, f"{regime}, against {name}")


def _varied() -> dict[str, Any]:
    """Every pair of a cache and a fit that is compared, in step."""
    pairs = [{"cache": "split_and_coalesce", "cache_fit": "best_fit"}, *RIVALS.values()]
    return {
        "cache": {"vary": [pair["cache"] for pair in pairs], "zip": "pair"},
        "cache_fit": {"vary": [pair["cache_fit"] for pair in pairs], "zip": "pair"},
    }


def _is(p: PlannedPoint, rival: Mapping[str, Any]) -> bool:
    return all(p.coordinates[f"policy.{slot}"] == value for slot, value in rival.items())


def _limits(evidence: Evidence) -> RunSet:
    idle = {"least_recently_used": {"limit_bytes_a_card": {"vary": LIMITS}}}
    return evidence.runs("pool_idle", experiment(BUSY, idle_release={"vary": ["keep_all", idle]}))


def _bounded(evidence: Evidence) -> Iterator[Finding]:
    runs = _limits(evidence)
    kept = point(runs, idle_release="keep_all")
    for limit in LIMITS:
        limited = point(runs, limit_bytes_a_card=limit)
        most = max(finite(runs, limited, "cached_peak_card_bytes").values())
        note = f"at most {most / (1 << 20):.4g} MiB between two requests"
        name = f"limit {limit >> 20} MiB"
        yield fact(f"{name}, cached", "never more between two requests", most <= limit, estimate=most, note=note)
        yield better(runs, kept, limited, "cached_peak_bytes", name)
    points = {limit: point(runs, limit_bytes_a_card=limit) for limit in LIMITS}
    yield falling(runs, points, "driver_calls_per_request", "a higher limit")


def _others(evidence: Evidence) -> Iterator[Finding]:
    runs = _limits(evidence)
    kept = point(runs, idle_release="keep_all")
    for limit in LIMITS:
        yield better(runs, kept, point(runs, limit_bytes_a_card=limit), "completed_rate", f"limit {limit >> 20} MiB")


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
