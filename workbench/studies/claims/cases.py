"""The kinds of case that claims are made of: better, better by a trend, not worse by more than a margin, in a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.claims.evidence import compared, finite
from workbench.studies.statistics import (
    Finding,
    compare,
    equivalent,
    equivalent_mean,
    equivalent_ratio,
    every,
    superior,
)
from workbench.studies.statistics.equivalence import Band
from workbench.studies.statistics.finding import weakest_of

ALL = float("inf")


def better(runs: RunSet, first: PlannedPoint, other: PlannedPoint, measure: str, about: str = "") -> Finding:
    """A measure is better of one point than of a baseline, in the mean over the paired seeds."""
    return superior(_named(about, measure), "mean gain", compared(runs, first, other, measure))


def all_better(runs: RunSet, first: PlannedPoint, other: PlannedPoint, measures: Sequence[str], about: str) -> Finding:
    """Every one of several measures is better."""
    return weakest(about, [better(runs, first, other, measure) for measure in measures])


def weakest(about: str, parts: Sequence[Finding]) -> Finding:
    """Everything holds; the statement names the part that is shown."""
    found, shown = every(about, "", parts), weakest_of(parts)
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
    return equivalent(_named(about, measure), statement, result)._replace(missing=len(runs.seeds) - len(seeds))


def differs_by(
    runs: RunSet, first: PlannedPoint, other: PlannedPoint, measure: str, band: Band, statement: str, about: str = ""
) -> Finding:
    """A measure of a point less a baseline's, seed by seed, lies within a band (two one-sided tests)."""
    ours, theirs = finite(runs, other, measure), finite(runs, first, measure)
    differences = [ours[seed] - theirs[seed] for seed in ours if seed in theirs]
    found = equivalent(_named(about, measure), statement, equivalent_mean(differences, band))
    return found._replace(missing=len(runs.seeds) - len(differences))


def falling(runs: RunSet, points: Mapping[int, PlannedPoint], measure: str, about: str = "") -> Finding:
    """A measure falls from point to point: the slope of its line over the doublings of a lever is below 0.

    Parameters
    ----------
    points : mapping from the lever's value to its point
        Two or more values above zero. A seed has a slope of its own, none where the measure is not defined at them all.
    """
    return _trend({value: finite(runs, p, measure) for value, p in points.items()}, measure, about, len(runs.seeds))


def gain_falls(
    runs: RunSet, pairs: Mapping[int, tuple[PlannedPoint, PlannedPoint]], measure: str, about: str = ""
) -> Finding:
    """How much better a point is than its baseline, as a share of the baseline, falls from pair to pair.

    Parameters
    ----------
    pairs : mapping from the lever's value to a baseline and a point
        As in `falling`.
    """
    sign = -1.0 if runs.plan.sweep.mechanism.measures[measure].better == "lower" else 1.0
    gains = {value: _gains(runs, *pair, measure, sign) for value, pair in pairs.items()}
    return _trend(gains, f"gain in {measure}", about, len(runs.seeds))


def _gains(runs: RunSet, first: PlannedPoint, other: PlannedPoint, measure: str, sign: float) -> dict[int, float]:
    ours, theirs = finite(runs, other, measure), finite(runs, first, measure)
    return {seed: sign * (ours[seed] / theirs[seed] - 1) for seed in ours if theirs.get(seed)}


def _trend(by_value: Mapping[int, Mapping[int, float]], what: str, about: str, count: int) -> Finding:
    """The slope of values by seed over the doublings of a lever is below 0."""
    found = [*by_value.values()]
    seeds = [seed for seed in found[0] if all(seed in values for values in found)]
    doublings = np.log2(np.array([*by_value], float))
    apart = doublings - doublings.mean()
    slopes = {seed: float(apart @ [values[seed] for values in found] / (apart @ apart)) for seed in seeds}
    fall = compare(dict.fromkeys(seeds, 0.0), slopes, names=("no trend", f"{what} a doubling"), better="lower")
    means = [np.mean([values[seed] for seed in seeds]) if seeds else np.nan for values in found]
    shown = ", ".join(f"{value:g}: {mean:.4g}" for value, mean in zip(by_value, means, strict=True))
    finding = superior(_named(about, what), f"falls a doubling; its means are {shown}", fall)
    return finding._replace(missing=count - len(seeds))


def _named(about: str, measure: str) -> str:
    return f"{about}, {measure}" if about else measure
