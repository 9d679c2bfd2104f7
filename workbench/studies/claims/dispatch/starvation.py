"""H3.5: priority windows against static priority, under a load of the highest priority that never ends (Em. 2)."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import ALL, better, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import experiment
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding

SHORT, LONG = 2000, 8000
"""Groups. What is bounded is nearly the same in a run of four times the length; what is not grows with it."""
P99_GROWS, MAX_GROWS, UNBOUNDED = (margin(f"H3.5 {name}") for name in ("p99", "maximum", "unbounded"))
"""By how much a bounded waiting may grow at most (a maximum over more groups is larger anyway), an unbounded one at
least."""


_PRIORITIES = ("static_priority", "priority_windows")


def _runs(evidence: Evidence) -> RunSet:
    workload = {"regime": "starvation", "count": {"vary": [SHORT, LONG]}}
    return evidence.runs("dispatch_starvation", experiment(workload, priority={"vary": list(_PRIORITIES)}))


def _points(runs: RunSet, count: int) -> tuple[PlannedPoint, PlannedPoint]:
    static, windows = (point(runs, count=count, priority=name) for name in _PRIORITIES)
    return static, windows


def _bounded(evidence: Evidence) -> Iterator[Finding]:
    runs = _runs(evidence)
    (static, windows), (longer_static, longer) = _points(runs, SHORT), _points(runs, LONG)
    for measure, most in (("wait_p99_cycles[4]", P99_GROWS), ("wait_max_cycles[4]", MAX_GROWS)):
        yield better(runs, longer_static, longer, measure, "windows against static")
        grows = f"grows less than {most:g}-fold in a run four times as long"
        yield ratio(runs, windows, longer, measure, (-ALL, most), grows, "windows")
        grows = f"grows more than {UNBOUNDED:g}-fold in a run four times as long"
        yield ratio(runs, static, longer_static, measure, (UNBOUNDED, ALL), grows, "static")


def _costs(evidence: Evidence) -> list[Finding]:
    runs = _runs(evidence)
    return [
        better(runs, *_points(runs, LONG), "wait_mean_cycles[1]"),
        better(runs, *_points(runs, LONG), "makespan_cycles"),
    ]


STARVATION = [
    Claim("H3.5", "windows bound the waiting of the lowest priority", "¶82", lambda e: list(_bounded(e)), costs=_costs)
]
