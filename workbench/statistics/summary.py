"""The summary of a sweep: per point and measure the mean and the paired difference to the baseline.

`summary` is the table, with intervals; `where_it_holds` gives every place of a region its verdict on a claim, corrected
over all places together; `by_seed` gives a measure of a point by seed, with what is missing as such.

With few seeds the smallest p-value is too large for a family of comparisons (`family_of`). Of n pairs that all favour
one side, 2 of 2^n patterns of signs look as clear, so no p-value of the sign test is below 2^(1 - n); Holm multiplies
the smallest by the number of comparisons. A mean is judged from 40 seeds on, whose p-values have no such floor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.errors import InputError, unknown_name
from workbench.experiments.plan import Plan
from workbench.experiments.run_set import RunSet
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import (
    Interval,
    PairedComparison,
    compare,
    false_discovery,
    holm,
    least_p,
    mean_interval,
)
from workbench.statistics.adaptive_seeds import looks_of

if TYPE_CHECKING:
    import pandas as pd


LEVEL = 0.95


def summary(runs: RunSet) -> pd.DataFrame:
    """Return one row a point and measure.

    Columns: one a varied lever; measure; n; `infinite` (how many of them are); mean, low, high (95 %); and, against
    the baseline at the same seeds, `estimand` (what the verdict is about: the `median` paired difference, or the `mean`
    where the sweep says so), `difference` with `difference_low`, `difference_high` (of the estimand, positive = better
    than the baseline), `saving` (the differences over the baseline's values), `mean_difference` with its own limits,
    `better`, `worse` and `same` (at how many seeds), `pairs` (seeds that both have) and `missing` (seeds that one or
    both lack), `p` (of the same estimand), `p_holm` (corrected over the `family` of all comparisons of the table, and
    of some points over all of their sweep) and `looks` (at how many numbers of seeds results were shown, which p
    answers for). An infinite value is the worst, not a missing one: the mean is infinite, the median is not. Without a
    pair there is no test: the row has no p and is no member of the family. `note` says what a mean rests on where that
    is little.
    """
    import pandas as pd

    rows = _every_row(runs)
    family = rows if runs.whole is None else _every_row(runs.whole)
    tested = {key: row["p"] for key, row in family.items() if not math.isnan(row.get("p", math.nan))}
    for key, p_adjusted in holm(tested).items():
        if key in rows:
            rows[key] |= {"p_holm": p_adjusted, "family": len(tested)}
    return pd.DataFrame(list(rows.values()))


def _every_row(runs: RunSet) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows by measure and id of their point."""
    names = runs.plan.sweep.measures
    return {(name, point.id): _row(runs, point, name) for name in names for point in runs.points}


def point_mean(runs: RunSet, point: PlannedPoint, name: str) -> Interval:
    """Return the mean of a measure at a point, with limits within what the measure can be."""
    measure = runs.plan.sweep.mechanism.measures[name]
    values = [*values_of(runs, point, name).values()]
    return mean_interval(values, level=LEVEL, bounds=bounds_of(measure, values))


def bounds_of(measure: Measure, values: Sequence[float]) -> tuple[float, float]:
    """Return the least and the largest value that a measure can have: of a share 0 and 1, of anything else 0 and none.

    What was seen outside of them takes them away.

    >>> bounds_of(Measure("hit_rate", "", "higher", ""), [0.5]), bounds_of(Measure("gain", "", "higher", ""), [-0.5])
    ((0.0, 1.0), (-inf, inf))
    """
    is_share = not measure.unit and measure.stem.endswith(("_rate", "_share"))
    low, high = 0.0, 1.0 if is_share else math.inf
    return low if min(values, default=0) >= low else -math.inf, high if max(values, default=0) <= high else math.inf


def _row(runs: RunSet, point: PlannedPoint, name: str) -> dict[str, Any]:
    interval = point_mean(runs, point, name)
    infinite = sum(map(math.isinf, values_of(runs, point, name).values()))
    note = f"{EQUAL} {interval.n} seeds" if interval.method == "constant" else ""
    if infinite:
        note = f"{infinite} of {interval.n} values are infinite, and so is the mean"
    named = {path: point.coordinates.get(path) for path in runs.varied}
    row = {**named, "measure": name, "n": interval.n, "infinite": infinite}
    ends = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    return {**row, **ends, **_against(runs, point, name), "note": note}


EQUAL = "one value at all"
"""What the note of a sample without spread begins with."""


def _against(runs: RunSet, point: PlannedPoint, name: str) -> dict[str, Any]:
    paired = comparison(runs, point, name)
    if paired is None:
        return {}
    counts = {"pairs": paired.n, "missing": len(paired.missing)}
    if not paired.n:
        return counts
    return {
        "estimand": paired.estimand,
        "difference": paired.interval.mean,
        "difference_low": paired.interval.low,
        "difference_high": paired.interval.high,
        "saving": paired.saving.mean,
        "mean_difference": paired.mean.mean,
        "mean_difference_low": paired.mean.low,
        "mean_difference_high": paired.mean.high,
        "better": paired.wins,
        "worse": paired.losses,
        "same": paired.ties,
        **counts,
        "looks": len(looks_of(runs).counts),
        "p": paired.p_value,
    }


def comparison(runs: RunSet, point: PlannedPoint, name: str) -> PairedComparison | None:
    """Compare a point with its baseline on one measure, None where it has no baseline or no direction is better.

    Where results were shown at fewer seeds before, p answers for all of these looks.
    """
    baseline = runs.baseline_of(point)
    better = runs.plan.sweep.mechanism.measures[name].better
    if baseline is None or better == "neither":
        return None
    names = runs.label(baseline), runs.label(point)
    sides = by_seed(runs, baseline, name), by_seed(runs, point, name)
    looks = looks_of(runs)
    result = compare(*sides, names=names, better=better, level=looks.level(LEVEL), estimand=runs.plan.sweep.estimand)
    return result._replace(p_value=looks.p_value(result.p_value))


Verdict = Literal["better", "worse", "undecided"]
CORRECTIONS = {"holm": holm, "false_discovery": false_discovery}
ALPHA = 0.05


class Place(NamedTuple):
    """One point of a sweep beside its baseline."""

    point: PlannedPoint
    x: float
    y: float
    verdict: Verdict
    interval: Interval
    """The median paired difference, or the mean where the sweep judges that; positive = better than the baseline."""
    saving: float
    """The differences over the baseline's values, likewise; NaN where these are not above zero."""
    p_value: float
    """Of the same; NaN where no seed has a pair: then there is no test, and the place is no member of the
    family."""
    p_adjusted: float
    """Over all places of the region, those of other panels included."""


def numbers(runs: RunSet) -> list[str]:
    """Return the dotted paths of the varied numbers of a sweep, in its order: those with two values at least."""
    values_by_path: dict[str, set[float]] = {}
    for path in runs.varied:
        values = [point.coordinates.get(path) for point in runs.points]
        if all(
            isinstance(value, (int, float)) and not isinstance(value, bool) for value in values if value is not None
        ):
            values_by_path[path] = {value for value in values if isinstance(value, (int, float))}
    return [path for path, values in values_by_path.items() if len(values) > 1]


def where_it_holds(
    runs: RunSet, measure: Measure, x: str, y: str, correction: str = "false_discovery", alpha: float = ALPHA
) -> list[Place]:
    """Return every point that has both coordinates and a baseline, in the order of the sweep.

    A place is `better` (`worse`) where the 95 % interval of the paired difference lies above (below) zero, and the
    p-value, adjusted over all places, is below alpha. Where there is no pair at all, it is undecided.

    Parameters
    ----------
    x, y : str
        The dotted paths of two varied numbers.
    correction : {"false_discovery", "holm"}
        `false_discovery` (Benjamini and Hochberg) bounds the expected share of false verdicts among all that are
        decided by alpha; Holm the chance of any false verdict on the map.

    Raises
    ------
    InputError
        Neither less nor more of the measure is better, no point has a baseline, or the correction is unknown.
    """
    if correction not in CORRECTIONS:
        raise unknown_name("", "correction", correction, CORRECTIONS)
    rows = [(point, comparison(runs, point, measure.name)) for point in runs.points if _has(point, x, y)]
    compared = [(point, one) for point, one in rows if one is not None]
    if not compared:
        raise InputError(
            f"where_it_holds compares points with a baseline by what is better, and there is none for {measure.name}."
        )
    tested = {k: one.p_value for k, (_, one) in enumerate(compared) if one.n}
    adjusted = CORRECTIONS[correction](tested)
    return [_place(point, one, adjusted.get(k, math.nan), x, y, alpha) for k, (point, one) in enumerate(compared)]


def _has(point: PlannedPoint, x: str, y: str) -> bool:
    return all(point.coordinates.get(path) is not None for path in (x, y))


def _place(point: PlannedPoint, result: PairedComparison, p_adjusted: float, x: str, y: str, alpha: float) -> Place:
    clear: Verdict = "better" if result.interval.above(0) else "worse" if result.interval.below(0) else "undecided"
    verdict: Verdict = clear if p_adjusted < alpha else "undecided"
    at = float(point.coordinates[x]), float(point.coordinates[y])
    return Place(point, *at, verdict, result.interval, result.saving.mean, result.p_value, p_adjusted)


def by_seed(runs: RunSet, point: PlannedPoint, measure: str) -> dict[int, float]:
    """Return one value a seed of the sweep: NaN where the run failed, is missing, or has no such value.

    An infinite value is one: the worst there is, and it is not left out. It stands where a measure is missing because
    something was refused in the run (`Measure.refusals`): who refuses does less, and may not win by it.
    """
    known, refused = runs.values(point, measure), runs.refused(point, measure)
    worst = -math.inf if runs.plan.sweep.mechanism.measures[measure].better == "higher" else math.inf
    return {seed: worst if seed in refused else known.get(seed, math.nan) for seed in runs.seeds}


def values_of(runs: RunSet, point: PlannedPoint, measure: str) -> dict[int, float]:
    """Return the values by seed, infinite ones included; seeds without a value are left out."""
    return {seed: value for seed, value in runs.values(point, measure).items() if not math.isnan(value)}


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
