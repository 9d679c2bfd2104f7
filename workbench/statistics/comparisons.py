"""The comparisons of a sweep with its baseline, judged together: one family for everything that shows them.

Tables, sentences, exports, figures and dashboards ask here, so that a p-value and a word are the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.errors import InputError
from workbench.experiments.plan import Plan
from workbench.experiments.results import Results
from workbench.metrics.measure import Measure
from workbench.number_text import probability
from workbench.runs.run import PlannedPoint
from workbench.statistics.comparison import Better, PairedComparison, compare, over_workloads
from workbench.statistics.floors import ALPHA, fewest_seeds, least_p
from workbench.statistics.verdict import MOST_SEEDS, Verdict, judge

LEVEL = 0.95


class OverWorkloads(NamedTuple):
    """A policy over the workloads of a sweep, under one measure."""

    measure: str
    name: str
    """What the points have in common."""
    points: tuple[str, ...]
    """The id of each workload's point."""
    verdict: Verdict
    members: tuple[Verdict, ...]
    """Of each workload."""

    @property
    def better(self) -> int:
        """Return in how many workloads it is better, in whatever words."""
        return sum(_side(one) == "better" for one in self.members)

    @property
    def worse(self) -> int:
        """Return in how many workloads it is worse."""
        return sum(_side(one) == "worse" for one in self.members)

    @property
    def ratio_of_sums(self) -> float:
        """Return the ratio of the means added up over the workloads, above 1 where the policy is better."""
        of = self.verdict.of
        first, other = of.baseline_mean, of.other_mean
        above, below = (first, other) if of.better == "lower" else (other, first)
        return above / below if below else math.nan


def _side(one: Verdict) -> str:
    """Return the side of a verdict; of one without a test, as nothing is drawn, that of its difference."""
    return one.of.side_of_values if one.word == "exact" else one.side


class Judged(NamedTuple):
    """The comparisons of a sweep, corrected together."""

    verdicts: dict[tuple[str, str], Verdict]
    """By measure and id of the point; points without a baseline, and measures without a better side, have none."""
    over: list[OverWorkloads]
    """Policies over workloads, of ratio measures."""


def judged(runs: Results) -> Judged:
    """Return the verdict on every comparison of a sweep; of some points of it, corrected over all of the sweep."""
    whole = runs if runs.whole is None else runs.whole
    whole.check_whole()
    names = whole.plan.sweep.measures
    pairs = [(name, point, comparison(whole, point, name)) for name in names for point in whole.points]
    known = {(name, point.id): one for name, point, one in pairs if one is not None}
    groups, pooled = [], {}
    for name in names:
        for label, ids in workload_groups(whole.plan, name):
            if all((name, id) in known for id in ids):
                seeds = planned_seeds(whole, [point for point in whole.points if point.id in ids])
                one = over_workloads([known[name, id] for id in ids], planned=seeds)
                if one is not None:
                    groups.append((name, label, ids))
                    pooled[name, label] = one
    members = {(name, label): [(name, id) for id in ids] for name, label, ids in groups}
    verdicts = judge({**known, **pooled}, over=members)
    chosen = {point.id for point in runs.points}
    over = [
        OverWorkloads(name, label, ids, verdicts[name, label], tuple(verdicts[name, id] for id in ids))
        for name, label, ids in groups
        if chosen.issuperset(ids)
    ]
    return Judged({key: verdicts[key] for key in known if key[1] in chosen}, over)


def comparison(runs: Results, point: PlannedPoint, name: str) -> PairedComparison | None:
    """Compare a point with its baseline on one measure, None where it has no baseline or no direction is better."""
    baseline, measure = runs.baseline_of(point), measure_of(runs, name)
    if baseline is None or measure.better == "neither":
        return None
    return compared(runs, baseline, point, name)


def compared(runs: Results, baseline: PlannedPoint, other: PlannedPoint, name: str) -> PairedComparison:
    """Compare two points of a sweep on one measure, as the measure declares.

    Raises
    ------
    InputError
        Neither less nor more of the measure is better.
    """
    measure = measure_of(runs, name)
    if measure.better == "neither":
        raise InputError(f"a comparison is by what is better, and of {name} neither less nor more is.")
    better: Better = measure.better
    return compare(
        by_seed(runs, baseline, name),
        by_seed(runs, other, name),
        names=(runs.label(baseline), runs.label(other)),
        better=better,
        compared_by=measure.compared_by,
        least_effect=measure.least,
        level=LEVEL,
        planned=planned_seeds(runs, [baseline, other]),
        exact=len(runs.seeds) == 1 and runs.is_exact(baseline) and runs.is_exact(other),
    )


def measure_of(runs: Results, name: str) -> Measure:
    """Return a measure as the sweep declares it: its least effect may be the sweep's own."""
    measure: Measure = runs.plan.sweep.mechanism.measures[name]
    return measure._replace(least_effect=runs.plan.sweep.least_effect.get(name, measure.least_effect))


def planned_seeds(runs: Results, points: Sequence[PlannedPoint]) -> frozenset[int] | None:
    """Return the seeds of the first plan, None for all that there are; none where a run of theirs has not ended."""
    sweep = runs.plan.sweep
    count = len(sweep.seeds) if sweep.planned is None else sweep.planned
    seeds = sweep.seeds[:count]
    if count > len(sweep.seeds) or not all(runs.has_ended(point, seeds) for point in points):
        return frozenset()
    return None if count == len(sweep.seeds) else frozenset(seeds)


def by_seed(runs: Results, point: PlannedPoint, measure: str) -> dict[int, float]:
    """Return one value a seed of the sweep: NaN where the run failed, is missing, or has no such value.

    An infinite value is one: the worst there is, and it is not left out. It stands where a run starved or hangs, and
    where a measure is missing because something was refused in the run (`Measure.refusals`). Who refuses or hangs does
    less, and may not win by it.
    """
    known = runs.values(point, measure)
    refused = runs.refused(point, measure) | runs.starved(point) | runs.hung(point, measure)
    worst = -math.inf if runs.plan.sweep.mechanism.measures[measure].better == "higher" else math.inf
    return {seed: worst if seed in refused else known.get(seed, math.nan) for seed in runs.seeds}


def values_of(runs: Results, point: PlannedPoint, measure: str) -> dict[int, float]:
    """Return the values by seed, infinite ones included; seeds without a value are left out."""
    return {seed: value for seed, value in runs.values(point, measure).items() if not math.isnan(value)}


def workload_groups(plan: Plan, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every policy that stands against a baseline on two workloads or more, under a ratio measure.

    Returns what its points have in common, in words, and their ids. Points belong together that differ in nothing but
    their workload.
    """
    measure = plan.sweep.mechanism.measures[name]
    if measure.compared_by != "ratio" or measure.better == "neither":
        return
    groups: dict[str, list[PlannedPoint]] = {}
    for point in plan.points:
        if point.baseline is not None:
            rest = {path: str(value) for path, value in point.coordinates.items() if not _is_workload(path)}
            groups.setdefault(", ".join(rest.values()), []).append(point)
    for label, points in groups.items():
        if len(points) > 1 and all(any(map(_is_workload, point.coordinates)) for point in points):
            yield label, tuple(point.id for point in points)


def _is_workload(path: str) -> bool:
    return _root(path) == "workload"


def is_setting(path: str) -> bool:
    """Return whether a lever is of the machine or the workload, which all policies of a comparison share."""
    return _root(path) in ("machine", "workload")


def _root(path: str) -> str:
    return path.split(".")[0].split("[")[0]


def seeds_note(runs: Results) -> str:
    """Say how many seeds would tell the least effect of every comparison, by the spread of the runs that are there.

    Empty where no comparison has two pairs and a least effect.
    """
    known = [one for one in judged(runs).verdicts.values() if one.of.least is not None and one.of.n > 1]
    if not known:
        return ""
    needed = [one.seeds_needed for one in known]
    least = "the least effect of every comparison that declares one"
    if None in needed:
        count = sum(one is None for one in needed)
        several = f"{count} of {len(known)} comparisons"
        return f"by the spread of the runs kept, no number within {MOST_SEEDS:,} seeds would tell {several}"
    most = max(one for one in needed if one is not None)
    return f"by the spread of the runs kept, {most:,} seeds would tell {least}; {len(runs.seeds):,} are planned"


class Family(NamedTuple):
    """The comparisons of a sweep, which are corrected together."""

    comparisons: int
    seeds: int

    @property
    def least_p(self) -> float:
        """Return the smallest corrected p that there can be, at most 1."""
        return least_p(self.seeds, 2 * self.comparisons)

    @property
    def reaches(self) -> bool:
        """Return whether a comparison can be decided; true where nothing is compared."""
        return not self.comparisons or self.least_p < ALPHA

    @property
    def seeds_needed(self) -> int:
        """Return the fewest seeds with which a comparison can be decided.

        >>> Family(40, 10).seeds_needed, Family(1, 3).seeds_needed, Family(0, 1).seeds_needed
        (12, 7, 1)
        """
        return fewest_seeds(2 * self.comparisons) if self.comparisons else 1

    @property
    def note(self) -> str:
        """Return a sentence where no comparison can be decided, and an empty one elsewhere."""
        if self.reaches:
            return ""
        several = f"none of {self.comparisons} comparisons" if self.comparisons > 1 else "no comparison"
        return (
            f"{several} can be decided at {self.seeds} seeds: the smallest corrected p is {probability(self.least_p)}; "
            f"it takes {self.seeds_needed} seeds"
        )


def family_of(plan: Plan) -> Family:
    """Return the family of a plan: every point that has a baseline, by every measure with a better direction.

    One seed a point, as a recorded trace has, is no sample: its differences are shown and none is tested.
    """
    measures, seeds = plan.sweep.mechanism.measures, len(plan.sweep.seeds)
    if seeds < 2:
        return Family(0, seeds)
    judged = [name for name in plan.sweep.measures if measures[name].better != "neither"]
    pooled = sum(1 for name in judged for _ in workload_groups(plan, name))
    return Family(len(judged) * sum(point.baseline is not None for point in plan.points) + pooled, seeds)
