"""Are the seeds enough? The rule, as a pure function of the rows: it says the same whenever it is asked.

The rule looks at widths alone and never at where an interval lies, so nothing is corrected for looking often. What
would be wrong is a width that is small by luck: it has to be small at two looks in a row (`benchmarks/statistics`
shows how often the intervals at the stop hold the truth).
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from workbench.experiments.plan import Plan, PlannedPoint
from workbench.experiments.row import run_id
from workbench.experiments.run_set import RunSet
from workbench.experiments.seeds import Bound, Until, bound_of
from workbench.studies.statistics import Estimand, Interval, compare

LEVEL = 0.95


class Width(NamedTuple):
    """How well the difference of a point to its baseline is known."""

    point: PlannedPoint
    half_width: float
    limit: float
    """What was asked for, in the measure's unit."""
    n: int
    """Pairs."""

    @property
    def narrow(self) -> bool:
        """Return whether it is known as well as was asked."""
        return self.half_width <= self.limit


class Stop(NamedTuple):
    """Where a sweep with adaptive seeds stopped."""

    until: Until
    seeds: int
    looks: int
    """How often it was looked."""
    widths: list[Width]
    """One a point that has a baseline."""

    @property
    def wide(self) -> list[Width]:
        """Return the points that are known less well than was asked."""
        return [width for width in self.widths if not width.narrow]

    @property
    def sentence(self) -> str:
        """Return what there is to say of it."""
        goal = f"{self.until.measure} to {self.until.half_width.strip()}"
        looked = f"{self.seeds} seeds after {self.looks} of {len(self.until.looks)} looks"
        if not self.wide:
            return f"{looked}: every point is known as well as was asked ({goal})"
        end = "the most there may be" if self.seeds >= self.until.at_most else "stopped on the way"
        widest = max(self.wide, key=lambda width: width.half_width / width.limit if width.limit else math.inf)
        known = f"{len(self.wide)} of {len(self.widths)} points are known less well than was asked ({goal})"
        return f"{looked}, {end}: {known}; the widest is {widest.half_width:.3g} where {widest.limit:.3g} was asked"


def stop(runs: RunSet) -> Stop:
    """Return where a sweep with adaptive seeds stopped, by its rows.

    Its seeds are those of the second of two looks in a row at which every point is known as well as was asked, or of
    the last look whose runs all ended.
    """
    until = runs.plan.sweep.until
    assert until is not None
    ended = 1 + sum(1 for _ in itertools.takewhile(lambda count: _ended(runs, count), until.looks[1:]))
    narrow = False
    for done, count in enumerate(until.looks[:ended], start=1):
        stopped = Stop(until, count, done, widths(runs, count))
        if narrow and not stopped.wide:
            break
        narrow = not stopped.wide
    return stopped


def settled(runs: RunSet) -> Plan:
    """Return the plan of a sweep, cut to the seeds at which its rule stops; of a sweep with fixed seeds, as it is."""
    if runs.plan.sweep.until is None:
        return runs.plan
    return cut(runs.plan, slice(0, stop(runs).seeds))


def cut(plan: Plan, some: slice) -> Plan:
    """Return the same plan with some of its seeds."""
    return Plan(plan.sweep._replace(seeds=plan.sweep.seeds[some]), plan.points)


def _ended(runs: RunSet, count: int) -> bool:
    seeds = runs.plan.sweep.seeds[:count]
    both = itertools.product(runs.points, seeds)
    return len(seeds) == count and all(run_id(point.id, seed) in runs.rows for point, seed in both)


def widths(runs: RunSet, count: int) -> list[Width]:
    """Return how well every difference to a baseline is known after so many seeds."""
    sweep = runs.plan.sweep
    assert sweep.until is not None
    bound = bound_of(sweep.until, sweep.mechanism.measures[sweep.until.measure])
    first = RunSet(cut(runs.plan, slice(0, count)), runs.rows.values())
    baselines = {point.id: _finite(first, point) for point in first.points if point.baseline is None}
    sides = ((p, baselines[str(p.baseline)], _finite(first, p)) for p in first.points if p.baseline is not None)
    return [_width(*both, bound, sweep.estimand) for both in sides]


def _finite(runs: RunSet, point: PlannedPoint) -> dict[int, float]:
    until = runs.plan.sweep.until
    assert until is not None
    return {seed: value for seed, value in runs.values(point, until.measure).items() if math.isfinite(value)}


def _width(
    point: PlannedPoint, baseline: dict[int, float], other: dict[int, float], bound: Bound, estimand: Estimand
) -> Width:
    if not baseline.keys() & other.keys():
        return Width(point, math.inf, 0.0, 0)
    one = compare(baseline, other, level=LEVEL, estimand=estimand)
    return Width(point, half_width(one.interval), bound.limit(one.baseline_mean), one.n)


def half_width(interval: Interval) -> float:
    """Return half the width of an interval; infinite where it has no limits, as with fewer than 6 seeds."""
    half = (interval.high - interval.low) / 2
    return math.inf if math.isnan(half) else half
