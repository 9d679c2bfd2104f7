"""Adaptive seeds: paired seeds are added until the intervals are narrow, twice in a row.

stop_rule(sweep)   the rule that `run_plan` receives; of `seeds: {until: ...}` it is asked look by look   -> StopRule
settled(runs)      the same runs, cut to the seeds at which the rule stops                   -> Plan
stop(runs)         where it stopped, and which points are wider than was asked               -> Stop

Looks are at fixed numbers of seeds and decide by the rows alone. So a driver that dies and begins again comes to the
same end, with the same runs, whatever the number and kind of its workers. The rule looks at widths alone and never at
where an interval lies, so nothing is corrected for looking often: it cannot wait for an interval to look right, and its
intervals and p-values are those of one look. What would be wrong is a width that is small by luck: it has to be small
at two looks in a row (`benchmarks/statistics` shows how often the intervals at the stop hold the truth). Whoever runs
more seeds into a folder after its results were shown has looked twice.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from workbench.experiments.plan import Plan
from workbench.experiments.results import Results
from workbench.experiments.seeds import Bound, Until, bound_of
from workbench.experiments.stop_rule import EverySeed, StopRule
from workbench.experiments.sweep import Sweep
from workbench.number_text import number
from workbench.runs.run import PlannedPoint, run_id
from workbench.statistics import Interval, compare


def stop_rule(sweep: Sweep) -> StopRule:
    """Return the rule by which the runner of a sweep stops: that of its adaptive seeds, or every seed."""
    return EverySeed() if sweep.until is None else NarrowTwice(sweep.until)


class NarrowTwice:
    """Stops once every difference to a baseline is known as well as was asked, at two looks in a row."""

    def __init__(self, until: Until) -> None:
        self._looks, self._before_narrow = until.looks, False

    def batches(self, plan: Plan) -> list[Plan]:
        """Return the plan of the seeds between each look and the next."""
        return [cut(plan, slice(before, count)) for before, count in itertools.pairwise((0, *self._looks))]

    def is_met(self, runs: Results, seeds: int) -> bool:
        """Return True if the differences are known as well as was asked, now and when it was last asked."""
        before, self._before_narrow = self._before_narrow, all(width.narrow for width in widths(runs, seeds))
        return before and self._before_narrow


LEVEL = 0.95


def half_width(interval: Interval) -> float:
    """Return half the width of an interval; infinite where it has no limits, as with one seed."""
    half = (interval.high - interval.low) / 2
    return math.inf if math.isnan(half) else half


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


def cut(plan: Plan, some: slice) -> Plan:
    """Return the same plan with some of its seeds."""
    return Plan(plan.sweep._replace(seeds=plan.sweep.seeds[some]), plan.points)


def widths(runs: Results, count: int) -> list[Width]:
    """Return the precision of every difference to a baseline after so many seeds."""
    sweep = runs.plan.sweep
    assert sweep.until is not None
    bound = bound_of(sweep.until, sweep.mechanism.measures[sweep.until.measure])
    first = Results(cut(runs.plan, slice(0, count)), runs.rows.values())
    baselines = {point.id: _finite(first, point) for point in first.points if point.baseline is None}
    sides = ((p, baselines[str(p.baseline)], _finite(first, p)) for p in first.points if p.baseline is not None)
    return [_width(*both, bound) for both in sides]


def _finite(runs: Results, point: PlannedPoint) -> dict[int, float]:
    until = runs.plan.sweep.until
    assert until is not None
    return {seed: value for seed, value in runs.values(point, until.measure).items() if math.isfinite(value)}


def _width(point: PlannedPoint, baseline: dict[int, float], other: dict[int, float], bound: Bound) -> Width:
    if not baseline.keys() & other.keys():
        return Width(point, math.inf, 0.0, 0)
    one = compare(baseline, other, level=LEVEL)
    return Width(point, half_width(one.size), bound.limit(one.baseline_mean), one.n)


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
        """Return the note on it."""
        goal = f"{self.until.measure} to {self.until.half_width.strip()}"
        looked = f"{self.seeds} seeds after {self.looks} of {len(self.until.looks)} looks"
        if not self.wide:
            return f"{looked}: every point is known as well as was asked ({goal})"
        end = "the most there may be" if self.seeds >= self.until.at_most else "stopped on the way"
        widest = max(self.wide, key=lambda width: width.half_width / width.limit if width.limit else math.inf)
        known = f"{len(self.wide)} of {len(self.widths)} points are known less well than was asked ({goal})"
        half, limit = number(widest.half_width, 3), number(widest.limit, 3)
        return f"{looked}, {end}: {known}; the widest is {half} where {limit} was asked"


def stop(runs: Results) -> Stop:
    """Return the number of seeds at which a sweep with adaptive seeds stopped, by its rows.

    Its seeds are those of the second of two looks in a row at which every point is known as well as was asked, or of
    the last look whose runs all ended.
    """
    until = runs.plan.sweep.until
    assert until is not None
    # The first look always counts, so there is an answer.
    ended = 1 + sum(1 for _ in itertools.takewhile(lambda count: _ended(runs, count), until.looks[1:]))
    narrow = False
    for done, count in enumerate(until.looks[:ended], start=1):
        stopped = Stop(until, count, done, widths(runs, count))
        if narrow and not stopped.wide:
            break
        narrow = not stopped.wide
    return stopped


def settled(runs: Results) -> Plan:
    """Return the plan of a sweep, cut to the seeds at which its rule stops; of a sweep with fixed seeds, as it is."""
    if runs.plan.sweep.until is None:
        return runs.plan
    return cut(runs.plan, slice(0, stop(runs).seeds))


def _ended(runs: Results, count: int) -> bool:
    seeds = runs.plan.sweep.seeds[:count]
    both = itertools.product(runs.points, seeds)
    return len(seeds) == count and all(run_id(point.id, seed) in runs.rows for point, seed in both)
