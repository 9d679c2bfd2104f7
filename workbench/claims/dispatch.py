"""H3.1 to H3.18: what the source document asserts of its dispatcher, and one objection to it (spec 3, section 6).

- H3.1 to H3.3: matching every channel against one report, and the marks that keep equal channels even (Em. 1).
- H3.4: contiguous allocation against scattered blocks behind a table (¶64).
- H3.5: priority windows against static priority, under a load of the highest priority that never ends (Em. 2).
- H3.6 and H3.7: splitting what is stuck, and the priority of its parts (Em. 3).
- H3.8 to H3.12: the probes, in `dispatch_probes`.
- H3.13: waves spread over the units by a rotated table (Em. 8), against its literal formulas and other ways.
- H3.14 to H3.18: the choice of a module, in `dispatch_choice`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from workbench.claims.cases import (
    ALL,
    all_better,
    always_better,
    better,
    finite,
    margin,
    no_worse,
    of,
    point,
    ratio,
)
from workbench.claims.claim import Claim, Evidence
from workbench.claims.dispatch_choice import CLAIMS as OF_CHOICE
from workbench.claims.dispatch_probes import CLAIMS as OF_PROBES
from workbench.claims.dispatch_setting import (
    MODULES,
    POWER,
    QUEUED,
    REGISTERS,
    SOONER,
    experiment,
    groups,
)
from workbench.experiments.results import Results
from workbench.runs.run import PlannedPoint
from workbench.statistics import Finding, fact

MARGIN = margin("H3.1 first priority")
"""By how much more the highest priority may wait for H3.1 to hold."""
URGENT_WAITS = ("wait_mean_cycles[1]", "wait_p99_cycles[1]")
MATCHING_WORKLOADS = {
    "priorities mixed in channels": "head_of_line",
    "a channel a priority": {"regime": "head_of_line", "priority": {"uniform": [1, 4]}, "priority_by": "channel"},
}
"""One group in five needs most of a module; in the first, these are the urgent ones."""
CHANNELS = [2, 4, 8, 16]
ALIKE = groups(channels={"vary": CHANNELS}, waves=4, vgpr_blocks=8, sgpr_blocks=2, shared_segments=0, priority=1)
"""Every group fits where any does: all channels compete all the time."""
IN_TURN = (4, 16)
ARRIVALS: dict[str, Any] = {"queued": QUEUED, "load 0.9": {"poisson_load": 0.9}}
FAIR = {"vary": ["plain_random", "served_marks"]}


def _head_of_line(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of throughput, of the waits of the lowest priority, and of those of the highest.

    Of urgent groups the mean wait and its 99th percentile are judged: a mean may be as short as before while the
    slowest of them wait much longer.
    """
    for name, workload in MATCHING_WORKLOADS.items():
        blocking = experiment(workload, selection={"vary": ["strict_blocking", "served_marks"]})
        runs = evidence.runs(f"dispatch_head_of_line_{name.split()[0]}", blocking)
        first, other = point(runs, selection="strict_blocking"), point(runs, selection="served_marks")
        yield better(runs, first, other, "groups_per_kilocycle", name)
        yield better(runs, first, other, "wait_mean_cycles[4]", name)
        for measure in URGENT_WAITS:
            yield no_worse(runs, first, other, measure, MARGIN, name)


def _reports(evidence: Evidence) -> Iterator[Finding]:
    """Yield cases head by head: every waiting head of every round needs a report of every module (¶40, ¶43)."""
    runs = evidence.runs("dispatch_reports", experiment(groups(1000, channels={"vary": [2, 4, 16, 64]})))
    for p in runs.points:
        channels = int(p.coordinates["workload.channels"])
        once = finite(runs, p, "probe_operations_per_dispatch")
        each = finite(runs, p, "probe_operations_each_head_per_dispatch")
        saved = 1 - sum(once.values()) / sum(each.values())
        note = f"{saved:.1%} of the reports saved: {MODULES} a round, head by head up to {MODULES * channels}"
        fewer = all(once[seed] < each[seed] for seed in once)
        finding = fact(
            f"{channels} channels", "fewer reports on every seed", fewer, estimate=saved, n=len(once), note=note
        )
        yield of(runs, finding, "reports saved", "share of those head by head")


def _saves_time(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases head by head: probes serve one head after the other, so a round takes as many cycles as there are
    channels."""
    for channels in IN_TURN:
        for load, arrival in ARRIVALS.items():
            each = {"round_cycles": {"vary": [1, channels]}}
            name = f"dispatch_reports_in_turn_{channels}_{load.split()[0]}"
            runs = evidence.runs(name, experiment(groups(1000, channels=channels, arrival=arrival), each))
            once, in_turn = runs.points
            yield from all_better(runs, in_turn, once, SOONER, f"{channels} channels, {load}")


def _marks(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("dispatch_marks_alike", experiment(ALIKE, selection=FAIR))
    for count in CHANNELS:
        first, other = (point(runs, channels=count, selection=name) for name in FAIR["vary"])
        yield better(runs, first, other, "service_variance", f"{count} channels that all fit")
        gaps, bound = finite(runs, other, "service_gap_max"), 2 * count - 1
        most = max(gaps.values())
        note = f"the largest gap of {len(gaps)} seeds is {most:g}, the bound {bound}"
        within = most <= bound
        finding = fact(f"{count} channels, gap", "at most 2c - 1", within, estimate=most, n=len(gaps), note=note)
        yield of(runs, finding, "service_gap_max")
    mixed = evidence.runs("dispatch_marks_mixed", experiment(groups(arrival=QUEUED, priority=1), selection=FAIR))
    first, other = (point(mixed, selection=name) for name in FAIR["vary"])
    yield better(mixed, first, other, "service_variance", "4 channels of mixed groups")


ALLOCATION_WORKLOADS = {
    "small demands": groups(arrival=QUEUED),
    "large demands": REGISTERS,
}
SCATTERED = {"paged_memory": {"access_penalty": 0}}
"""Its accesses cost no time here: how much they cost is not known, and the claim must not rest on an assumption."""


def _compared(evidence: Evidence, *measures: str, judge: Callable[..., Finding] = better) -> list[Finding]:
    findings = []
    for name, workload in ALLOCATION_WORKLOADS.items():
        sweep = experiment(workload, placement={"vary": [SCATTERED, "nearest_boundary"]})
        runs = evidence.runs(f"dispatch_scattered_{name.split()[0]}", sweep)
        contiguous = point(runs, placement="nearest_boundary")
        (scattered,) = (p for p in runs.points if p is not contiguous)
        findings += [judge(runs, scattered, contiguous, measure, name) for measure in measures]
    return findings


SHORT, STARVATION_LONG = 2000, 8000
"""Groups. What is bounded is nearly the same in a run of four times the length; what is not grows with it."""
P99_GROWS, MAX_GROWS, UNBOUNDED = (margin(f"H3.5 {name}") for name in ("p99", "maximum", "unbounded"))
"""By how much a bounded waiting may grow at most (a maximum over more groups is larger anyway), an unbounded one at
least."""


LONGEST_WAITS = ("wait_p99_cycles[4]", "wait_max_cycles[4]")
_PRIORITIES = ("static_priority", "priority_windows")


def _starvation_runs(evidence: Evidence) -> Results:
    workload = {"regime": "starvation", "count": {"vary": [SHORT, STARVATION_LONG]}}
    return evidence.runs("dispatch_starvation", experiment(workload, priority={"vary": list(_PRIORITIES)}))


def _starvation_points(runs: Results, count: int) -> tuple[PlannedPoint, PlannedPoint]:
    static, windows = (point(runs, count=count, priority=name) for name in _PRIORITIES)
    return static, windows


def _shorter(evidence: Evidence) -> Iterator[Finding]:
    runs = _starvation_runs(evidence)
    static, windows = _starvation_points(runs, STARVATION_LONG)
    yield from all_better(runs, static, windows, LONGEST_WAITS, "windows against static")


def _bounded(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of growth.

    The load of the highest priority never ends, so that the lowest waits as long as the run. Each window has its turn.
    """
    runs = _starvation_runs(evidence)
    (static, windows), (longer_static, longer) = (
        _starvation_points(runs, SHORT),
        _starvation_points(runs, STARVATION_LONG),
    )
    for measure, most in zip(LONGEST_WAITS, (P99_GROWS, MAX_GROWS), strict=True):
        grows = f"grows less than {most:g}-fold in a run four times as long"
        yield ratio(runs, windows, longer, measure, (-ALL, most), grows, "windows")
        grows = f"grows more than {UNBOUNDED:g}-fold in a run four times as long"
        yield ratio(runs, static, longer_static, measure, (UNBOUNDED, ALL), grows, "static")


def _costs(evidence: Evidence) -> list[Finding]:
    runs = _starvation_runs(evidence)
    points = _starvation_points(runs, STARVATION_LONG)
    return [better(runs, *points, measure) for measure in ("wait_mean_cycles[1]", "makespan_cycles")]


THRESHOLDS = [16, 64, 256, 1024, 4096]
"""Spec 3, H3.6; the document's example is 256 (¶88)."""
STUCK = {"regime": "stuck", "count": 2000, "duration": {"uniform": [1000, 10_000]}}
"""Groups that run long enough for 4,096 rounds in a row to fail."""
PRIORITIES = ["inherit", "lowest"]
"""Of sub-groups; the lowest is the document's (¶97-98)."""
SPLIT = {"split_when_stuck": {"priority": {"vary": PRIORITIES}, "threshold": {"vary": THRESHOLDS}}}


def _splitting_points(evidence: Evidence) -> tuple[Results, dict[tuple[str, int], PlannedPoint], PlannedPoint]:
    """Return the runs, the point of every priority and threshold, and the one that never splits."""
    runs = evidence.runs("dispatch_splitting", experiment(STUCK, stuck={"vary": ["never_split", SPLIT]}))
    never, *splitting = runs.points
    return runs, dict(zip(itertools.product(PRIORITIES, THRESHOLDS), splitting, strict=True)), never


def _relieves(evidence: Evidence) -> list[Finding]:
    runs, split, never = _splitting_points(evidence)
    measures = ("makespan_cycles", "failed_rounds")
    return [
        better(runs, never, split["lowest", n], measure, f"threshold {n}") for n in THRESHOLDS for measure in measures
    ]


def _lowest(evidence: Evidence, measure: str) -> list[Finding]:
    """Return a case a threshold: a measure is better with the lowest priority for sub-groups than inherited."""
    runs, split, _ = _splitting_points(evidence)
    return [better(runs, split["inherit", n], split["lowest", n], measure, f"threshold {n}") for n in THRESHOLDS]


WRITTEN = {
    "rotated_split": {"as_written": True, "pointer": {"vary": ["tail", "head"]}, "reading": {"vary": ["A", "B"]}}
}
SPREADS = {"vary": ["rotated_split", "no_rotation", WRITTEN, "least_loaded"]}
EVEN = groups(waves={"uniform": [1, 8]}, arrival=QUEUED)
"""Spec 3, section 4: wx ~ U{1..8}."""
MEASURES = ("unit_spread", "utilisation", "energy_joules")


def _balanced(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("dispatch_units", experiment(EVEN, POWER, units=SPREADS))
    rotated, *others = runs.points
    for other in others:
        yield from all_better(runs, other, rotated, MEASURES, f"against {other.coordinates['policy.units']}")


CLAIMS = [
    Claim(
        "H3.1",
        "matching all channels removes head-of-line blocking",
        "¶40",
        _head_of_line,
        design="2 ways to spread priorities over channels; of urgent groups the mean wait and its 99th percentile",
    ),
    Claim(
        "H3.2",
        "one report a module serves all channels",
        "¶40 and ¶43",
        _reports,
        kind="by_construction",
        design="2 to 64 channels",
    ),
    Claim(
        "H3.2b",
        "one report for all channels saves time: the same groups end sooner and wait less than with a report a head",
        "¶40 and ¶43",
        _saves_time,
        design="4 and 16 channels x everything queued and load 0.9, 2 measures",
    ),
    Claim("H3.3", "marks balance channels of equal priority", "¶59", _marks),
    Claim(
        "H3.4",
        "contiguous allocation needs fewer pieces, each of which is a search and an address of its own",
        "¶64 (R13)",
        lambda e: _compared(e, "pieces_per_dispatch", judge=always_better),
        costs=lambda e: _compared(e, "refused_by_fragmentation"),
        kind="by_construction",
        design="2 laws of demand",
    ),
    Claim(
        "H3.4b",
        "contiguous allocation executes faster than scattered blocks",
        "¶64 (R13)",
        lambda e: _compared(e, "makespan_cycles"),
        design="2 laws of demand",
    ),
    Claim(
        "H3.5",
        "under an endless load of the highest priority, the longest waits of the lowest are shorter with windows than "
        "with a static priority",
        "¶82",
        _shorter,
        costs=_costs,
    ),
    Claim(
        "H3.5b",
        "windows bound the waiting of the lowest priority, which grows with the run under a static one",
        "¶82",
        _bounded,
        kind="by_construction",
        design="2,000 and 8,000 groups; the load decides that static waits grow, and the windows' turn that theirs do "
        "not",
    ),
    Claim("H3.6", "splitting stuck groups relieves blocking", "¶91 and ¶100", _relieves),
    Claim(
        "H3.7",
        "with the lowest priority for sub-groups whole groups wait less than with the inherited one",
        "¶98",
        lambda e: _lowest(e, "wait_unsplit_mean_cycles"),
        costs=lambda e: _lowest(e, "utilisation"),
    ),
    *OF_PROBES,
    Claim(
        "H3.13",
        "the rotated split balances units, raises utilisation and lowers energy",
        "¶224 and ¶236",
        _balanced,
        design="against no rotation, the four written forms and the least loaded unit, 3 measures",
    ),
    *OF_CHOICE,
]
