"""Sentences about what a comparison cannot tell: points without runs or pairs, and saturated open loops.

- Points whose runs all failed, and points that are compared on some of the seeds alone, are missing from a comparison.
- Where an open loop of translation is saturated, means say how long the trace is, not what a policy does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from workbench.experiments.results import Results
from workbench.runs.run import PlannedPoint


def missing_notes(runs: Results) -> list[str]:
    """Return one sentence a point that has no finished run, or that lacks a pair on some seeds; none where all is well.

    Examples
    --------
    >>> from workbench.api import run
    >>> missing_notes(run({"engine": "shared_memory", "workload": "bimodal", "measures": ["drain_cycles"]}))
    []
    """
    return list(_notes(runs, _done(runs)))


def _notes(runs: Results, done: dict[str, set[int]]) -> Iterator[str]:
    for point in runs.points:
        baseline = runs.baseline_of(point)
        if not done[point.id]:
            yield _without_runs(runs, point)
        elif baseline is not None and done[baseline.id]:
            yield from _without_pairs(runs, point, baseline, done)
        elif baseline is not None:
            yield f"{runs.label(point)}: not compared, for its baseline {runs.label(baseline)} has no finished run."


def _without_runs(runs: Results, point: PlannedPoint) -> str:
    errors = [row.error for row in runs.failures if row.point == point.id]
    if not errors:
        return f"{runs.label(point)}: none of its {len(runs.seeds)} runs is done, so nothing is tested (n = 0)."
    first = f"the first: {errors[0]}"
    return f"{runs.label(point)}: all {len(errors)} runs failed, so nothing is tested (n = 0); {first}"


def _without_pairs(
    runs: Results, point: PlannedPoint, baseline: PlannedPoint, done: dict[str, set[int]]
) -> Iterator[str]:
    pairs, names = len(done[point.id] & done[baseline.id]), (runs.label(point), runs.label(baseline))
    if lacking := len(runs.seeds) - pairs:
        compared = f"compared with {names[1]} on {pairs} of {len(runs.seeds)} seeds"
        yield f"{names[0]}: {compared}; {lacking} have no pair, for a run failed or is not done."


def _done(runs: Results) -> dict[str, set[int]]:
    """Return the seeds that each point finished."""
    seeds: dict[str, set[int]] = {point.id: set() for point in runs.points}
    for row in runs.rows.values():
        if row.status == "done":
            seeds[row.point].add(row.seed)
    return seeds


MEASURE = "drain_share"
MOST = 0.2
"""Share of the makespan after the last access's cycle in the trace, above which a point is called saturated."""


def saturation_notes(runs: Results) -> list[str]:
    """Return one sentence a point whose accesses come faster than they are served; none where all is well.

    Only an open loop can be saturated: warps that wait for their translations slow down instead.

    Examples
    --------
    >>> from workbench.api import run
    >>> saturation_notes(run({"engine": "shared_memory", "workload": "bimodal", "measures": ["drain_cycles"]}))
    []
    """
    if MEASURE not in runs.plan.sweep.mechanism.measures:
        return []
    shares = [(runs.label(point), _share(runs, point)) for point in runs.points if _is_open(point)]
    return [_sentence(label, share) for label, share in shares if share > MOST]


def _is_open(point: PlannedPoint) -> bool:
    """Return whether a point's accesses are issued at their cycles, however many are under way.

    That is not known of a point whose code was not run.
    """
    if not point.setup:
        return False
    options: Any = point.setup.options
    return bool(options.cores_issue.warps() == 0)


def _share(runs: Results, point: PlannedPoint) -> float:
    """Return the measure averaged over the seeds, 0 where no run has it."""
    known = [share for share in runs.values(point, MEASURE).values() if math.isfinite(share)]
    return fmean(known) if known else 0.0


def _sentence(label: str, share: float) -> str:
    return (
        f"{label}: saturated. Accesses come faster than they are served ({share:.0%} of the makespan passes after the "
        "last has come), so mean latencies tell the length of the trace; space the accesses out, or let warps wait "
        "(options: cores_issue)."
    )
