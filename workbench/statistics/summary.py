"""The summary of a sweep: per point and measure the mean, and what the comparison with the baseline shows.

`summary` is the table, with intervals; `where_it_holds` gives every place of a region its verdict, corrected over all
places together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics.comparisons import LEVEL, comparison, judged, values_of
from workbench.statistics.interval import Interval, mean_interval
from workbench.statistics.verdict import Verdict, judge

if TYPE_CHECKING:
    import pandas as pd


def summary(runs: Results) -> pd.DataFrame:
    """Return one row a point and measure.

    Columns are one a varied lever, `measure`, `n`, `infinite` (how many of them are), `mean`, `low` and `high` (95 %).
    Where there is a baseline, the same seeds are compared:

    - `compared_by` (ratio or difference) and `size` with `size_low` and `size_high`: the geometric mean of the ratios,
      above 1 = better, or the mean difference, above 0 = better. `mean_difference` stands in any case.
    - `better`, `worse` and `same` (at how many seeds), `pairs` (seeds that both have), `missing` (seeds that one or
      both lack), and `ended` (pairs of which neither is infinite).
    - `p_alone` of the size's t, of one look and one comparison. `p_size` and `p_direction` are corrected over all
      `comparisons` of the table; of some points over all of their sweep.
    - `verdict` (a word), `sure`, and `seeds_needed`: how many seeds tell the least effect. It is not a number where
      none is declared, and infinite above 100,000.

    An infinite value is the worst, not a missing one. Without a pair there is no test, and the row is no member of the
    family. `note` says what a mean rests on where that is little.
    """
    import pandas as pd

    verdicts = judged(runs).verdicts
    names = runs.plan.sweep.measures
    return pd.DataFrame(
        [_row(runs, point, name, verdicts.get((name, point.id))) for name in names for point in runs.points]
    )


def point_mean(runs: Results, point: PlannedPoint, name: str) -> Interval:
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
    low, high = 0.0, 1.0 if measure.is_share else math.inf
    return low if min(values, default=0) >= low else -math.inf, high if max(values, default=0) <= high else math.inf


def _row(runs: Results, point: PlannedPoint, name: str, verdict: Verdict | None) -> dict[str, Any]:
    interval = point_mean(runs, point, name)
    infinite = sum(map(math.isinf, values_of(runs, point, name).values()))
    note = f"{EQUAL} {interval.n} seeds" if interval.method == "constant" else ""
    if infinite:
        note = f"{infinite} of {interval.n} values are infinite, and so is the mean"
    named = {path: point.coordinates.get(path) for path in runs.varied}
    row = {**named, "measure": name, "n": interval.n, "infinite": infinite}
    ends = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    return {**row, **ends, **({} if verdict is None else _against(verdict)), "note": note}


EQUAL = "one value at all"
"""What the note of a sample without spread begins with."""


def _against(verdict: Verdict) -> dict[str, Any]:
    one = verdict.of
    counts = {"pairs": one.n, "missing": len(one.missing)}
    if not one.n:
        return {**counts, "verdict": verdict.word}
    needed = verdict.seeds_needed
    is_told = one.least is not None and one.n > 1 and not one.exact
    return {
        "compared_by": "ratio" if one.is_ratio else "difference",
        "size": one.size.mean,
        "size_low": one.size.low,
        "size_high": one.size.high,
        "mean_difference": mean_interval(one.differences).mean,
        "better": one.wins,
        "worse": one.losses,
        "same": one.ties,
        **counts,
        "ended": one.ended,
        "p_alone": one.p_alone,
        "p_size": verdict.p_size,
        "p_direction": verdict.p_direction,
        "comparisons": verdict.comparisons,
        "verdict": verdict.word,
        "sure": verdict.is_sure,
        "seeds_needed": (math.inf if needed is None else needed) if is_told else math.nan,
    }


class Place(NamedTuple):
    """One point of a sweep compared with its baseline."""

    point: PlannedPoint
    x: float
    y: float
    verdict: Verdict
    """Corrected over all places of the region, those of other panels included."""


def numbers(runs: Results) -> list[str]:
    """Return the dotted paths of the varied numbers of a sweep, in its order: those with two values at least."""
    values_by_path: dict[str, set[float]] = {}
    for path in runs.varied:
        values = [point.coordinates.get(path) for point in runs.points]
        if all(
            isinstance(value, (int, float)) and not isinstance(value, bool) for value in values if value is not None
        ):
            values_by_path[path] = {value for value in values if isinstance(value, (int, float))}
    return [path for path, values in values_by_path.items() if len(values) > 1]


def where_it_holds(runs: Results, measure: Measure, x: str, y: str, correction: str = "false_discovery") -> list[Place]:
    """Return every point that has both coordinates and a baseline, in the order of the sweep, with its verdict.

    Parameters
    ----------
    x, y : str
        The dotted paths of two varied numbers.
    correction : {"false_discovery", "holm"}
        `false_discovery` (Benjamini and Hochberg) bounds the expected share of false verdicts among all that are
        decided by 5 %; Holm the chance of any false verdict on the map.

    Raises
    ------
    InputError
        Neither less nor more of the measure is better, no point has a baseline, or the correction is unknown.
    """
    rows = [(point, comparison(runs, point, measure.name)) for point in runs.points if _has(point, x, y)]
    compared = {point.id: one for point, one in rows if one is not None}
    verdicts = judge(compared, correction)
    if not compared:
        raise InputError(
            f"where_it_holds compares points with a baseline by what is better, and there is none for {measure.name}."
        )
    return [
        Place(point, float(point.coordinates[x]), float(point.coordinates[y]), verdicts[point.id])
        for point, one in rows
        if one is not None
    ]


def _has(point: PlannedPoint, x: str, y: str) -> bool:
    return all(point.coordinates.get(path) is not None for path in (x, y))
