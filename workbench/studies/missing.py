"""What is missing from a comparison: points whose runs all failed, and points compared on some of the seeds alone."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet


def missing_notes(runs: RunSet) -> list[str]:
    """Return one sentence a point that has no finished run, or that lacks a pair on some seeds; none where all is well.

    Examples
    --------
    >>> from workbench.api import run
    >>> missing_notes(run({"engine": "shared_memory", "workload": "bimodal", "measures": ["drain_cycles"]}))
    []
    """
    return list(_notes(runs, _done(runs)))


def _notes(runs: RunSet, done: dict[str, set[int]]) -> Iterator[str]:
    for point in runs.points:
        baseline = runs.baseline_of(point)
        if not done[point.id]:
            yield _without_runs(runs, point)
        elif baseline is not None and done[baseline.id]:
            yield from _without_pairs(runs, point, baseline, done)
        elif baseline is not None:
            yield f"{runs.label(point)}: not compared, for its baseline {runs.label(baseline)} has no finished run."


def _without_runs(runs: RunSet, point: PlannedPoint) -> str:
    errors = [row.error for row in runs.failures if row.point == point.id]
    if not errors:
        return f"{runs.label(point)}: none of its {len(runs.seeds)} runs is done, so nothing is tested (n = 0)."
    first = f"the first: {errors[0]}"
    return f"{runs.label(point)}: all {len(errors)} runs failed, so nothing is tested (n = 0); {first}"


def _without_pairs(
    runs: RunSet, point: PlannedPoint, baseline: PlannedPoint, done: dict[str, set[int]]
) -> Iterator[str]:
    pairs, names = len(done[point.id] & done[baseline.id]), (runs.label(point), runs.label(baseline))
    if lacking := len(runs.seeds) - pairs:
        compared = f"compared with {names[1]} on {pairs} of {len(runs.seeds)} seeds"
        yield f"{names[0]}: {compared}; {lacking} have no pair, for a run failed or is not done."


def _done(runs: RunSet) -> dict[str, set[int]]:
    """Return the seeds that each point finished."""
    seeds: dict[str, set[int]] = {point.id: set() for point in runs.points}
    for row in runs.rows.values():
        if row.status == "done":
            seeds[row.point].add(row.seed)
    return seeds
