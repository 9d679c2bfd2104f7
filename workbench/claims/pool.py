"""H5.1 to H5.11: what the source document asserts of its memory pool, and two objections (spec 5, section 6).

- H5.1, H5.2, H5.9: a job that would fail runs by borrowing, cards are used more evenly, programs stay as they are.
- H5.3, H5.4 and H5.8: the cache saves driver calls, best fit with splitting uses it well, the limit bounds it.
- H5.5 to H5.7: the fastest link, thresholds and weights, and the history of lending (spec 5, R18-R21).
- H5.10 and H5.11: borrowing costs the lender, and the service is a bottleneck.
- H5.9b and H5.11b: the storage service as a process, with applications and clients that are processes too.

They share a DGX-1V, with times of the driver that are assumptions of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.claims.cases import ALL, all_better, better, falling, finite, margin, of, point, ratio
from workbench.claims.claim import Claim, Evidence
from workbench.experiments.results import Results
from workbench.pool_service.latency import ServiceLoad, outcomes
from workbench.statistics import Finding, equivalent, fact, median_within, ratio_within

MACHINE = "dgx_1v"
DRIVER: dict[str, Any] = {"driver_alloc_ns": 20_000, "driver_free_ns": 20_000, "driver_ns_per_mib": 500}
"""Tens of microseconds a call and more for a large one: an assumption, not measured here."""
FULL: dict[str, Any] = {"regime": "one_card_full"}
GROWING: dict[str, Any] = {"regime": "one_card_full_lenders_grow"}
SKEWED: dict[str, Any] = {"regime": "mixed_jobs_skewed"}
BUSY: dict[str, Any] = {"regime": "mixed_jobs_busy"}
FITS: dict[str, Any] = {"regime": "data_parallel_fits"}


def experiment(workload: Any, options: Mapping[str, Any] | None = None, **policies: Any) -> dict[str, Any]:
    """Make a sweep on the board; seeds are added where it is run."""
    config = {"engine": "pool", "machine": MACHINE, "workload": workload, "policy": policies}
    return {**config, "options": {**DRIVER, **(options or {})}}


FOOTPRINTS = (1.0, 2.0, 3.0)
"""What GPU 0 asks for over its memory (spec 5, H5.1)."""
BORROWING_ALONE, BORROWING_LENDING = "local_only", "max_bandwidth"
EVERY = (
    BORROWING_ALONE,
    BORROWING_LENDING,
    "bandwidth_then_most_free",
    "weighted_cards",
    "round_robin",
    "random_card",
    "nearest",
)


def _full(evidence: Evidence) -> Results:
    workload = {**FULL, "footprint": {"vary": list(FOOTPRINTS)}}
    return evidence.runs("pool_full", experiment(workload, target={"vary": [BORROWING_ALONE, BORROWING_LENDING]}))


def _completes(evidence: Evidence) -> Iterator[Finding]:
    runs = _full(evidence)
    for footprint in FOOTPRINTS:
        lending = point(runs, footprint=footprint, target=BORROWING_LENDING)
        rates = finite(runs, lending, "completed_rate")
        whole = all(rate == 1.0 for rate in rates.values())
        bytes_of = finite(runs, lending, "granted_bytes_rate")
        note = f"the least share granted is {min(rates.values()):.3f} of the allocations, "
        note += f"{min(bytes_of.values()):.3f} of their bytes"
        about = f"footprint {footprint:g}"
        finding = fact(f"{about}, everything is granted", "on every seed", whole, n=len(rates), note=note)
        yield of(runs, finding._replace(estimate=min(rates.values())), "completed_rate")


def _completes_more(evidence: Evidence) -> Iterator[Finding]:
    runs = _full(evidence)
    for footprint in (one for one in FOOTPRINTS if one > 1):
        alone, lending = (
            point(runs, footprint=footprint, target=name) for name in (BORROWING_ALONE, BORROWING_LENDING)
        )
        yield better(runs, alone, lending, "completed_rate", f"footprint {footprint:g}")


def _evener(evidence: Evidence) -> Iterator[Finding]:
    for workload in (SKEWED, FULL):
        regime = workload["regime"]
        runs = evidence.runs(f"pool_even_{regime}", experiment(workload, target={"vary": list(EVERY)}))
        for rival in (BORROWING_ALONE, "round_robin"):
            for measure in ("utilisation_gini", "utilisation_std"):
                first, other = point(runs, target=rival), point(runs, target=BORROWING_LENDING)
                yield better(runs, first, other, measure, f"{regime}, against {rival}")


def _unchanged(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the same requests, unmodified, run to their end under every policy."""
    runs = evidence.runs("pool_every", experiment(BUSY, target={"vary": list(EVERY)}))
    for name in EVERY:
        ended = finite(runs, point(runs, target=name), "completed_rate")
        note = f"{len(ended)} runs ended; granted on average {sum(ended.values()) / max(len(ended), 1):.3f}"
        whole = len(ended) == len(runs.seeds)
        finding = fact(name, "every run of the same requests ends", whole, n=max(len(ended), 1), note=note)
        yield of(runs, finding._replace(estimate=len(ended) / len(runs.seeds)), "runs that end", "share of seeds")


REGIMES = (BUSY, FITS)
CACHING_RIVALS: Mapping[str, tuple[Any, str]] = {
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
        yield from all_better(runs, without, having, ("driver_calls_per_request", "latency_mean_ns"), regime)


def _fits(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    pairs = [("split_and_coalesce", "best_fit"), *CACHING_RIVALS.values()]
    varied = {
        slot: {"vary": [pair[place] for pair in pairs], "zip": "pair"}
        for place, slot in enumerate(("cache", "cache_fit"))
    }
    for workload in REGIMES:
        regime = workload["regime"]
        runs = evidence.runs(f"pool_fit_{regime}", experiment(workload, **varied))
        best, *others = runs.points
        for name, other in zip(CACHING_RIVALS, others, strict=True):
            yield from all_better(runs, other, best, measures, f"{regime}, against {name}")


def _bounded(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the bound: only whole driver allocations go back, so what is left of a split one stays above
    the limit (spec 5, E5)."""
    idle = {"least_recently_used": {"limit_bytes_a_card": {"vary": LIMITS}}}
    for kind, cache in CACHES.items():
        config = experiment(BUSY, cache=cache, idle_release={"vary": ["keep_all", idle]})
        runs = evidence.runs(f"pool_idle_{kind.split()[0]}", config)
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

    Counted by requests: a large one that fits now leaves no space for many small ones, so more may fail than before.
    """
    idle = {"least_recently_used": {"limit_bytes_a_card": {"vary": LIMITS[:1]}}}
    config = experiment({**BUSY, **CROWDED}, {"cpus_lend": False}, idle_release={"vary": ["keep_all", idle]})
    runs = evidence.runs("pool_idle_crowded", config)
    kept, limited = runs.points
    measures = ("completed_rate", "cached_peak_bytes", "latency_mean_ns")
    yield from all_better(runs, kept, limited, measures, f"crowded, limit {LIMITS[0] >> 20} MiB")


TARGET_RIVALS = ("most_free", "random_card", "round_robin")
FAST = "max_bandwidth"
THRESHOLDS = (12.0, 24.0, 48.0, 96.0, 150.0)
"""GB/s: from the slowest link of table 300 over the document's own, 48, to more than any has (spec 5, H5.6)."""
WEIGHTS = ([1, 1, 0], [1, 1, 1])
PACES: Mapping[str, dict[str, Any]] = {"at leisure": {"gap": {"log_uniform": [10**6, 10**8]}}, "in a burst": {}}
"""How fast GPU 0 asks: a block in tens of milliseconds, or of microseconds, which no link keeps up with."""


def _rivals(evidence: Evidence, pace: str) -> Results:
    config = experiment({**FULL, **PACES[pace]}, target={"vary": [FAST, *TARGET_RIVALS]})
    return evidence.runs(f"pool_targets_{pace.split()[-1]}", config)


def _fast(evidence: Evidence) -> Iterator[Finding]:
    for pace in PACES:
        runs = _rivals(evidence, pace)
        for rival in TARGET_RIVALS:
            first, other = point(runs, target=rival), point(runs, target=FAST)
            yield better(runs, first, other, "remote_access_mean_ns", f"{pace}, against {rival}")


def _balance(evidence: Evidence) -> Iterator[Finding]:
    runs = _rivals(evidence, "at leisure")
    for rival in TARGET_RIVALS:
        yield better(runs, point(runs, target=rival), point(runs, target=FAST), "utilisation_std", f"against {rival}")


def _thresholds(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the threshold: of the least and each other, either is the better one in one objective."""
    chosen = {"bandwidth_then_most_free": {"threshold_gbps": {"vary": list(THRESHOLDS)}}}
    runs = evidence.runs("pool_thresholds", experiment(FULL, target=chosen))
    least, *others = THRESHOLDS
    low = point(runs, threshold_gbps=least)
    for other in others:
        high = point(runs, threshold_gbps=other)
        yield better(runs, low, high, "remote_access_mean_ns", f"threshold {other:g} against {least:g}")
        yield better(runs, high, low, "utilisation_std", f"threshold {least:g} against {other:g}")


def _weights(evidence: Evidence) -> Iterator[Finding]:
    ends = {"weighted_cards": {"weights": {"vary": [[1, 0, 0], [0, 1, 0]]}}}
    runs = evidence.runs("pool_weight_ends", experiment(FULL, target=ends))
    free, fast = runs.points
    yield better(runs, free, fast, "remote_access_mean_ns", "weight on bandwidth against weight on free memory")
    yield better(runs, fast, free, "utilisation_std", "weight on free memory against weight on bandwidth")


def _history(evidence: Evidence, measure: str) -> Finding:
    chosen = {"weighted_cards": {"weights": {"vary": [list(w) for w in WEIGHTS]}}}
    runs = evidence.runs("pool_history", experiment(FULL, target=chosen))
    without, having = runs.points
    return better(runs, without, having, measure, "with w3")


SERVICE = {**dict.fromkeys(DRIVER, 0), "ipc_ns": 5_000, "service_ns": 2_000}
"""From a client to the service and back, and its work: assumptions; a driver that takes no time, to see it alone."""
OBJECTION_GAPS = {"10 us": [8_000, 12_000], "100 us": [80_000, 120_000]}
"""Nanoseconds between the requests of one client."""
ONE = {"cards": [{"id": "cpu0", "kind": "cpu"}, {"id": "gpu0"}], "links": [{"between": "cpu0 gpu0", "gbps": 16.0}]}
"""A board of one GPU, whose application is the only client."""
OBJECTION_GROWS = margin("H5.11 grows")
"""Waiting counts as a bottleneck when eight clients wait so many times as long as one."""


def _lender(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("pool_lender", experiment(GROWING, target={"vary": [BORROWING_ALONE, BORROWING_LENDING]}))
    alone, lending = (point(runs, target=name) for name in (BORROWING_ALONE, BORROWING_LENDING))
    yield better(runs, lending, alone, "lender_failure_rate", "without borrowing")
    slower = [value - 1 for value in finite(runs, lending, "remote_slowdown").values()]
    longer = "borrowed data are longer under way than they would be alone"
    finding = equivalent("borrowing, remote_slowdown - 1", longer, median_within(slower, (0.0, ALL)))
    yield of(runs, finding, "remote_slowdown - 1", "share of the time alone")


def _objection_bottleneck(evidence: Evidence) -> Iterator[Finding]:
    says = f"eight clients wait more than {OBJECTION_GROWS:g} times as long as one"
    for name, gap in OBJECTION_GAPS.items():
        workload = {"synthetic": "data_parallel", "iterations": 3, "gap": {"uniform": gap}}
        boards = {"vary": [ONE, MACHINE]}
        runs = evidence.runs(f"pool_clients_{name[:-3]}", {**experiment(workload, SERVICE), "machine": boards})
        one, eight = runs.points
        yield ratio(runs, one, eight, "latency_mean_ns", (OBJECTION_GROWS, ALL), says, f"a request in {name} each")


SERVICE_FITS, BORROWS = 0.75, 1.5
"""What the application holds at once, over the memory of its card."""
CLIENTS = (1, 2, 4, 8, 16)
SERVICE_GAPS = {"one request after the other": 0, "a request in 1 ms": 1_000_000}
"""Nanoseconds from a reply to a client's next request."""
BLOCKS, ALLOCATIONS = 30, 200
SERVICE_GROWS = margin("H5.11b grows")


def _transparent(evidence: Evidence) -> Iterator[Finding]:
    result = evidence.measured("service_application", _every_policy)
    for target in EVERY:
        for footprint in (SERVICE_FITS, BORROWS)[: 1 if target == BORROWING_ALONE else 2]:
            one = result[target][str(footprint)]
            note = "{intact} of {regions} regions read back as they were written, {borrowed} on other cards".format(
                **one
            )
            whole = one["ended"] and one["intact"] == one["regions"] > 0
            share = one["intact"] / max(one["regions"], 1)
            about = f"{target}, footprint {footprint:g}"
            case = fact(about, "ends, and reads back what it wrote", bool(whole), estimate=share, note=note)
            yield case._replace(measure="regions read back", unit="share")


def _every_policy() -> Mapping[str, Any]:
    """Return the design of every policy; a footprint larger than the card is for those that lend."""
    request = {target: (SERVICE_FITS,) if target == BORROWING_ALONE else (SERVICE_FITS, BORROWS) for target in EVERY}
    return {
        target: {str(footprint): one._asdict() for footprint, one in outcomes(target, footprints).items()}
        for target, footprints in request.items()
    }


def _service_bottleneck(evidence: Evidence) -> Iterator[Finding]:
    waits = evidence.measured("service_clients", _every_load)
    for gap in SERVICE_GAPS:
        one = np.array(waits[gap]["1"])
        for clients in CLIENTS[1:]:
            about, says = (
                f"{clients} clients, {gap}",
                f"an allocation waits more than {SERVICE_GROWS:g} times as long as of one",
            )
            many = np.array(waits[gap][str(clients)])
            result = ratio_within(many, one, (SERVICE_GROWS, ALL))
            yield equivalent(about, says, result)._replace(measure="mean wait over that of one client")


def _every_load() -> Mapping[str, Any]:
    design = {"clients": CLIENTS, "blocks": BLOCKS, "allocations": ALLOCATIONS}
    result = {name: ServiceLoad(gap_ns=gap, **design).measure() for name, gap in SERVICE_GAPS.items()}  # type: ignore[arg-type]
    return {name: {str(clients): waits for clients, waits in one.items()} for name, one in result.items()}


CLAIMS = [
    Claim(
        "H5.1",
        "a job that would fail on a full card is granted everything by borrowing",
        "¶60",
        _completes,
        kind="by_construction",
        design="footprints of 1, 2 and 3 cards",
    ),
    Claim(
        "H5.1b",
        "more of a job's requests are granted with borrowing than without",
        "¶60",
        _completes_more,
        kind="by_construction",
        design="footprints of 2 and 3 cards, of which one card cannot grant all: how much more is granted",
    ),
    Claim("H5.2", "cards are used more evenly than without borrowing, and than in turn", "¶18 and ¶60", _evener),
    Claim("H5.3", "fewer driver calls than without a cache, and shorter waiting", "¶26-27", _driver),
    Claim(
        "H5.4",
        "best fit with splitting uses the cache well",
        "¶29",
        lambda e: _fits(e, "cache_hit_rate", "fragmentation"),
        costs=lambda e: _fits(e, "driver_calls_per_request", "reserved_peak_bytes"),
    ),
    Claim("H5.5", "the fastest link keeps borrowed data fast", "¶33 and ¶60", _fast, costs=_balance),
    Claim(
        "H5.6",
        "thresholds and weights trade speed against balance",
        "¶36-37",
        lambda e: [*_thresholds(e), *_weights(e)],
        design="thresholds of 24 to 150 GB/s against 12, and the ends of the weights, 2 objectives",
    ),
    Claim(
        "H5.7",
        "the weight of history spreads borrowing",
        "¶38",
        lambda e: [_history(e, "lender_entropy")],
        costs=lambda e: [_history(e, measure) for measure in ("borrowed_bandwidth_gbps", "remote_access_mean_ns")],
        kind="by_construction",
        design="the weight falls with every block that a card has lent: by how much lending spreads",
    ),
    Claim("H5.8", "the idle limit bounds waste", "¶46", _bounded, costs=_others),
    Claim(
        "H5.9",
        "the same requests run under every policy",
        "¶60",
        _unchanged,
        kind="by_construction",
        design="7 policies",
    ),
    Claim(
        "H5.9b",
        "an application of the real service ends and reads back what it wrote, unmodified, under every policy",
        "¶60",
        _transparent,
        kind="counted",
        design="7 policies x an application that fits its card and one half as large again",
        on_real_service=True,
    ),
    Claim(
        "H5.10",
        "borrowing makes lenders fail later, and links slower",
        "spec 5",
        _lender,
        kind="by_construction",
        design="what is lent is not there for its lender, and what shares a link waits: how much, on a DGX-1V",
    ),
    Claim(
        "H5.11",
        "the service is a bottleneck for many clients",
        "spec 5",
        _objection_bottleneck,
        kind="by_construction",
        design="one queue serves all: by how much eight clients wait longer, at two paces; H5.11b is the real one",
    ),
    Claim(
        "H5.11b",
        "the real service is a bottleneck: an allocation waits longer the more clients there are",
        "spec 5",
        _service_bottleneck,
        kind="measured",
        design="2, 4, 8 and 16 clients against 1, without a pause and with one of 1 ms; 30 blocks in drawn order",
        on_real_service=True,
    ),
]
