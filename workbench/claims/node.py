"""H6.1 to H6.8: what the whole node can tell that no engine alone can (spec 6, section 8).

- H6.1: memory in small pieces costs time at the same bytes in use, where pages are touched here and there.
- H6.2: what placement and the directory gain together is what each gains by itself.
- H6.3: the lender with the fastest path is best in the pool alone, and not in the node.
- H6.4: what the slowest 5 % of groups wait for most, by family: a chunk of the heap, or a walker.
- H6.5: of five mechanisms which buys most, at equal storage bits: every combination, in every family.
- H6.6: choosing the module by its pages against a directory, by time, and by look-ups in the shared TLB.
- H6.7: balancing power over modules costs translation locality (spec 3, Em. 10).
- H6.8: splitting stuck groups wave by wave makes waves wait longer for the lock of the device heap (spec 3, Em. 3).

They share four small cards, every coupling on, five families. What a driver's calls, a shoot-down and a link cost are
assumptions of ours. A call of the driver takes a fifth of what the claims on the pool say, because kernels of some 50
microseconds are short, and else nothing but the pool would be seen. All was chosen on small seeds, before anything was
run on those that judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.claims import pool
from workbench.claims.cases import all_better, better, finite, margin, of, point, ratio
from workbench.claims.claim import Claim, Evidence
from workbench.experiments.results import Results
from workbench.explain.factorial import Factorial, factorial
from workbench.machine import NodeMachine
from workbench.metrics.node import TIMES
from workbench.policies.translation.locate import Directory, equal_area_entries
from workbench.runs.run import PlannedPoint
from workbench.statistics import Finding, compare, equivalent, every, median_within, some, superior
from workbench.statistics.comparisons import by_seed
from workbench.statistics.equivalence import shares
from workbench.statistics.interval import sign_p

MACHINE = {"cards": 4, "modules": 4}
"""A node by the rule `CardsAlike`, of which the first card is nearly full."""
FAMILIES = ["training", "serving", "stencil", "gather", "small_kernels"]
"""Every family of spec 6, R8, that is drawn."""
COUPLED: dict[str, Any] = {
    "memory": "wait",
    "pages": "64k",
    "shootdown_cycles": 500,
    "touches_hold": "group",
    "touches_a_phase": 16,
    "remote": "link",
    "link_latency_ns": 500,
    "malloc": "wait",
    "history": True,
    "pool": {"service_ns": 500, "driver_alloc_ns": 4000, "driver_free_ns": 4000, "driver_ns_per_mib": 100},
}
"""R9 to R16, none at its neutral value."""
POWER = {"dispatch": {"power": "class_power"}}
NONE, DIRECTORY = "no_directory", "directory"
TIME = "makespan_cycles"
LOOK_UPS = "shared_per_kilo"


def experiment(
    workload: Any, options: Mapping[str, Any] | None = None, machine: Any = None, **policies: Any
) -> dict[str, Any]:
    """Make a sweep on the small node, of a family by name or a workload; seeds are added where it is run.

    Pages are filled on demand alone: so only the directory could know the sharers.
    """
    return {
        "engine": "node",
        "machine": machine or MACHINE,
        "workload": {"regime": workload} if isinstance(workload, str) else workload,
        "policy": {"locate": NONE, "fill": "demand_always", **policies},
        "options": {**COUPLED, **(options or {})},
    }


SAME = margin("H6.1 slices")
TOUCHES = 16
"""Pages of a touch that are simulated: with few of them, pages of 4 KiB would be touched too little."""
PIECES = {"pages": {"vary": ["4k", "2m"], "zip": "runs"}, "touches_a_phase": TOUCHES}
FRAMES = {"vary": ["lowest", "longest"], "zip": "runs"}
PATTERNS: dict[str, dict[str, Any]] = {
    "gather": {"regime": "gather"},
    "halo": {"regime": "stencil", "halo_bytes": 16_384},
    "slice": {"regime": "stencil", "halo_bytes": 0},
}


SHORT: dict[str, Any] = {**MACHINE}
ENOUGH: dict[str, Any] = {**MACHINE, "left_mib": 1024}
"""A first card with all of its memory: nothing is borrowed, and no bytes pass a link."""


def _pair(evidence: Evidence, pattern: str, machine: dict[str, Any]) -> tuple[Results, PlannedPoint, PlannedPoint]:
    """Return the runs, the point with small pieces and the one with large ones."""
    name = f"node_fragmentation_{pattern}{'_at_home' if machine == ENOUGH else ''}"
    runs = evidence.runs(name, experiment(PATTERNS[pattern], PIECES, machine, frames=FRAMES))
    small, large = runs.points
    return runs, small, large


def _costs_time(evidence: Evidence, machine: dict[str, Any]) -> Iterator[Finding]:
    for pattern in ("gather", "halo"):
        yield better(*_pair(evidence, pattern, machine), TIME, pattern)
    statement = f"makespan with 2 MiB over that with 4 KiB is within 1 give or take {SAME:g}"
    yield ratio(*_pair(evidence, "slice", machine), TIME, (1 - SAME, 1 + SAME), statement, "slice")


def _memory(evidence: Evidence, machine: dict[str, Any]) -> Iterator[Finding]:
    for pattern in PATTERNS:
        yield better(*_pair(evidence, pattern, machine), "reserved_mean_bytes", pattern)


BEYOND = margin("H6.2 quarter")
ALPHA = 0.05
FIRST, BOUNDARY = "first_fit", "nearest_boundary"
PLACEMENTS = {"vary": [FIRST, BOUNDARY], "zip": "placement"}
COMPUTE = (50_000, 5_000, 500)
"""The axis: the median of the cycles that a group computes in a phase, from what the families say on down.

Look-ups, walkers and links together are then 2 to 12, 18 to 53 and 28 to 64 % of a group's time, by the family: seen at
two seeds that judge nothing.
"""


def _additive_runs(evidence: Evidence, family: str, cycles: int) -> Results:
    locate = {"vary": [NONE, DIRECTORY]}
    workload = {"regime": family, "cycles": {"log_normal": {"median": cycles, "sigma": 0.5}}}
    config = experiment(workload, placement=PLACEMENTS, shared_placement=PLACEMENTS, locate=locate)
    return evidence.runs(f"node_additive_{family}_{cycles}", config)


def _interaction(evidence: Evidence, family: str, cycles: int) -> Finding:
    """Return the case that the gain of both beyond the sum is small compared with the smaller of the gains alone, seed
    by seed.

    Where that gain is not established there is nothing to compare with, and the case is not tested.
    """
    runs = _additive_runs(evidence, family, cycles)
    values = _by_levels(runs)
    placement, directory = values[0, 0] - values[1, 0], values[0, 0] - values[0, 1]
    beyond = values[0, 0] - values[1, 1] - placement - directory
    smaller = np.minimum(abs(placement), abs(directory))
    statement = f"both gain the sum give or take {BEYOND:g} of the smaller gain"
    about = f"{family}, {cycles:,} cycles a phase"
    missing = [name for name, gain in (("placement", placement), ("directory", directory)) if not _established(gain)]
    ratio = np.empty(0) if missing else shares(beyond, smaller)
    case = equivalent(about, statement, median_within(ratio, (-BEYOND, BEYOND)))
    if missing:
        case = case._replace(note=f"not judged: no gain or loss of {' and '.join(missing)} alone is established here")
    case = case._replace(missing=len(runs.seeds) - len(beyond))
    return of(runs, case, f"{TIME}, gain of both less the gains of each", "share of the smaller gain")


def _by_levels(runs: Results) -> Mapping[tuple[int, int], np.ndarray]:
    """Return the makespans at the seeds that all four have, by whether placement and directory are the patents'."""
    of_levels = {
        (a, b): by_seed(runs, point(runs, placement=placement, locate=locate), TIME)
        for a, placement in enumerate((FIRST, BOUNDARY))
        for b, locate in enumerate((NONE, DIRECTORY))
    }
    seeds = [seed for seed in runs.seeds if not any(np.isnan(values[seed]) for values in of_levels.values())]
    return {levels: np.array([one[seed] for seed in seeds], float) for levels, one in of_levels.items()}


def _established(gains: np.ndarray) -> bool:
    """Return whether a gain on most seeds that differ, or a loss, is told from nothing by the exact sign test."""
    return sign_p(int((gains > 0).sum()), int((gains < 0).sum())) < ALPHA


def _additive_alone(evidence: Evidence) -> Iterator[Finding]:
    for family in FAMILIES:
        for cycles in COMPUTE:
            runs, about = _additive_runs(evidence, family, cycles), f"{family}, {cycles:,} cycles a phase"
            neither = point(runs, placement=FIRST, locate=NONE)
            yield better(runs, neither, point(runs, placement=BOUNDARY, locate=NONE), TIME, f"{about}, placement alone")
            yield better(
                runs, neither, point(runs, placement=FIRST, locate=DIRECTORY), TIME, f"{about}, directory alone"
            )


FAST, RIVALS = "max_bandwidth", ("most_free", "round_robin", "random_card")
BORROWING = ("training", "stencil", "gather")
"""Families whose applications need more than the first card has."""
AT_LEISURE = {**pool.FULL, "gap": {"log_uniform": [10**6, 10**8]}}
"""The pool alone, asked as in H5.5: a block in tens of milliseconds."""
EACH = {"vary": [FAST, *RIVALS]}


def _lending_alone(evidence: Evidence, rival: str) -> Finding:
    """Return the case that borrowed data are faster over the fastest path, in the pool alone."""
    runs = evidence.runs("node_lending_alone", pool.experiment(AT_LEISURE, target=EACH))
    first, other = point(runs, target=rival), point(runs, target=FAST)
    return better(runs, first, other, "remote_access_mean_ns", f"pool alone, against {rival}")


def _in_node(evidence: Evidence, family: str, rival: str) -> Finding:
    """Return the case that a rival's makespan is shorter in the node."""
    runs = evidence.runs(f"node_lending_{family}", experiment(family, target=EACH))
    return better(runs, point(runs, target=FAST), point(runs, target=rival), TIME, f"{family}, {rival}")


def _reverses(evidence: Evidence) -> Iterator[Finding]:
    """Yield a case a family and rival: worse than the fastest path in the pool alone, better in the node."""
    for family in BORROWING:
        for rival in RIVALS:
            about = f"{family}, {rival} instead of {FAST}"
            parts = [_lending_alone(evidence, rival), _in_node(evidence, family, rival)]
            yield every(about, "loses in the pool alone, gains in the node", parts)


SMALL, CHUNK, WALKERS = "small_kernels", "heap_chunk", "walkers"
WAITS = tuple(name for name in TIMES if name not in ("compute", "channel"))
"""The waits for a mechanism: all parts of a group's time but its work and its turn."""


def _largest(evidence: Evidence) -> Iterator[Finding]:
    """Yield a case a family and other wait: the one that is claimed to be the largest is larger."""
    for family in FAMILIES:
        runs = evidence.runs(f"node_slowest_{family}", experiment(family, serve="per_thread"))
        (single,) = runs.points
        largest = CHUNK if family == SMALL else WALKERS
        parts = {name: finite(runs, single, f"group_slowest_{name}_cycles") for name in WAITS}
        for other in (name for name in WAITS if name != largest):
            one = compare(parts[other], parts[largest], names=(other, largest), better="higher")
            case = superior(f"{family}, {largest} over {other}", "larger wait of the slowest 5 %", one)
            yield of(runs, case, f"group_slowest_{largest}_cycles less {other}", "cycles")


FIVE_USUAL: dict[str, dict[str, Any]] = {
    "placement": {"placement": "first_fit", "shared_placement": "first_fit"},
    "malloc": {"serve": "per_thread"},
    "dispatch": {
        "priority": "no_priority",
        "selection": {"channel_round_robin": {"among": "all_that_fit"}},
        "stuck": "never_split",
        "choice": "round_robin",
    },
    "translation": {"locate": NONE},
    "pool": {"cache": "no_cache", "target": "round_robin"},
}
"""What open simulators and drivers do, by mechanism (of the dispatcher MGPUSim, `policies/dispatch/__init__.py`)."""
DOCUMENTS: dict[str, dict[str, Any]] = {
    "placement": {"placement": "nearest_boundary", "shared_placement": "nearest_boundary"},
    "malloc": {"serve": "warp_aggregated"},
    "dispatch": {
        "priority": "static_priority",
        "selection": "served_marks",
        "stuck": "split_when_stuck",
        "choice": "weighted_choice",
    },
    "translation": {"locate": DIRECTORY},
    "pool": {"cache": "split_and_coalesce", "target": "max_bandwidth"},
}


MECHANISMS = {policy: mechanism for mechanism, slots in DOCUMENTS.items() for policy in slots.values()}
"""By the name of each document's policy, of which one names the factor."""
MOST_SEEDS = 20
"""Of a design of 32 points a family (spec 6, section 10)."""


def policies() -> dict[str, Any]:
    """Return each mechanism's slots, which step together from the usual answers to the document's."""
    return {
        slot: {"vary": [usual, DOCUMENTS[mechanism][slot]], "zip": mechanism}
        for mechanism, slots in FIVE_USUAL.items()
        for slot, usual in slots.items()
    }


def machine() -> dict[str, Any]:
    """Return the small node, whose private TLBs are larger without a directory by the bits of one (spec 4, V16)."""
    given = NodeMachine.read(MACHINE).translation
    larger = equal_area_entries(Directory.read("directory"), given.private_entries, given.private_ways, given.cores)
    return {**MACHINE, "private_entries": {"vary": [larger, given.private_entries], "zip": "translation"}}


def _design(evidence: Evidence, family: str) -> tuple[Any, Factorial]:
    config = experiment(family, POWER, machine(), **policies())
    runs = evidence.runs(f"node_five_{family}", config, min(evidence.seeds, MOST_SEEDS))
    return runs, factorial(runs, runs.plan.sweep.mechanism.measures[TIME])


def _effects(evidence: Evidence, size: int) -> list[Finding]:
    """Return the effects of so many factors each, family by family."""
    findings = []
    for family in FAMILIES:
        runs, result = _design(evidence, family)
        for one in (effect for effect in result.effects if len(effect.factors) == size):
            name = f"{family}, {' and '.join(MECHANISMS[factor] for factor in one.factors)}"
            statement = "shortens the makespan" if size == 1 else "gain beyond the sum"
            case = superior(name, statement, one.verdict.of)
            findings.append(of(runs, case, f"effect on {TIME}", "% of the usual policies'"))
    return findings


BALANCED, AFFINITY = "least_waves", "affinity"
WAYS = {
    "locate": {"vary": [NONE, DIRECTORY, NONE], "zip": "way"},
    "choice": {"vary": [BALANCED, BALANCED, AFFINITY], "zip": "way"},
}
"""Neither, the directory alone, the choice alone."""


def _locality_runs(evidence: Evidence, family: str) -> Results:
    return evidence.runs(f"node_affinity_{family}", experiment(family, **WAYS))


def _against_directory(evidence: Evidence, measure: str) -> Iterator[Finding]:
    for family in FAMILIES:
        runs = _locality_runs(evidence, family)
        yield better(runs, point(runs, locate=DIRECTORY), point(runs, choice=AFFINITY), measure, family)


def _each_alone(evidence: Evidence) -> Iterator[Finding]:
    for family in FAMILIES:
        runs = _locality_runs(evidence, family)
        neither = point(runs, locate=NONE, choice=BALANCED)
        for name, other in ((AFFINITY, {"choice": AFFINITY}), (DIRECTORY, {"locate": DIRECTORY})):
            yield from all_better(runs, neither, point(runs, **other), (TIME, LOOK_UPS), f"{family}, {name} alone")


BALANCE_USUAL, BALANCING = "most_residual", "least_recent_energy"


def _compared(evidence: Evidence, first: str, other: str, measure: str) -> Iterator[Finding]:
    """Yield the cases that a measure is better under the other choice."""
    for family in FAMILIES:
        config = experiment(family, POWER, choice={"vary": [BALANCE_USUAL, BALANCING]})
        runs = evidence.runs(f"node_balance_{family}", config)
        yield better(runs, point(runs, choice=first), point(runs, choice=other), measure, family)


THRESHOLDS = [16, 256, 4096]
"""Failed rounds; the document's example is 256 (spec 3, ¶88)."""
CALLING: dict[str, Any] = {
    "regime": "small_kernels",
    "kernels": 1,
    "kernel_groups": 16,
    "waves": 4,
    "independent": True,
    "count": 4,
    "lanes": 8,
    "size": 16,
}
"""More groups than a card holds, so that some are stuck; each lane asks for the least."""
LOCK = "group_mean_malloc_lock_cycles"
SERVED = ["per_thread", "warp_aggregated"]


def _without(evidence: Evidence, measure: str) -> Iterator[Finding]:
    """Yield the cases that a measure is better where nothing is split."""
    split = {"split_when_stuck": {"threshold": {"vary": THRESHOLDS}}}
    for serve in SERVED:
        config = experiment(CALLING, stuck={"vary": ["never_split", split]}, serve=serve)
        runs = evidence.runs(f"node_splitting_{serve}", config)
        never, *splitting = runs.points
        for threshold, other in zip(THRESHOLDS, splitting, strict=True):
            yield better(runs, other, never, measure, f"{serve}, threshold {threshold}")


CLAIMS = [
    Claim(
        "H6.1",
        "memory in pieces of 4 KiB costs time against 2 MiB for gather and halo, and nothing for slices",
        "spec 6",
        lambda e: _costs_time(e, SHORT),
        costs=lambda e: _memory(e, SHORT),
        design="three patterns; the first card borrows, and what a group touches of its pages moves over a link",
    ),
    Claim(
        "H6.1b",
        "the same where nothing is borrowed, so that no bytes pass a link",
        "spec 6",
        lambda e: _costs_time(e, ENOUGH),
        costs=lambda e: _memory(e, ENOUGH),
        design="three patterns; entered after H6.1 had come out against at 16 seeds",
    ),
    Claim(
        "H6.2",
        "placement nearest to a boundary and the sharing directory gain together what they gain alone",
        "spec 6",
        lambda e: [_interaction(e, family, cycles) for family in FAMILIES for cycles in COMPUTE],
        costs=_additive_alone,
        design="five families over compute per touch, where both gains are established",
        mark="-quarter-pair",
    ),
    Claim(
        "H6.3",
        "the lender by bandwidth, best in the pool alone, is not best in the node",
        "spec 6",
        _reverses,
        joined=some,
        design="three families that borrow, three rivals",
    ),
    Claim(
        "H6.4",
        "the slowest 5 % of groups wait longest for growth of device heaps with small kernels, else for walkers",
        "spec 6",
        _largest,
        design="five families, eight other waits",
        mark="-slowest-pair",
    ),
    Claim(
        "H6.5",
        "each of the five mechanisms shortens the makespan, whatever the other four are; which most is the map",
        "spec 6",
        lambda e: _effects(e, 1),
        costs=lambda e: _effects(e, 2),
        design="five families, main effects of a full 2^5 design; the costs are its interactions",
    ),
    Claim(
        "H6.6",
        "choosing the module by its pages saves more time than a directory, at no storage",
        "spec 6",
        lambda e: _against_directory(e, TIME),
        costs=lambda e: [*_each_alone(e), *_against_directory(e, LOOK_UPS)],
        design="five families",
        mark="-time-pair",
    ),
    Claim(
        "H6.7",
        "balancing power by what modules have executed costs look-ups in the shared TLB",
        "spec 6",
        lambda e: _compared(e, BALANCING, BALANCE_USUAL, LOOK_UPS),
        costs=lambda e: _compared(e, BALANCE_USUAL, BALANCING, "power_cv"),
        design="five families",
    ),
    Claim(
        "H6.8",
        "splitting stuck groups wave by wave raises contention for the lock of device heaps",
        "spec 6",
        lambda e: _without(e, LOCK),
        costs=lambda e: _without(e, TIME),
        design="two ways to serve a warp, three thresholds",
    ),
]
