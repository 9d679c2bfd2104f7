"""What a comparison cannot tell: missing runs, a saturated open loop, a level that its seeds cannot reach.

- Points whose runs all failed, and points that are compared on some of the seeds alone, are missing from a comparison.
- Where an open loop of translation is saturated, means say how long the trace is, not what a policy does.
- With few seeds the smallest p-value is too large for a family of comparisons. Of n pairs that all favour one side, 2
  of 2^n patterns of signs look as clear, so no p-value of the sign test is below 2^(1 - n); Holm multiplies the
  smallest by the number of comparisons. A mean is judged from 40 seeds on, whose p-values have no such floor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean
from typing import Any, NamedTuple

from workbench.experiments.plan import Plan, PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.statistics import least_p


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


MEASURE = "drain_share"
MOST = 0.2
"""Share of the makespan after the last access's cycle in the trace, above which a point is called saturated."""


def saturation_notes(runs: RunSet) -> list[str]:
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
    """Return whether a point's accesses are issued at their cycles, however many are under way."""
    options: Any = point.setup.options
    return bool(options.cores_issue.warps() == 0)


def _share(runs: RunSet, point: PlannedPoint) -> float:
    """Return the measure averaged over the seeds, 0 where no run has it."""
    known = [share for share in runs.values(point, MEASURE).values() if math.isfinite(share)]
    return fmean(known) if known else 0.0


def _sentence(label: str, share: float) -> str:
    return (
        f"{label}: saturated. Accesses come faster than they are served ({share:.0%} of the makespan passes after the "
        "last has come), so mean latencies tell the length of the trace; space the accesses out, or let warps wait "
        "(options: cores_issue)."
    )


ALPHA = 0.05


class Family(NamedTuple):
    """The comparisons of a sweep, which are corrected together."""

    comparisons: int
    seeds: int
    alpha: float = ALPHA

    @property
    def least_p(self) -> float:
        """Return the smallest adjusted p-value that there can be, at most 1."""
        return min(1.0, self.comparisons * least_p(self.seeds))

    @property
    def reaches(self) -> bool:
        """Return whether any comparison can be below alpha; true where nothing is compared."""
        return not self.comparisons or self.least_p < self.alpha

    @property
    def seeds_needed(self) -> int:
        """Return the fewest seeds with which a comparison can be below alpha.

        >>> Family(40, 10).seeds_needed, Family(1, 3).seeds_needed, Family(0, 1).seeds_needed
        (11, 6, 1)
        """
        if not self.comparisons:
            return 1
        needed = math.floor(1 + math.log2(self.comparisons / self.alpha)) - 1
        while self.comparisons * least_p(needed) >= self.alpha:
            needed += 1
        return needed

    @property
    def note(self) -> str:
        """Return a sentence where no comparison can be below alpha, and an empty one elsewhere."""
        if self.reaches:
            return ""
        several = f"{self.comparisons} comparisons" if self.comparisons > 1 else "one comparison"
        have = "have" if self.comparisons > 1 else "has"
        return (
            f"cannot decide: {several} at {self.seeds} seeds {have} no corrected p below {self.alpha:g}, the smallest "
            f"is {self.least_p:.2g}; it takes {self.seeds_needed} seeds"
        )


def family_of(plan: Plan) -> Family:
    """Return the family of a plan: every point that has a baseline, by every measure with a better direction.

    One seed a point, as a recorded trace has, is no sample: its differences are shown and none is tested.
    """
    measures, seeds = plan.sweep.mechanism.measures, len(plan.sweep.seeds)
    judged = sum(measures[name].better != "neither" for name in plan.sweep.measures) if seeds > 1 else 0
    return Family(judged * sum(point.baseline is not None for point in plan.points), seeds)
