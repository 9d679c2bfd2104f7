"""What does each of several choices gain by itself, and what do two of them gain beyond both? A full 2^k design.

Every combination of k choices of two values is run at the same seeds. The main effect of a choice is the gain of its
second value over its first, as the mean over all combinations of the others. The interaction of two is the gain of both
together beyond the sum of the gains of each, likewise. (Box, Hunter and Hunter, "Statistics for Experimenters", chapter
5, where the second is told by half.) Both are of one seed, so that their spread over the seeds gives the interval.
Where a combination refused something or never came to an end, its value is infinite, the worst rank there is, and so is
the effect of that seed; a seed that one combination lacks altogether is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import Interval, PairedComparison, Verdict, compare, judge
from workbench.statistics.comparisons import by_seed


class Factor(NamedTuple):
    """A choice of two values, and all varied levers that step together with it."""

    name: str
    """Its second value, of the policy that comes first."""
    paths: tuple[str, ...]
    levels: dict[str, int]
    """By the id of a point: 0 = the first value."""


class Effect(NamedTuple):
    """What one choice gains, or two beyond the sum of both."""

    setting: str
    factors: tuple[str, ...]
    verdict: Verdict
    """Corrected over all effects of all settings, by false discovery (Benjamini and Hochberg)."""
    contrasts: np.ndarray
    """float64[seeds], the gain of each seed in percent; infinite where only one side has a run that refused."""
    missing: int = 0
    """Seeds that some combination lacks."""

    @property
    def gain(self) -> Interval:
        """Return the mean over the seeds that end, in percent of the mean where every choice has its first value;
        positive = better."""
        return self.verdict.of.size

    @property
    def n(self) -> int:
        """Return the number of seeds."""
        return self.verdict.of.n

    @property
    def infinite(self) -> int:
        """Count the seeds whose gain is infinite."""
        return int(np.isinf(self.contrasts).sum())

    @property
    def clear(self) -> bool:
        """Return whether the effect is told from none after correction, in size or in direction."""
        return bool(self.verdict.side)


class Factorial(NamedTuple):
    """All effects of a design."""

    measure: str
    factors: tuple[str, ...]
    settings: tuple[str, ...]
    effects: tuple[Effect, ...]
    """Setting by setting: main effects in the order of the factors, then of pairs."""

    def of(self, setting: str, *factors: str) -> Effect:
        """Return the effect of a factor, or of two, in a setting."""
        return next(one for one in self.effects if one.setting == setting and set(one.factors) == {*factors})


def factorial(runs: Results, measure: Measure) -> Factorial:
    """Estimate main effects and interactions of pairs, in every setting of a sweep.

    Factors are the varied policies of two values; what else takes its values in step with one (`zip`) belongs to it.
    All else that is varied makes settings, each with a design of its own.

    Raises
    ------
    InputError
        There are fewer than two factors, a setting lacks a combination or has a seed that finished all of none, or
        neither less nor more of the measure is better.
    """
    if measure.better == "neither":
        raise InputError(f"a factorial compares by what is better, and of {measure.name} neither less nor more is.")
    factors = factors_of(runs)
    if len(factors) < 2:
        expected = "must vary at least two policies of two values each"
        raise InputError(f"a factorial {expected}; this sweep varies {', '.join(runs.varied) or 'nothing'}.")
    results = [
        one for setting, points in settings_of(runs, factors) for one in _effects(runs, measure, setting, points)
    ]
    verdicts = judge({k: paired for k, (*_, paired) in enumerate(results)}, "false_discovery")
    effects = tuple(
        Effect(setting, factors, verdicts[k], gains, missing)
        for k, (setting, factors, gains, missing, _) in enumerate(results)
    )
    names = tuple(one.name for one in factors)
    return Factorial(measure.name, names, tuple(dict.fromkeys(one.setting for one in effects)), effects)


def factors_of(runs: Results) -> list[Factor]:
    """Return the factors of a sweep, in its order."""
    levels = {path: _levels(runs, path) for path in runs.varied}
    two = {path: by_point for path, by_point in levels.items() if by_point and max(by_point.values()) == 1}
    factors: dict[tuple[int, ...], list[str]] = {}
    for path, by_point in two.items():
        factors.setdefault(tuple(by_point.values()), []).append(path)
    chosen = [paths for paths in factors.values() if any(path.startswith("policy.") for path in paths)]
    return [Factor(_name(runs, paths), tuple(paths), two[paths[0]]) for paths in chosen]


def _levels(runs: Results, path: str) -> dict[str, int]:
    """Return the number of each point's value in the order of their first coming; nothing where a point has none."""
    values = {point.id: point.coordinates.get(path) for point in runs.points}
    if None in values.values():
        return {}
    order = {value: k for k, value in enumerate(dict.fromkeys(map(repr, values.values())))}
    return {id: order[repr(value)] for id, value in values.items()}


def _name(runs: Results, paths: list[str]) -> str:
    policy = next(path for path in paths if path.startswith("policy.")).split(".")[1]
    first = _levels(runs, paths[0])
    second = next(point for point in runs.points if first[point.id] == 1)
    return second.setup.policies[policy].name


Points = dict[tuple[int, ...], PlannedPoint]
"""The point of every combination of levels."""


def settings_of(runs: Results, factors: list[Factor]) -> Iterator[tuple[str, Points]]:
    """Yield every setting with its points by the levels of the factors.

    Raises
    ------
    InputError
        A combination is missing, or there are two points of one.
    """
    taken = {path for factor in factors for path in factor.paths}
    others = [path for path in runs.varied if path not in taken and not _within(path, taken)]
    groups: dict[str, list[PlannedPoint]] = {}
    for point in runs.points:
        groups.setdefault(", ".join(_words(point, path) for path in others), []).append(point)
    for setting, group in groups.items():
        points = {tuple(factor.levels[point.id] for factor in factors): point for point in group}
        if len(group) != 2 ** len(factors) or len(points) != len(group):
            raise InputError(
                f"a factorial of {len(factors)} factors needs {2 ** len(factors)} points, one a combination"
                f"{f', of {setting}' if setting else ''}. Got {len(group)}."
            )
        yield setting, points


def _within(path: str, taken: set[str]) -> bool:
    return any(path.startswith((f"{one}.", f"{one}[")) for one in taken)


def _words(point: PlannedPoint, path: str) -> str:
    value = point.coordinates.get(path)
    name = path.rsplit(".", 1)[-1].replace("_", " ")
    return str(value) if isinstance(value, str) else f"{name} {value}"


def _effects(
    runs: Results, measure: Measure, setting: str, points: Points
) -> Iterator[tuple[str, tuple[str, ...], np.ndarray, int, PairedComparison]]:
    """Yield setting, factors, gains by seed, missing seeds and comparison of every effect."""
    names = [factor.name for factor in factors_of(runs)]
    by_levels = {levels: by_seed(runs, point, measure.name) for levels, point in points.items()}
    seeds = [seed for seed in runs.seeds if not any(math.isnan(one[seed]) for one in by_levels.values())]
    if not seeds:
        where = f" of {setting}" if setting else ""
        raise InputError(f"a factorial needs a seed at which every combination{where} has {measure.name}; none has.")
    values = {levels: np.array([one[seed] for seed in seeds], float) for levels, one in by_levels.items()}
    none = values[(0,) * len(names)]
    known = none[np.isfinite(none)]
    usual = float(known.mean()) if known.size else 1.0  # an infinite effect is infinite in whatever unit
    sign = (1.0 if measure.better == "higher" else -1.0) * 100.0 / (usual or math.nan)
    singles = [(k,) for k in range(len(names))]
    for chosen in (*singles, *itertools.combinations(range(len(names)), 2)):
        gains, factors = sign * contrast(values, chosen), tuple(names[k] for k in chosen)
        by_place = dict(enumerate(gains.tolist()))
        one = compare(dict.fromkeys(by_place, 0.0), by_place, names=("none", " and ".join(factors)), better="higher")
        missing = len(runs.seeds) - len(seeds)
        yield setting, factors, gains, missing, one


def contrast(values: Mapping[Any, np.ndarray], chosen: tuple[int, ...]) -> np.ndarray:
    """Return the effect of one factor, or the interaction of two, seed by seed, over all combinations of the others.

    Of infinite values those of the side that has more of them decide; where both have as many, there is no effect.

    >>> one = {(0, 0): 10.0, (0, 1): 8.0, (1, 0): 9.0, (1, 1): 4.0}
    >>> values = {levels: np.array([value]) for levels, value in one.items()}
    >>> [contrast(values, chosen).tolist() for chosen in ((0,), (1,), (0, 1))]
    [[-2.5], [-3.5], [-3.0]]
    >>> contrast({(0,): np.array([5.0, np.inf]), (1,): np.array([np.inf, np.inf])}, (0,)).tolist()
    [inf, 0.0]
    """
    signed = [(math.prod(2 * levels[k] - 1 for k in chosen), one) for levels, one in values.items()]
    infinite = sum(sign * np.where(np.isinf(one), np.sign(one), 0.0) for sign, one in signed)
    total = sum(sign * np.where(np.isinf(one), 0.0, one) for sign, one in signed)
    total = np.where(np.any([np.isinf(one) for _, one in signed], axis=0), 0.0, total)
    return np.where(infinite == 0, total / (len(values) / 2 ** len(chosen)), np.copysign(np.inf, infinite))
