"""Cases from the runs of a sweep: the levers of each point, and whether its policy loses there.

A column is one lever over all points: its different values in order, and which of them each point has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, at, unknown_name
from workbench.experiments.plan import Plan
from workbench.experiments.results import Results
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import PairedComparison, judge
from workbench.statistics.comparisons import by_seed, comparison

LEAST_CASES = 20
"""Fewer points have no boxes worth a name: 5 % of them is one."""
_CURE = "vary more levers, or draw more points, such as design: {latin_hypercube: {points: 200}}"


class Interest(NamedTuple):
    """Which points are looked for."""

    kind: Literal["lose", "win", "above", "below"] = "lose"
    """Worse or better than the baseline in size, by ratios or differences, or a mean
    above or below a number."""
    threshold: float = math.nan
    """Of `above` and `below`, in the measure's unit."""
    clear: bool = False
    """Whether a loss or win counts only where its comparison has a word, of size or direction, with the false
    discovery rate held over all points, is below 5 %."""

    @property
    def is_compared(self) -> bool:
        """Return whether points are compared with their baseline."""
        return self.kind in ("lose", "win")


LOSSES = Interest()
"""Where a policy is worse than its baseline."""


class Column(NamedTuple):
    """A lever that differs between points."""

    path: str
    """The dotted path in the sweep."""
    values: tuple[Any, ...]
    """The different ones: numbers in rising order, categories in the order of the sweep."""
    codes: np.ndarray
    """int64[points], the place of each point's value; `len(values)` where the point has no such lever."""
    is_number: bool

    @property
    def slots(self) -> int:
        """Return the number of values, and one more for points that have no such lever."""
        return len(self.values) + 1

    def at(self, points: np.ndarray) -> Column:
        """Return the lever over some of the points, bool[points]; values that none of them has are kept."""
        return self._replace(codes=self.codes[points])


class Cases(NamedTuple):
    """The points of one policy."""

    policy: str
    """Its name, or the names of all that the sweep chooses together."""
    measure: Measure
    interest: Interest
    columns: tuple[Column, ...]
    """The levers that differ, in the order of the sweep."""
    value: np.ndarray
    """float64[points], the size against the baseline, above 0 = better (a ratio less 1, or the mean difference), or the
    mean of the measure."""
    hit: np.ndarray
    """bool[points], whether the point is of interest."""
    points: tuple[str, ...]
    """Their ids."""
    left_out: int
    """Points without a finite value."""

    def at(self, kept: np.ndarray) -> Cases:
        """Return some of the points, bool[points]."""
        ids = tuple(id for id, one in zip(self.points, kept, strict=True) if one)
        columns = tuple(one.at(kept) for one in self.columns)
        return self._replace(columns=columns, value=self.value[kept], hit=self.hit[kept], points=ids)


class _Case(NamedTuple):
    point: PlannedPoint
    value: float
    hit: bool


def interest_of(
    win: bool = False, clear: bool = False, above: float | None = None, below: float | None = None
) -> Interest:
    """Return the target of the search, of the words of a command or a call.

    Raises
    ------
    InputError
        More than one of `win`, `above` and `below` is given, a threshold is not finite, or `clear` goes with one.
    """
    kinds = [
        name for name, given in (("win", win), ("above", above is not None), ("below", below is not None)) if given
    ]
    if len(kinds) > 1:
        several = " and ".join(kinds)
        raise InputError(f"discover looks for one thing: a loss, or one of win, above and below. Got {several}.")
    threshold = above if above is not None else below
    if threshold is None:
        return Interest("win" if win else "lose", clear=clear)
    if not math.isfinite(threshold):
        raise InputError(f"{kinds[0]} must be a finite number. Got {threshold}.")
    if clear:
        raise InputError(f"clear is about losses and wins against a baseline, not about {kinds[0]}; leave it out.")
    return Interest("above" if above is not None else "below", float(threshold))


def check(plan: Plan, measure: str | None, interest: Interest) -> Measure:
    """Return the declaration of the measure, of a plan that can be searched; before anything runs.

    Raises
    ------
    InputError
        There is no such measure; no point has a baseline to lose against; neither direction is better; or there are
        fewer than 20 points.
    """
    where, known = plan.sweep.where, plan.sweep.mechanism.measures
    name = plan.sweep.measures[0] if measure is None else measure
    if name not in known:
        raise unknown_name(where, "measure", name, known)
    plan.sweep.check_computed(name)
    if interest.is_compared:
        cure = f"name a threshold, --above or --below a value of {name}"
        if known[name].better == "neither":
            raise InputError(at(where, f"neither less nor more of {name} is better, so nothing loses; {cure}."))
        if all(point.baseline is None for point in plan.points):
            raise InputError(at(where, f"no point has a baseline to lose against; write one, or {cure}."))
    if len(plan.points) < LEAST_CASES:
        raise InputError(at(where, f"a box needs {LEAST_CASES} points at least. Got {len(plan.points)}; {_CURE}."))
    return known[name]


def cases_of(runs: Results, measure: str | None = None, interest: Interest = LOSSES) -> list[Cases]:
    """Return the cases of every policy, in the order of the sweep.

    A point whose gain is 0 neither loses nor wins.

    Raises
    ------
    InputError
        As `check`; or a policy has fewer than 20 points with values, or no lever that differs between them.
    """
    declared = check(runs.plan, measure, interest)
    by_policy: dict[str, list[_Case]] = {}
    for case in _valued(runs, declared, interest):
        by_policy.setdefault(_policy(runs, case.point), []).append(case)
    return [_cases(runs, name, declared, interest, cases) for name, cases in by_policy.items()]


def _valued(runs: Results, measure: Measure, interest: Interest) -> list[_Case]:
    if not interest.is_compared:
        means = ((point, _mean(by_seed(runs, point, measure.name).values())) for point in runs.points)
        above = interest.kind == "above"
        return [_Case(p, m, m > interest.threshold if above else m < interest.threshold) for p, m in means]
    there = {point.id: point for point in runs.points}
    compared = [point for point in runs.points if point.baseline in there]
    sign = 1 if interest.kind == "win" else -1
    results = {point.id: one for point in compared if (one := comparison(runs, point, measure.name)) is not None}
    gains = {id: _gain(one) for id, one in results.items()}
    clear = _clear(results, interest.kind) if interest.clear else {id: gain * sign > 0 for id, gain in gains.items()}
    return [_Case(point, gains[point.id], clear[point.id]) for point in compared]


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return math.nan
    return math.fsum(known) / len(known) if all(map(math.isfinite, known)) else sum(known)


def _gain(one: PairedComparison) -> float:
    """Return the size of a comparison, above 0 = better: a ratio less 1, or the mean difference; infinite where none of
    its runs ended on both sides."""
    if one.ended:
        return one.size.mean - one.no_effect
    return math.copysign(math.inf, one.wins - one.losses) if one.wins != one.losses else math.nan


def _clear(results: Mapping[str, PairedComparison], kind: str) -> dict[str, bool]:
    """Return the points at which a comparison has a word for the side, as the map `where_it_holds` decides."""
    side = "better" if kind == "win" else "worse"
    return {id: one.side == side for id, one in judge(results, "false_discovery").items()}


def _cases(runs: Results, policy: str, measure: Measure, interest: Interest, cases: Sequence[_Case]) -> Cases:
    kept = [case for case in cases if not math.isnan(case.value)]
    where = f"{policy}: " if policy else ""
    if len(kept) < LEAST_CASES:
        raise InputError(f"{where}a box needs {LEAST_CASES} points with values at least. Got {len(kept)}; {_CURE}.")
    columns = tuple(one for one in _columns(runs, [case.point for case in kept]) if np.ptp(one.codes) > 0)
    if not columns:
        raise InputError(f"{where}no lever of workload, machine or policy differs between the points.")
    values, hits = np.array([case.value for case in kept]), np.array([case.hit for case in kept], bool)
    ids = tuple(case.point.id for case in kept)
    return Cases(policy, measure, interest, columns, values, hits, ids, len(cases) - len(kept))


def _columns(runs: Results, points: Sequence[PlannedPoint]) -> list[Column]:
    """Return the levers: all coordinates but the choice of a policy, one that holds others by its name alone."""
    paths = [path for path in runs.varied if not _is_policy(path)]
    return [column(path, [_value(runs, point, path) for point in points]) for path in paths]


def _value(runs: Results, point: PlannedPoint, path: str) -> Any:
    value = point.coordinates.get(path)
    holds = isinstance(value, str) and any(other.startswith((f"{path}.", f"{path}[")) for other in runs.varied)
    return value.split("(")[0] if holds and isinstance(value, str) else value


def _is_policy(path: str) -> bool:
    return path.startswith("policy.") and path.count(".") == 1


def _policy(runs: Results, point: PlannedPoint) -> str:
    """Return the policies of a point; one whose levers differ from point to point by its name alone."""
    paths = [path for path in runs.varied if _is_policy(path) and point.coordinates.get(path) is not None]
    return ", ".join(str(_value(runs, point, path)) for path in paths)


def column(path: str, given: Sequence[Any]) -> Column:
    """Return a lever from its value at each point, None where a point has none.

    Numbers are ordered as such; switches and whatever has other values are categories.

    >>> one = column("machine.segments", [128, 64, None, 64])
    >>> one.values, one.codes.tolist(), one.is_number
    ((64, 128), [1, 0, 2, 0], True)
    """
    there = [value for value in given if value is not None]
    is_number = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in there)
    values = sorted(set(there)) if is_number else list(dict.fromkeys(map(str, there)))
    place = {value: k for k, value in enumerate(values)}
    codes = [len(values) if value is None else place[value if is_number else str(value)] for value in given]
    return Column(path, tuple(values), np.array(codes, np.int64), is_number)
