"""H2.1 to H2.11: what the source document asserts of warp aggregation, and two objections to it (spec 2, section 6).

- H2.1, H2.2, H2.9: atomics, tries in vain and traffic, counted and compared.
- H2.3, H2.4, H2.5, H2.7, H2.8: time and instructions, with the lanes at which aggregation begins to pay.
- H2.6: pieces are apart and inside with the corrected prefix sum, and not with the written one.
- H2.10 and H2.11, two objections: blocks that are held for one piece, and larger requests that fail earlier.

They share one lock, one bitmap heap, the same calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.claims.cases import (
    ALL,
    all_better,
    always_better,
    better,
    either_better,
    finite,
    margin,
    of,
    point,
    ratio,
    worthwhile,
)
from workbench.claims.claim import Claim, Evidence
from workbench.experiments.results import Results
from workbench.number_text import number
from workbench.runs.run import PlannedPoint
from workbench.statistics import Finding, fact

MACHINE = "h100"
WARP = 32
Load = tuple[str, dict[str, Any]]
"""A regime, and what is changed of it."""
EQUAL: dict[str, Load] = {f"{size} B": ("small_equal", {"size": size}) for size in (2, 4, 16, 256)}
UNEQUAL: dict[str, Load] = {
    name: (name, {}) for name in ("thread_number", "mixed_sizes", "log_normal_sizes", "bimodal_sizes")
}
LOADS = {**EQUAL, **UNEQUAL}
"""Sizes that are equal, t + 1, uniform, log-normal and bimodal (spec 2, section 6)."""
BOTH = ["per_thread", "warp_aggregated"]
CHANGED: dict[str, Any] = {}
"""Levers of every load that are not as its regime has them; tests make the loads smaller."""


def experiment(workload: Any, options: Mapping[str, Any] | None = None, **policies: Any) -> dict[str, Any]:
    """Make a sweep of the engine `malloc`; seeds are added where it is run."""
    config = {"engine": "malloc", "machine": MACHINE, "workload": workload, "policy": policies}
    return {**config, "options": dict(options or {})}


def regime(name: str, **levers: Any) -> dict[str, Any]:
    """Return a load, with some levers changed."""
    return {"regime": name, **levers, **CHANGED}


ACTIVE = [1 / 32, 1 / 4, 1 / 2, 1.0]
"""Lanes of a warp that call: one, a quarter, half, all."""
OCCUPANCIES = [0.0, 0.5, 0.9]
"""Of the heap, before the first call."""
DESIGN = "8 laws of sizes x active lanes 1/32, 1/4, 1/2, 1 x heaps 0, 50, 90 % occupied"
FIXED = (*EQUAL, "thread_number")
"""Loads whose sizes are not drawn: with all lanes and an empty heap there is one run, counted and no sample."""


class Pair(NamedTuple):
    """A case of the design: the point per thread and the one that is warp-aggregated."""

    name: str
    runs: Results
    alone: PlannedPoint
    together: PlannedPoint
    exact: bool
    """Whether there is one run of it, the same under every seed."""


def loads(evidence: Evidence) -> Iterator[Pair]:
    """Yield every case of the design."""
    for active in ACTIVE:
        for occupancy in OCCUPANCIES:
            one = active == 1.0 and not occupancy
            yield from _cases(evidence, [*LOADS] if not one else [*UNEQUAL][1:], active, occupancy, exact=False)
            yield from _cases(evidence, [*FIXED] if one else [], active, occupancy, exact=True)


def _cases(evidence: Evidence, names: list[str], active: float, occupancy: float, exact: bool) -> Iterator[Pair]:
    if not names:
        return
    requests = [regime(LOADS[n][0], active=active, active_by="warp", **LOADS[n][1]) for n in names]
    sweep = experiment({"vary": requests}, {"occupancy": occupancy}, serve={"vary": BOTH})
    lanes = round(WARP * active)
    runs = evidence.runs(f"malloc_loads_{lanes}_{occupancy:g}{'_exact' * exact}", sweep, seeds=1 if exact else None)
    label = f"{lanes} of {WARP} lanes, heap {occupancy:.0%} occupied"
    for name, alone, together in zip(names, runs.points[::2], runs.points[1::2], strict=True):
        yield Pair(f"{name}, {label}", runs, alone, together, exact)


def gains(pair: Pair, measure: str) -> Finding:
    """Return the case that a measure is better with aggregation: tested, or counted where there is one run."""
    judge = always_better if pair.exact else better
    return judge(pair.runs, pair.alone, pair.together, measure, pair.name)


def counts(evidence: Evidence, threads: list[int]) -> Results:
    """Run calls of several numbers of threads, per thread and warp-aggregated, of sizes that are drawn."""
    workload = {"synthetic": "random_mallocs", "threads": {"vary": threads}}
    return evidence.runs("malloc_counts", experiment(workload, serve={"vary": BOTH}))


def every_seed(runs: Results, measure: str, **displayed: Any) -> set[float]:
    """Return the different values that a measure has at a point over all seeds."""
    return set(finite(runs, point(runs, **displayed), measure).values())


THREADS = [1, 2, 8, 60, 64, 1000, 1024, 16384, 65536]


def _listed(values: Iterable[float]) -> str:
    """Return values one by one, four and more as their range.

    >>> _listed({3, 1, 2}), _listed({4, 3, 1, 2})
    ('1, 2, 3', '1 to 4')
    """
    ordered = [number(value) for value in sorted(values)]
    return ", ".join(ordered) if len(ordered) < 4 else f"{ordered[0]} to {ordered[-1]}"


def _atomics(evidence: Evidence) -> Iterator[Finding]:
    runs = counts(evidence, THREADS)
    for threads in THREADS:
        alone, together = (every_seed(runs, "heap_atomics", threads=threads, serve=name) for name in BOTH)
        warps = -(-threads // WARP)
        exact = (alone, together) == ({threads}, {warps})
        share = max(together) / max(alone)
        note = f"{_listed(together)} atomics against {_listed(alone)}: 1/{number(1 / share)} of them"
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
    note = f"{number(together)} tries in vain a thread against {number(alone)}"
    finding = fact(
        f"{pair.name}, {measure}", f"at most 1/{WARP} of those without", share <= most, estimate=share, note=note
    )
    return of(pair.runs, finding, f"{measure} over the baseline's", "")


def _traffic(evidence: Evidence) -> Iterator[Finding]:
    for pair in loads(evidence):
        yield gains(pair, "metadata_transactions_per_thread")


LANES = [1, 2, 4, 8, 16, 32]
MINIMUM_FOR = ("latency_mean_cycles", "peak_extent_bytes")
"""What the least size is for (spec 2, H2.7): time, or a heap that is less cut up and so reaches less far."""
HOLD, SPLIT, WARPS = 400, 20, 64
"""The engine's and the lock's defaults; warps that call together in H2.5."""
SAME = (1 - margin("H2.8 same"), 1 + margin("H2.8 same"))
"""Any lane may lead: within one per cent."""


def _pair(runs: Results, **label: object) -> tuple[PlannedPoint, PlannedPoint]:
    alone, together = (point(runs, serve=name, **label) for name in BOTH)
    return alone, together


def _sooner(evidence: Evidence) -> Iterator[Finding]:
    runs = counts(evidence, THREADS)
    for threads in THREADS[1:]:  # one thread alone has nothing to gain
        yield better(runs, *_pair(runs, threads=threads), "makespan_cycles", f"n = {threads}")
    for pair in loads(evidence):
        yield gains(pair, "makespan_cycles")


def _instructions(evidence: Evidence) -> Iterator[Finding]:
    for pair in loads(evidence):
        yield gains(pair, "instructions")


def _break_even(evidence: Evidence) -> Iterator[Finding]:
    """Yield the fewest lanes that must call of each warp: from there on aggregation takes less, below it takes more."""
    active = {"vary": [lanes / WARP for lanes in LANES]}
    workload = regime("mixed_sizes", active_by="warp", active=active)
    runs = evidence.runs("malloc_lanes", experiment(workload, serve={"vary": BOTH}))
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
    note = f"{_listed(spans[0])} cycles with, {_listed(spans[1])} without; (k - 1) split = {(WARPS - 1) * SPLIT}"
    statement = "k hold + split with, k (hold + split) without"
    finding = fact(f"k = {WARPS}", statement, spans == expected, estimate=float((WARPS - 1) * SPLIT), note=note)
    return [of(runs, finding, "makespan_cycles")]


def _minimum(evidence: Evidence) -> Results:
    serve = {"vary": [{name: {"min_alloc": {"vary": [1, 16]}, "align": 1}} for name in BOTH]}
    workload = regime("churn", size={"uniform": [1, 16]}, batches=4)
    options = {"granule_bytes": 1, "heap_bytes": 1 << 20}
    return evidence.runs("malloc_minimum", experiment(workload, options, serve=serve))


def _minimum_pays(evidence: Evidence) -> Iterator[Finding]:
    runs = _minimum(evidence)
    for name, (without, raised) in zip(BOTH, (runs.points[:2], runs.points[2:]), strict=True):
        yield either_better(runs, without, raised, MINIMUM_FOR, f"{name}, time or heap fragments", worthwhile)


def _minimum_costs(evidence: Evidence) -> Iterator[Finding]:
    runs = _minimum(evidence)
    measures = (*MINIMUM_FOR, "internal_fragmentation", "metadata_transactions_per_thread")
    for name, (without, raised) in zip(BOTH, (runs.points[:2], runs.points[2:]), strict=True):
        yield from all_better(runs, without, raised, measures, name)


def _any_leader(evidence: Evidence) -> Iterator[Finding]:
    rules = {"warp_aggregated": {"leader_rule": {"vary": ["first_active", "any"]}}}
    every_load = {"vary": [regime(name, **changed, active=0.5) for name, changed in LOADS.values()]}
    runs = evidence.runs("malloc_leader", experiment(every_load, serve=rules))
    for load, first, other in zip(LOADS, runs.points[::2], runs.points[1::2], strict=True):
        for measure in ("makespan_cycles", "peak_extent_bytes"):
            yield ratio(runs, first, other, measure, SAME, "the same within one per cent", load)


def _apart(evidence: Evidence) -> Iterator[Finding]:
    rules = {"warp_aggregated": {"prefix": {"vary": ["exclusive", "as_written"]}}}
    for load in LOADS:
        sweep = experiment(regime(LOADS[load][0], **LOADS[load][1]), serve=rules)
        runs = evidence.runs(f"malloc_pieces_{load.replace(' ', '_')}", sweep, seeds=1 if load in FIXED else None)
        for rule, result in zip(("exclusive", "as_written"), runs.points, strict=True):
            overlap, outside = (finite(runs, result, name) for name in ("overlap_bytes", "out_of_bounds_bytes"))
            broken = [overlap[seed] + outside[seed] for seed in overlap]
            expected = all(broken) if rule == "as_written" and load in UNEQUAL else not any(broken)
            what = "breaks on every trace" if rule == "as_written" and load in UNEQUAL else "never breaks"
            mean = sum(broken) / len(broken)
            note = f"{number(mean)} bytes overlap or lie outside in the mean over {len(broken)} traces"
            case = fact(f"{rule}, {load}", what, expected, estimate=mean, n=len(broken), note=note)
            yield of(runs, case, "bytes that overlap or lie outside", "bytes")


LIVES = [100_000, 1_000_000]
"""The longest lifetime of what a thread holds; batches come 200,000 cycles apart."""
ALIGN = {"align": 16}
"""Pieces of whole granules on both sides, so that rounding does not speak for either."""
AT_ONCE = {"lock_free": {"hold_cycles": 1}}
"""Both sides are served at once: under a slow lock threads give up what they got before the others are served, and a
slow allocator would seem to need little memory."""
OCCUPIED = [0.7, 0.8, 0.9]
FULL: dict[str, Any] = {"heap_bytes": 1 << 20, "occupied_run_bytes": 4096}


def _churn(evidence: Evidence, life: int) -> Any:
    serve = [
        {"warp_aggregated": ALIGN},
        {"per_thread": ALIGN},
        {"warp_aggregated": {**ALIGN, "free_policy": "piecewise"}},
    ]
    workload = regime("churn", frees={"freed_by_thread": {"lifetime": {"uniform": [1, life]}}})
    return evidence.runs(f"malloc_churn_{life}", experiment(workload, serve={"vary": serve}, lock=AT_ONCE))


def _lower_peak(evidence: Evidence, other: int, how: str) -> Iterator[Finding]:
    """Yield the cases that the heap's peak is lower at another point than where blocks are freed as a whole."""
    for life in LIVES:
        runs = _churn(evidence, life)
        yield better(runs, runs.points[0], runs.points[other], "peak_heap_bytes", f"{how}, lifetimes up to {life}")


def _fails_earlier(evidence: Evidence) -> Iterator[Finding]:
    workload = {"regime": "mixed_sizes", "threads": 1024}
    options = {**FULL, "occupancy": {"vary": OCCUPIED}}
    runs = evidence.runs("malloc_full", experiment(workload, options, serve={"vary": BOTH}))
    for occupancy in OCCUPIED:
        alone, together = (point(runs, occupancy=occupancy, serve=name) for name in BOTH)
        yield better(runs, together, alone, "failure_rate", f"per thread, {occupancy:.0%} occupied")


CLAIMS = [
    Claim(
        "H2.1",
        "far fewer atomic operations, such as 1/32",
        "¶11 and ¶79",
        _atomics,
        kind="counted",
        design="1 to 65,536 threads",
    ),
    Claim("H2.2", "fewer conflicts for the lock", "¶11 and ¶41", _conflicts, design=DESIGN),
    Claim("H2.3", "allocation takes less time", "¶43 and ¶81", _sooner, design=f"{DESIGN}; 2 to 65,536 threads"),
    Claim("H2.4", "fewer instructions", "¶11 and ¶82", _instructions, costs=_break_even, design=DESIGN),
    Claim(
        "H2.5",
        "dividing a block overlaps the waiting of other warps",
        "¶43",
        _overlap,
        kind="counted",
        design="64 warps that call at once",
    ),
    Claim(
        "H2.6",
        "threads get memory without conflict, once the prefix sum is corrected",
        "¶42, ¶59 and ¶63",
        _apart,
        kind="counted",
        design="8 laws of sizes x 2 rules",
    ),
    Claim(
        "H2.7",
        "the minimum makes allocation faster or the heap less fragmented",
        "¶55",
        _minimum_pays,
        costs=_minimum_costs,
    ),
    Claim(
        "H2.8",
        "any lane may lead",
        "¶67",
        _any_leader,
        kind="by_construction",
        design="8 laws of sizes; the lanes of a request are of one warp and call at one moment, whichever of them asks",
    ),
    Claim("H2.9", "less pressure on the memory bus and the caches", "¶28", _traffic, design=DESIGN),
    Claim(
        "H2.10",
        "aggregation harms reuse: the heap's peak is higher with blocks that are freed as a whole",
        "spec 2, counter-hypothesis",
        lambda e: _lower_peak(e, 1, "per thread"),
        costs=lambda e: _lower_peak(e, 2, "freed piece by piece"),
    ),
    Claim(
        "H2.11",
        "larger contiguous requests fail earlier in a heap that is nearly full",
        "spec 2, counter-hypothesis",
        _fails_earlier,
    ),
]
