"""Where does the claim hold? Every place of a region with its verdict, corrected over all places together."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from workbench.errors import InputError, unknown_name
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.metrics.measure import Measure
from workbench.studies.statistics import Interval, PairedComparison, false_discovery, holm
from workbench.studies.summary import comparison

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
