"""H2.3, H2.4, H2.5, H2.7, H2.8: time and instructions, with the lanes at which aggregation begins to pay."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, either_better, of, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.claims.malloc.contention import THREADS
from workbench.studies.claims.malloc.experiment import (
    BOTH,
    DESIGN,
    LOADS,
    WARP,
    counts,
    every_load,
    every_seed,
    experiment,
    gains,
    loads,
    regime,
)
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding, fact

LANES = [1, 2, 4, 8, 16, 32]
MINIMUM_FOR = ("latency_mean_cycles", "peak_extent_bytes")
"""What the least size is for (spec 2, H2.7): time, or a heap that is less cut up and so reaches less far."""
HOLD, SPLIT, WARPS = 400, 20, 64
"""The engine's and the lock's defaults; warps that call together in H2.5."""
SAME = (1 - margin("H2.8 same"), 1 + margin("H2.8 same"))
"""Any lane may lead: within one per cent."""


def _pair(runs: RunSet, **label: object) -> tuple[PlannedPoint, PlannedPoint]:
    alone, together = (point(runs, serve=name, **label) for name in BOTH)
    return alone, together


def _sooner(evidence: Evidence) -> Iterator[Finding]:
    runs = counts(evidence, THREADS)
    for threads in THREADS[1:]:  # one thread alone has nothing to gain
        yield better(runs, *_pair(runs, threads=threads), "makespan_cycles", f"n = {threads}")
    for pair in loads(evidence):
        yield gains(pair, "makespan_cycles")


def _lanes(evidence: Evidence) -> RunSet:
    active = {"vary": [lanes / WARP for lanes in LANES]}
    workload = regime("mixed_sizes", active_by="warp", active=active)
    return evidence.runs("malloc_lanes", experiment(workload, serve={"vary": BOTH}))


def _instructions(evidence: Evidence) -> Iterator[Finding]:
    for pair in loads(evidence):
        yield gains(pair, "instructions")


def _break_even(evidence: Evidence) -> Iterator[Finding]:
    """Yield the fewest lanes that must call of each warp: from there on aggregation takes less, below it takes more."""
    runs = _lanes(evidence)
    for measure in ("makespan_cycles", "instructions"):
        pays = []
        for lanes in LANES:
            alone, together = _pair(runs, active=lanes / WARP)
            means = [np.mean([*finite(runs, one, measure).values()]) for one in (alone, together)]
            pays += [lanes] if means[1] < means[0] else []
        note = f"of {LANES} active lanes a warp, aggregation takes less at {pays}"
        monotone = pays == [lanes for lanes in LANES if pays and lanes >= pays[0]]
        least = float(pays[0]) if pays else np.nan
        finding = fact(f"break-even, {measure}", "pays from so many lanes on", monotone, estimate=least, note=note)
        yield of(runs, finding, f"fewest lanes at which {measure} is less", "lanes")


def _overlap(evidence: Evidence) -> list[Finding]:
    serve = {"warp_aggregated": {"split_overlap": {"vary": [True, False]}}}
    workload = {"synthetic": "random_mallocs", "threads": WARPS * WARP, "size": 4}
    options = {"scan_step_cycles": 0, "split_cycles": SPLIT}
    lock = {"trylock_spin": {"hold_cycles": HOLD}}
    runs = evidence.runs("malloc_overlap", experiment(workload, options, serve=serve, lock=lock), seeds=1)
    spans = [every_seed(runs, "makespan_cycles", split_overlap=overlap) for overlap in (True, False)]
    expected = [{WARPS * HOLD + SPLIT}, {WARPS * (HOLD + SPLIT)}]
    note = f"{sorted(spans[0])} cycles with, {sorted(spans[1])} without; (k - 1) split = {(WARPS - 1) * SPLIT}"
    statement = "k hold + split with, k (hold + split) without"
    finding = fact(f"k = {WARPS}", statement, spans == expected, estimate=float((WARPS - 1) * SPLIT), note=note)
    return [of(runs, finding, "makespan_cycles")]


def _minimum(evidence: Evidence) -> RunSet:
    serve = {"vary": [{name: {"min_alloc": {"vary": [1, 16]}, "align": 1}} for name in BOTH]}
    workload = regime("churn", size={"uniform": [1, 16]}, batches=4)
    options = {"granule_bytes": 1, "heap_bytes": 1 << 20}
    return evidence.runs("malloc_minimum", experiment(workload, options, serve=serve))


def _minimum_pays(evidence: Evidence) -> Iterator[Finding]:
    runs = _minimum(evidence)
    for name, (without, raised) in zip(BOTH, (runs.points[:2], runs.points[2:]), strict=True):
        yield either_better(runs, without, raised, MINIMUM_FOR, f"{name}, time or heap fragments")


def _minimum_costs(evidence: Evidence) -> Iterator[Finding]:
    runs = _minimum(evidence)
    for name, (without, raised) in zip(BOTH, (runs.points[:2], runs.points[2:]), strict=True):
        for measure in (*MINIMUM_FOR, "internal_fragmentation", "metadata_transactions_per_thread"):
            yield better(runs, without, raised, measure, name)


def _any_leader(evidence: Evidence) -> Iterator[Finding]:
    rules = {"warp_aggregated": {"leader_rule": {"vary": ["first_active", "any"]}}}
    runs = evidence.runs("malloc_leader", experiment(every_load(active=0.5), serve=rules))
    for load, first, other in zip(LOADS, runs.points[::2], runs.points[1::2], strict=True):
        for measure in ("makespan_cycles", "peak_extent_bytes"):
            yield ratio(runs, first, other, measure, SAME, "the same within one per cent", load)


EFFORT = [
    Claim(
        "H2.3",
        "allocation takes less time",
        "¶43 and ¶81",
        lambda e: list(_sooner(e)),
        design=f"{DESIGN}; 2 to 65,536 threads",
    ),
    Claim(
        "H2.4",
        "fewer instructions",
        "¶11 and ¶82",
        lambda e: list(_instructions(e)),
        costs=lambda e: list(_break_even(e)),
        design=DESIGN,
    ),
    Claim(
        "H2.5",
        "dividing a block overlaps the waiting of other warps",
        "¶43",
        _overlap,
        kind="counted",
        design="64 warps that call at once",
    ),
    Claim(
        "H2.7",
        "the minimum makes allocation faster or the heap less fragmented",
        "¶55",
        lambda e: list(_minimum_pays(e)),
        costs=lambda e: list(_minimum_costs(e)),
    ),
    Claim("H2.8", "any lane may lead", "¶67", lambda e: list(_any_leader(e))),
]
