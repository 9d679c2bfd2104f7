"""H4.1 to H4.9: what the source document asserts of its sharing directory, and three objections (spec 4, section 6).

- H4.1 to H4.3: fewer accesses to the shared TLB, lower latency, more hits near the core.
- H4.1b and c, H4.2b and c: the directory against private TLBs that are larger by what its records take (spec 4, V16).
  Each core's directory has a record for every entry of its own and as many again. What they take is counted twice. In
  bits: a record is a page number, a bit a core and a bit for the shared TLB; an entry of a private TLB a page number, a
  frame number and its state. And in area, as a synthesizer makes the circuits of the directory and of the private TLB,
  whose registers are flip-flops. The area includes the look-up of a record, its holders' news and its sharing counter.
- H4.4: entries that many cores hold are protected from eviction (spec 4, R22-R27; E17 doubts it).
- H4.5: the fill threshold helps (spec 4, R14-R20): copies pushed to peers that share enough entries.
- H4.6: better performance of the GPU, which warps that hide latency should make smaller.
- H4.7 to H4.9: without sharing it gains nothing, the network can take the gain away, and so can old records.
- H4.2d: what H4.1 and H4.2 say holds whatever joins the cores, under LRU. Each case names its topology: a network with
  links that queue, or groups of cores that share a middle TLB, as on a K80.

They share the pilot's machine, and one way to fill on both sides. Every requester is filled, whatever the rule of the
document would copy in addition (`demand_always`). So the directory and the way of filling are not confounded. Evictions
are those of LRU and of the document's MRU in turn (spec 4, E16). Cores have four warps, which wait for their
translations: with a walk of 2,400 cycles (spec 4, section 4) cores that go on regardless pile up walks without end, and
a latency would say how long the trace is. Their accesses are a Poisson process: cores in lock-step would find at their
peers what is on its way itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from workbench.claims.cases import (
    ALL,
    all_better,
    area,
    better,
    differs_by,
    finite,
    gain_falls,
    margin,
    of,
    point,
)
from workbench.claims.claim import Claim, Evidence
from workbench.experiments.results import Results
from workbench.machine.presets import preset
from workbench.machine.translation import TranslationMachine
from workbench.policies.translation.eviction.recency import LRU
from workbench.policies.translation.locate import FRAME_BITS, Directory, equal_area_entries
from workbench.policies.translation.peer import FirstBit
from workbench.runs.run import PlannedPoint
from workbench.statistics import Finding, equivalent, fact, median_within, some
from workbench.statistics.comparison import size_text
from workbench.statistics.comparisons import compared

MACHINE = "patent_pilot"
SHARED = ("pilot_zipf", "pilot_cyclic_shared", "pilot_half_shared", "halo_exchange", "producer_and_consumers")
"""Every regime in which cores share pages."""
PRIVATE = "pilot_cyclic_private"
GAP = 100
"""Mean cycles between two accesses of a core, where its warps keep up."""
WARPS = 4
BASES = ("lru", "mru")
NONE, DIRECTORY = "no_directory", "directory"
Pair = tuple[str, Results, PlannedPoint, PlannedPoint]
"""What it is about, the runs, the point without the directory and the one with it."""


def experiment(workload: Any, machine: Any = MACHINE, warps: Any = WARPS, **policies: Any) -> dict[str, Any]:
    """Make a sweep on the pilot's machine, of a regime by name or a workload; seeds are added where it is run."""
    regime = {"regime": workload} if isinstance(workload, str) else dict(workload)
    return {
        "engine": "translation",
        "machine": machine,
        "workload": {"pace": "poisson", "gap": GAP, **regime},
        "policy": {"fill": "demand_always", **policies},
        "options": {"cores_issue": {"warps": {"count": warps}}},
    }


def factorial(evidence: Evidence, regimes: tuple[str, ...] = SHARED) -> Iterator[Pair]:
    """Yield the pairs with and without the directory, under LRU and under MRU, for every regime."""
    for regime in regimes:
        config = experiment(regime, locate={"vary": [NONE, DIRECTORY]}, eviction={"vary": list(BASES)})
        runs = evidence.runs(f"translation_{regime}", config)
        for base in BASES:
            without, having = (point(runs, locate=locate, eviction=base) for locate in (NONE, DIRECTORY))
            yield f"{regime}, {base}", runs, without, having


LOST = margin("H4.3 local")
"""What the share of local hits may lose and still counts as not lower."""


def _benefit_gains(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    for about, runs, without, having in factorial(evidence):
        yield from all_better(runs, without, having, measures, about)


def _near_hits(evidence: Evidence) -> Iterator[Finding]:
    yield from _benefit_gains(evidence, "near_hit_rate")
    statement = f"the share of local hits falls by less than {LOST:g}"
    for about, runs, without, having in factorial(evidence):
        yield differs_by(runs, without, having, "private_hit_rate", (-LOST, ALL), statement, about)


def _break_even(evidence: Evidence) -> Iterator[Finding]:
    """Yield the longest way to a peer, over a shared access, before the directory costs what it saves.

    By the algebra of spec 4, section 4, of the shares that were measured: d = x (s - R - f s), and so
    R / s = 1 - f - d / (x s). Queues, which are in the measured latency, are in no term of it.
    """
    for about, runs, without, having in factorial(evidence):
        directory: Any = having.setup.policies["locate"]
        shared, look_up = having.setup.machine.shared_cycles, directory.look_up_cycles
        measures = ("remote_per_kilo", "private_hit_rate", "stale_rate")
        peers, hits, stale = (finite(runs, having, name) for name in measures)
        seeds = [seed for seed in runs.seeds if seed in peers.keys() & hits.keys() & stale.keys() and peers[seed] > 0]
        if not seeds:
            case = fact(
                f"{about}, break-even", "some way to a peer pays", False, n=0, note="no miss finds a holder named"
            )
            yield of(runs, case, "R over s at which it neither gains nor loses", "")
            continue
        named = np.array([peers[seed] / 1000 / (1 - hits[seed]) for seed in seeds])
        ratios = 1 - np.array([stale[seed] for seed in seeds]) - look_up / (named * shared)
        gained = size_text(compared(runs, without, having, "latency_mean_cycles"))
        note = (
            f"with a shared access of {shared} cycles and a look-up of {look_up}, where {np.median(named):.3g} of the "
            f"misses find a holder named; measured gain in latency: {gained}"
        )
        ratio = float(np.median(ratios))
        case = fact(
            f"{about}, break-even", "some way to a peer pays", ratio > 0, estimate=ratio, n=len(seeds), note=note
        )
        yield of(runs, case, "R over s at which it neither gains nor loses", "")


class Sizes(NamedTuple):
    """A core's records, its entries next to them, and the entries that a budget gives without them."""

    records: int
    entries: int
    more: int


def machine() -> TranslationMachine:
    """Return the machine of the pilot."""
    return cast(TranslationMachine, preset(MACHINE, TranslationMachine).machine())


def in_bits() -> Sizes:
    """Return the sizes at equal bits.

    >>> in_bits()
    Sizes(records=64, entries=32, more=66)
    """
    one = machine()
    records = 2 * one.private_entries
    directory = Directory.read({DIRECTORY: {"entries": records}})
    pages = one.pages.bit_length() - 1
    more = equal_area_entries(directory, one.private_entries, one.private_ways, one.cores, pages)
    return Sizes(records, one.private_entries, more)


@lru_cache(1)
def in_area() -> Sizes:
    """Return the sizes at equal area as synthesized: an entry takes what one of twice as many entries takes more.

    >>> in_area().more > in_bits().more
    True
    """
    one = machine()
    entries, pages = one.private_entries, one.pages.bit_length() - 1
    few, twice = (area((LRU(), (count, pages, FRAME_BITS))) for count in (entries, 2 * entries))
    directory = area((FirstBit(), (one.cores, 2 * entries, pages)))
    return Sizes(2 * entries, entries, entries + int(directory * entries / (twice - few)))


_BUDGETS: dict[str, Callable[[], Sizes]] = {"bits": in_bits, "area": in_area}


def against(regime: str, sizes: Sizes) -> dict[str, Any]:
    """Return the sweep of a regime: larger private TLBs against a directory, under LRU and under MRU."""
    return experiment(
        regime,
        {"preset": MACHINE, "private_entries": {"vary": [sizes.more, sizes.entries], "zip": "budget"}},
        locate={"vary": [NONE, {DIRECTORY: {"entries": sizes.records}}], "zip": "budget"},
        eviction={"vary": list(BASES)},
    )


def _budget_gains(evidence: Evidence, budget: str, *measures: str) -> Iterator[Finding]:
    sizes = _BUDGETS[budget]()
    for regime in SHARED:
        runs = evidence.runs(f"translation_equal_{budget}_{regime}", against(regime, sizes))
        for base in BASES:
            larger, having = (point(runs, private_entries=size, eviction=base) for size in (sizes.more, sizes.entries))
            note = f"{regime}, {base}, {sizes.more} entries against {sizes.entries}"
            yield from all_better(runs, larger, having, measures, note)


def _claims(mark: str, budget: str, words: str) -> list[Claim]:
    return [
        Claim(
            f"H4.1{mark}",
            f"at equal {words}, fewer accesses to the shared TLB than with larger private TLBs",
            "¶34, ¶64 and ¶90",
            lambda e: list(_budget_gains(e, budget, "shared_per_kilo")),
            costs=lambda e: list(_budget_gains(e, budget, "noc_messages_per_kilo")),
        ),
        Claim(
            f"H4.2{mark}",
            f"at equal {words}, a lower mean latency than with larger private TLBs",
            "¶34 and ¶64",
            lambda e: list(_budget_gains(e, budget, "latency_mean_cycles")),
        ),
    ]


EVICTION_THRESHOLDS = (2, 3, 4)
LOW = "protect_low_degree"


def _eviction_runs(evidence: Evidence, regime: str) -> Results:
    aware = {"sharing_aware_eviction": {"base": "mru", "share_threshold": {"vary": list(EVICTION_THRESHOLDS)}}}
    config = experiment(regime, locate=DIRECTORY, eviction={"vary": [*BASES, aware, LOW]})
    return evidence.runs(f"translation_eviction_{regime}", config)


def _against(evidence: Evidence, base: str) -> Iterator[tuple[str, Results, PlannedPoint, PlannedPoint]]:
    for regime in SHARED:
        runs = _eviction_runs(evidence, regime)
        for threshold in EVICTION_THRESHOLDS:
            about = f"{regime}, threshold {threshold}, against {base}"
            yield about, runs, point(runs, eviction=base), point(runs, share_threshold=threshold)


def _better(evidence: Evidence) -> Iterator[Finding]:
    for base in reversed(BASES):
        for about, runs, plain, aware in _against(evidence, base):
            yield from all_better(runs, plain, aware, ("shared_per_kilo", "latency_mean_cycles"), about)


def _rival(evidence: Evidence) -> Iterator[Finding]:
    for regime in SHARED:
        runs = _eviction_runs(evidence, regime)
        for base in reversed(BASES):
            plain, rival = point(runs, eviction=base), point(runs, eviction=LOW)
            yield better(runs, plain, rival, "latency_mean_cycles", f"{regime}, protecting low degrees against {base}")


FILL_THRESHOLDS = (2, 3, 4, 5)
COSTS = ("shared_per_kilo", "noc_messages_per_kilo", "pushes_per_kilo")
MOSTLY_USED = (-ALL, 0.5)
"""The share of pushed entries that leave unused, where most are used."""
ALWAYS, EMPTY = "demand_always", "gate_any"


def _fill_runs(evidence: Evidence, regime: str) -> Results:
    pushed = {"push_pair": {"fill_threshold": {"vary": list(FILL_THRESHOLDS)}}}
    config = experiment(regime, locate=DIRECTORY, eviction="lru", fill={"vary": [ALWAYS, pushed, EMPTY]})
    return evidence.runs(f"translation_filling_{regime}", config)


def _fill_gains(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    for regime in SHARED:
        runs = _fill_runs(evidence, regime)
        for threshold in FILL_THRESHOLDS:
            first, other = point(runs, fill=ALWAYS), point(runs, fill_threshold=threshold)
            yield from all_better(runs, first, other, measures, f"{regime}, threshold {threshold}")


def _pollution(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of pollution: without pushes there is no such share, so it is not compared with the
    baseline's."""
    for regime in SHARED:
        runs = _fill_runs(evidence, regime)
        for threshold in FILL_THRESHOLDS:
            values = finite(runs, point(runs, fill_threshold=threshold), "push_pollution")
            result = median_within([*values.values()], MOSTLY_USED)
            about = f"{regime}, threshold {threshold}, push_pollution"
            finding = equivalent(about, "of the pushed entries fewer than half leave unused", result)
            yield of(runs, finding, "push_pollution")


def _literal(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the rule as it is written: nothing is ever filled (spec 4, E1)."""
    for regime in SHARED:
        runs = _fill_runs(evidence, regime)
        yield better(runs, point(runs, fill=ALWAYS), point(runs, fill=EMPTY), "private_hit_rate", f"{regime}, literal")


THROUGHPUT_WARPS = (1, 2, 4, 8, 16)
REGIMES = ("pilot_zipf", "pilot_cyclic_shared", "pilot_half_shared")
THROUGHPUT_BUSY = {"gap": 0}
"""Accesses as fast as warps can issue them: the trace keeps no warp waiting."""


def _points(evidence: Evidence, regime: str) -> tuple[Results, dict[int, tuple[PlannedPoint, PlannedPoint]]]:
    warps = {"vary": list(THROUGHPUT_WARPS)}
    config = experiment(
        {"regime": regime, **THROUGHPUT_BUSY}, warps=warps, eviction="lru", locate={"vary": [NONE, DIRECTORY]}
    )
    runs = evidence.runs(f"translation_warps_{regime}", config)
    both = {w: (point(runs, count=w, locate=NONE), point(runs, count=w, locate=DIRECTORY)) for w in THROUGHPUT_WARPS}
    return runs, both


def _faster(evidence: Evidence) -> Iterator[Finding]:
    for regime in REGIMES:
        runs, both = _points(evidence, regime)
        for warps, (without, having) in both.items():
            yield better(runs, without, having, "accesses_per_kilocycle", f"{regime}, {warps} warps a core")


def _shrinks(evidence: Evidence) -> Iterator[Finding]:
    for regime in REGIMES:
        runs, both = _points(evidence, regime)
        yield gain_falls(runs, both, "accesses_per_kilocycle", f"{regime}, warps a core")


LOOK_UP, MARGIN = 1.0, margin("H4.7 nothing")
"""Cycles of a look-up in the directory, what a miss may lose where nothing is shared; and what counts as nothing."""
UNQUEUED = {"preset": MACHINE, "walkers": 32}
"""A walker for every warp: what a miss takes longer is then its own look-up, not the wait for others' walks."""
PRIVATE_PAGES: dict[str, Any] = {
    PRIVATE: {"regime": PRIVATE},
    "zipf_mixture of private pages": {"synthetic": "zipf_mixture", "sharing": 0.0},
}
OBJECTION_BUSY = "pilot_half_shared"
GAPS = (16, 32, 64, 128, 256)
"""Mean cycles between two accesses of a core: the smaller, the more messages there are."""
SLOW_LINKS = {"preset": MACHINE, "link_cycles": 4, "private_ports": 1}
QUEUED = ("latency_mean_cycles", "private_latency_mean_cycles", "noc_messages_per_kilo")
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


def _loads(evidence: Evidence) -> tuple[Results, dict[int, tuple[PlannedPoint, PlannedPoint]]]:
    workload = {"regime": OBJECTION_BUSY, "gap": {"vary": list(GAPS)}}
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
        yield from all_better(runs, without, having, QUEUED, f"an access in {gap} cycles")


def _delayed(evidence: Evidence) -> Iterator[Finding]:
    message = {"directory": {"update": {"message": {"delay": {"vary": list(DELAYS)}}}}}
    for regime in ("pilot_zipf", "pilot_half_shared"):
        config = experiment(regime, eviction="lru", locate={"vary": [NONE, message]})
        runs = evidence.runs(f"translation_delay_{regime}", config)
        without = point(runs, locate=NONE)
        both = {delay: (without, point(runs, delay=delay)) for delay in DELAYS}
        for measure in ("shared_per_kilo", "latency_mean_cycles"):
            yield gain_falls(runs, both, measure, f"{regime}, delay of news")


NETWORKS = ("mesh", "ring", "crossbar")
BUSY_LINKS = {"preset": MACHINE, "link_cycles": 1}
"""A message keeps a link busy for a cycle."""
GROUPS = (2, 4, 8)
"""Cores that share a middle TLB; the last is all."""
MIDDLE = {"preset": MACHINE, "middle_entries": 64}
"""A middle TLB of twice a private one's entries, at half of a shared access."""
TOPOLOGIES = {"network": (BUSY_LINKS, NETWORKS), "middle_cores": (MIDDLE, GROUPS)}
"""By lever: the machine, and the values of the lever."""
TOPOLOGY_REGIMES = ("pilot_zipf", "pilot_half_shared")


def _over_topologies(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    for regime in TOPOLOGY_REGIMES:
        for lever, (base, values) in TOPOLOGIES.items():
            varied = {**base, lever: {"vary": list(values)}}
            config = experiment(regime, varied, eviction="lru", locate={"vary": [NONE, DIRECTORY]})
            runs = evidence.runs(f"translation_{lever}_{regime}", config)
            for value in values:
                without, having = (point(runs, **{lever: value, "locate": locate}) for locate in (NONE, DIRECTORY))
                yield from all_better(runs, without, having, measures, f"{regime}, {lever} {value}")


CLAIMS = sorted(
    [
        Claim(
            "H4.1",
            "fewer accesses to the shared TLB where pages are shared",
            "¶34, ¶64 and ¶90",
            lambda e: _benefit_gains(e, "shared_per_kilo"),
            costs=lambda e: _benefit_gains(e, "noc_messages_per_kilo", "walks_per_kilo"),
        ),
        Claim(
            "H4.2",
            "lower mean and 99th percentile of the latency where pages are shared",
            "¶34 and ¶64",
            lambda e: _benefit_gains(e, "latency_mean_cycles", "latency_p99_cycles"),
            costs=lambda e: [*_benefit_gains(e, "private_latency_mean_cycles"), *_break_even(e)],
        ),
        Claim("H4.3", "more hits in private TLBs, and no fewer local ones", "¶90", _near_hits),
        Claim("H4.4", "sharing-aware eviction is better than plain MRU and plain LRU", "¶90", _better, costs=_rival),
        Claim(
            "H4.5",
            "the fill threshold lowers the latency and raises local hits",
            "implied by ¶80-82",
            lambda e: _fill_gains(e, "latency_mean_cycles", "private_hit_rate"),
            costs=lambda e: [*_fill_gains(e, *COSTS), *_pollution(e), *_literal(e)],
        ),
        Claim("H4.6", "more accesses in the same time, whatever the number of warps", "¶90", _faster, costs=_shrinks),
        Claim("H4.7", "where nothing is shared a miss loses the look-up at most", "spec 4", _nothing_shared),
        Claim(
            "H4.8",
            "there is a load of the network at which the directory makes accesses slower",
            "spec 4",
            _reverses,
            costs=_queueing,
            joined=some,
            kind="by_construction",
            design="5 loads; what the directory adds to links queues on slow ones: from which load on it is slower",
        ),
        Claim("H4.9", "the older the records, the smaller the benefit", "spec 4", _delayed),
        Claim(
            "H4.2d",
            "fewer accesses to the shared TLB and a lower mean latency, whatever joins the cores",
            "¶34, ¶64 and ¶73",
            lambda e: _over_topologies(e, "shared_per_kilo", "latency_mean_cycles"),
            costs=lambda e: _over_topologies(e, "noc_messages_per_kilo", "walks_per_kilo"),
        ),
        *_claims("b", "bits", "bits"),
        *_claims("c", "area", "area as synthesised"),
    ],
    key=lambda claim: claim.id,
)
