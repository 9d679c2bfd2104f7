"""The kinds of case that claims are made of: better, better by a trend, not worse by more than a margin, in a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.evidence import compared, finite
from workbench.studies.statistics import Finding, compare, equivalent, equivalent_ratio, every, superior
from workbench.studies.statistics.equivalence import Band

ALL = float("inf")


def better(runs: RunSet, first: PlannedPoint, other: PlannedPoint, measure: str, about: str = "") -> Finding:
    """A measure is better of one point than of a baseline, in the mean over the paired seeds."""
    return superior(_named(about, measure), "mean gain", compared(runs, first, other, measure))


def all_better(runs: RunSet, first: PlannedPoint, other: PlannedPoint, measures: Sequence[str], about: str) -> Finding:
    """Every one of several measures is better."""
    return weakest(about, [better(runs, first, other, measure) for measure in measures])


def weakest(about: str, parts: Sequence[Finding]) -> Finding:
    """Everything holds; the statement names the part that is shown."""
    found = every(about, "", parts)
    shown = next(part for part in parts if part.interval == found.interval and part.estimate == found.estimate)
    return found._replace(statement=f"{shown.statement}; {shown.id} is the weakest of {len(parts)}")


def no_worse(
    runs: RunSet, first: PlannedPoint, other: PlannedPoint, measure: str, margin: float, about: str = ""
) -> Finding:
    """A measure of which less is better is higher than the baseline's by less than a margin (one one-sided test)."""
    statement = f"{measure} over the baseline's is below {1 + margin:g}"
    return ratio(runs, first, other, measure, (-ALL, 1 + margin), statement, about)


def ratio(
    runs: RunSet, first: PlannedPoint, other: PlannedPoint, measure: str, band: Band, statement: str, about: str = ""
) -> Finding:
    """The ratio of a point's mean to a baseline's, seed by seed, lies within a band (two one-sided tests)."""
    ours, theirs = finite(runs, other, measure), finite(runs, first, measure)
    seeds = [seed for seed in ours if seed in theirs]
    result = equivalent_ratio([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds], band)
    return equivalent(_named(about, measure), statement, result)


def falling(runs: RunSet, points: Mapping[int, PlannedPoint], measure: str, about: str = "") -> Finding:
    """A measure falls from point to point: the slope of its line over the doublings of a lever is below 0.

    Parameters
    ----------
    points : mapping from the lever's value to its point
        Two or more values above zero. A seed has a slope of its own, none where the measure is not defined at them all.
    """
    found = [finite(runs, point, measure) for point in points.values()]
    seeds = [seed for seed in found[0] if all(seed in values for values in found)]
    doublings = np.log2(np.array([*points], float))
    apart = doublings - doublings.mean()
    slopes = {seed: float(apart @ [values[seed] for values in found] / (apart @ apart)) for seed in seeds}
    fall = compare(dict.fromkeys(seeds, 0.0), slopes, names=("no trend", f"{measure} a doubling"), better="lower")
    means = [np.mean([values[seed] for seed in seeds]) if seeds else np.nan for values in found]
    shown = ", ".join(f"{value:g}: {mean:.4g}" for value, mean in zip(points, means, strict=True))
    statement = f"falls a doubling; its means are {shown}"
    return superior(_named(about, measure), statement, fall)


def _named(about: str, measure: str) -> str:
    return f"{about}, {measure}" if about else measure
