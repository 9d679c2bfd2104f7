"""The cases that claims are made of: points of a sweep that are better, better by a trend, not worse by more than a
margin, in a band.

Margins were registered with a date before anything was run on the seeds that judge. A margin is never changed: another
one makes another claim, with an id of its own. A test holds this table's digest.

Counted cases are of circuits as a synthesizer makes them; those figures come with the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import Counts, shipped, synthesised
from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.number_text import number
from workbench.runs.run import PlannedPoint
from workbench.statistics import (
    Band,
    Finding,
    compare,
    equivalent,
    fact,
    median_within,
    pair,
    ratio_within,
    some,
    superior,
)
from workbench.statistics.comparisons import by_seed, compared, measure_of

ALL = float("inf")
BETTER = "better on average and on most seeds"


def better(runs: Results, first: PlannedPoint, other: PlannedPoint, measure: str, about: str = "") -> Finding:
    """Return the case that a measure is better of one point than of a baseline: on average over the paired seeds, and
    on most of the seeds that differ."""
    comparison = compared(runs, first, other, measure)
    unit = "x" if comparison.is_ratio else None
    return of(runs, superior(_named(about, measure), BETTER, comparison), measure, unit)


def worthwhile(runs: Results, first: PlannedPoint, other: PlannedPoint, measure: str, about: str = "") -> Finding:
    """Return the case that a measure is better, against which a gain below the least effect of the measure speaks.

    Against it, the point is worse than a baseline that is better by the least effect: on average, and on most seeds.

    Raises
    ------
    InputError
        The measure is not compared by ratios, in which the least effect is a share.
    """
    case, declared = better(runs, first, other, measure, about), measure_of(runs, measure)
    if declared.compared_by != "ratio" or declared.least is None:
        raise InputError(f"a gain of at least the least effect is judged of ratios alone, and {measure} has none.")
    gained = 1 + declared.least
    gained = 1 / gained if declared.better == "lower" else gained
    sides = (
        {seed: gained * value for seed, value in by_seed(runs, first, measure).items()},
        by_seed(runs, other, measure),
    )
    least = compare(*sides, better=declared.better, compared_by="ratio")  # type: ignore[arg-type]
    statement = f"{BETTER}; against it: by less than {100 * declared.least:g} %"
    return case._replace(statement=statement, p_against=superior("", "", least).p_against)


def of(runs: Results, case: Finding, measure: str, unit: str | None = None) -> Finding:
    """Return the case with its measure, the unit of its estimate, and the sweep whose runs it rests on."""
    unit = unit_of(runs, measure) if unit is None else unit
    return case._replace(measure=measure, unit=unit, results=runs.plan.sweep.name)


def always_better(runs: Results, first: PlannedPoint, other: PlannedPoint, measure: str, about: str = "") -> Finding:
    """Return the case that a measure is better of one point than of a baseline in every run: counted, and no matter of
    luck."""
    comparison = compared(runs, first, other, measure)
    note = f"better in {comparison.wins} of {comparison.n} runs, worse in {comparison.losses}"
    whole = comparison.n > 0 and comparison.wins == comparison.n
    finding = fact(
        _named(about, measure), "better in every run", whole, estimate=comparison.size.mean, n=comparison.n, note=note
    )
    return of(runs, finding, measure, "x" if comparison.is_ratio else None)


def all_better(
    runs: Results, first: PlannedPoint, other: PlannedPoint, measures: Sequence[str], about: str
) -> list[Finding]:
    """Return a case for each of several measures, every one of which is better."""
    return [better(runs, first, other, measure, about) for measure in measures]


def either_better(
    runs: Results,
    first: PlannedPoint,
    other: PlannedPoint,
    measures: Sequence[str],
    about: str,
    judge: Callable[..., Finding] = better,
) -> Finding:
    """Return the case that one of several measures is better, told from luck by their number; shown is the one that
    speaks for it most.

    Parameters
    ----------
    judge : function
        Of one measure: `better`, or `worthwhile`.
    """
    parts = [judge(runs, first, other, measure) for measure in measures]
    finding = some(about, "", parts)
    statement = next(part.statement for part in parts if part.measure == finding.measure)
    return finding._replace(statement=f"most of {', '.join(measures)}: {statement}")


def no_worse(
    runs: Results, first: PlannedPoint, other: PlannedPoint, measure: str, margin: float, about: str = ""
) -> Finding:
    """Return the case that a measure of which less is better is higher than the baseline's by less than a margin (one
    one-sided test)."""
    statement = f"{measure} over the baseline's is below {1 + margin:g}"
    return ratio(runs, first, other, measure, (-ALL, 1 + margin), statement, about)


def ratio(
    runs: Results, first: PlannedPoint, other: PlannedPoint, measure: str, band: Band, statement: str, about: str = ""
) -> Finding:
    """Return the case that the ratio of a point to a baseline, seed by seed, lies within a band in its median (two
    one-sided tests). Where something was refused the value is the worst there is."""
    worst = 0.0 if runs.plan.sweep.mechanism.measures[measure].better == "higher" else math.inf
    ours, theirs = (
        finite(runs, p, measure) | dict.fromkeys(runs.refused(p, measure) | runs.hung(p, measure), worst)
        for p in (other, first)
    )
    upper, lower = ([one[seed] for seed in ours if seed in theirs] for one in (ours, theirs))
    finding = equivalent(_named(about, measure), statement, ratio_within(upper, lower, band))
    return of(runs, finding._replace(missing=len(runs.seeds) - len(upper)), f"{measure} over the baseline's", "")


def differs_by(
    runs: Results, first: PlannedPoint, other: PlannedPoint, measure: str, band: Band, statement: str, about: str = ""
) -> Finding:
    """Return the case that a measure of a point less a baseline's, seed by seed, lies within a band in its median (two
    one-sided tests)."""
    ours, theirs = finite(runs, other, measure), finite(runs, first, measure)
    pairs = pair(theirs, ours) if ours.keys() & theirs.keys() else pair([], [])
    differences = 0.0 - pairs.differences()
    finding = equivalent(_named(about, measure), statement, median_within(differences, band))
    missing = len(runs.seeds) - len(differences)
    return of(runs, finding._replace(missing=missing), f"{measure} less the baseline's", unit_of(runs, measure))


def falling(runs: Results, points: Mapping[int, PlannedPoint], measure: str, about: str = "") -> Finding:
    """Return the case that a measure falls from point to point: the slope of its line over the doublings of a lever is
    below 0.

    Parameters
    ----------
    points : mapping from the lever's value to its point
        Two or more values above zero. A seed has a slope of its own, none where the measure is not defined at them all.
    """
    by_value = {value: finite(runs, p, measure) for value, p in points.items()}
    finding = _trend(by_value, measure, about, len(runs.seeds))
    return of(runs, finding, f"fall of {measure} a doubling", unit_of(runs, measure))


def gain_falls(
    runs: Results, pairs: Mapping[int, tuple[PlannedPoint, PlannedPoint]], measure: str, about: str = ""
) -> Finding:
    """Return the case that a point's gain over its baseline, as a share of the baseline, falls from pair to pair.

    Parameters
    ----------
    pairs : mapping from the lever's value to a baseline and a point
        As in `falling`.
    """
    sign = -1.0 if runs.plan.sweep.mechanism.measures[measure].better == "lower" else 1.0
    gains = {value: _gains(runs, *pair, measure, sign) for value, pair in pairs.items()}
    finding = _trend(gains, f"gain in {measure}", about, len(runs.seeds))
    return of(runs, finding, f"fall of the gain in {measure} a doubling", "share of the baseline")


def _gains(runs: Results, first: PlannedPoint, other: PlannedPoint, measure: str, sign: float) -> dict[int, float]:
    ours, theirs = finite(runs, other, measure), finite(runs, first, measure)
    return {seed: sign * (ours[seed] / theirs[seed] - 1) for seed in ours if theirs.get(seed)}


def _trend(by_value: Mapping[int, Mapping[int, float]], what: str, about: str, count: int) -> Finding:
    """Return the case that the slope of values by seed over the doublings of a lever is below 0."""
    results = [*by_value.values()]
    seeds = [seed for seed in results[0] if all(seed in values for values in results)]
    doublings = np.log2(np.array([*by_value], float))
    apart = doublings - doublings.mean()
    slopes = {seed: float(apart @ [values[seed] for values in results] / (apart @ apart)) for seed in seeds}
    fall = compare(dict.fromkeys(seeds, 0.0), slopes, names=("no trend", f"{what} a doubling"), better="lower")
    means = [np.mean([values[seed] for seed in seeds]) if seeds else np.nan for values in results]
    means_text = ", ".join(f"{value:g}: {number(float(mean))}" for value, mean in zip(by_value, means, strict=True))
    finding = superior(_named(about, what), f"falls a doubling; its means are {means_text}", fall)
    return finding._replace(missing=count - len(seeds))


def _named(about: str, measure: str) -> str:
    return f"{about}, {measure}" if about else measure


def point(runs: Results, **displayed: Any) -> PlannedPoint:
    """Return the point whose coordinates end in the given names and have the given values.

    Raises
    ------
    InputError
        There is no such point, or more than one.
    """
    matches = [p for p in runs.points if all(_coordinate(p, name) == value for name, value in displayed.items())]
    if len(matches) != 1:
        raise InputError(f"{len(matches)} points of the sweep have {displayed}; one is needed.")
    return matches[0]


def _coordinate(p: PlannedPoint, name: str) -> Any:
    return next((value for path, value in p.coordinates.items() if path.rsplit(".", 1)[-1] == name), None)


def unit_of(runs: Results, measure: str) -> str:
    """Return the unit of a measure."""
    return str(runs.plan.sweep.mechanism.measures[measure].unit)


def finite(runs: Results, p: PlannedPoint, measure: str) -> dict[int, float]:
    """Return a measure by seed where it is defined."""
    return {seed: value for seed, value in runs.values(p, measure).items() if math.isfinite(value)}


class Margin(NamedTuple):
    """A number that decides whether something counts as equal, as worse, as bounded."""

    value: float
    since: str
    """The date of its registration."""
    says: str


MARGINS: dict[str, Margin] = {
    "H1.5 halves": Margin(0.05, "2026-11-22", "low half over high half of grants within 1 give or take this"),
    "H1.6 ends": Margin(0.02, "2026-11-22", "share of low grants within one half give or take this"),
    "H2.8 same": Margin(0.01, "2026-11-22", "any leader within this share of the first"),
    "H3.1 first priority": Margin(0.10, "2026-11-22", "by what share the highest priority may wait longer"),
    "H3.5 p99": Margin(1.5, "2026-11-22", "a bounded 99th percentile grows less in a run four times as long"),
    "H3.5 maximum": Margin(2.0, "2026-11-22", "a bounded maximum grows less in a run four times as long"),
    "H3.5 unbounded": Margin(2.0, "2026-11-22", "an unbounded wait grows more in a run four times as long"),
    "H3.9b clock": Margin(1.10, "2026-11-22", "what counts as a higher clock: ten per cent, not one gate level in 515"),
    "H3.10 negligible": Margin(0.01, "2026-11-22", "share of dispatches that may be lost"),
    "H3.12 slower": Margin(0.01, "2026-11-22", "by what share the same queue may take longer"),
    "H4.3 local": Margin(0.01, "2026-11-22", "what the share of local hits may lose and count as not lower"),
    "H4.7 nothing": Margin(0.05, "2026-11-22", "cycles of a miss that count as nothing"),
    "H5.11b grows": Margin(1.1, "2026-11-22", "how many times as long clients of the real service wait, likewise"),
    "H5.11 grows": Margin(1.1, "2026-11-22", "how many times as long eight clients wait, if it is a bottleneck"),
    "H6.1 slices": Margin(
        0.05, "2026-11-22", "makespan of slices with large pages over that with small ones, 1 +- this"
    ),
    "H6.2 additive": Margin(0.01, "2026-11-22", "share of the makespan that two mechanisms may gain beyond the sum"),
    "H6.2 quarter": Margin(
        0.25, "2026-11-27", "what two mechanisms may gain beyond the sum, as a share of the smaller gain alone"
    ),
    "H7.2 signs": Margin(0.1, "2026-11-29", "share of pairs and mixes in which the sign of a difference turns"),
}


def margin(name: str) -> float:
    """Return a registered margin.

    >>> margin("H1.6 ends")
    0.02
    """
    return MARGINS[name].value


FLIP_FLOP_DELAY = 3.0
"""What a register takes of a cycle, in FO4 (clock to output and set-up): a modeling assumption."""


@lru_cache(maxsize=256)
def counts(policy: Any, size: Any) -> Counts:
    """Return the figures of a policy's circuit, synthesized. They come with the package, whichever synthesizer is
    installed, so that a verdict is the same everywhere and at once; a shared probe of 128 blocks takes minutes.

    Raises
    ------
    WorkbenchError
        They do not come with the package, and no synthesizer is installed.
    """
    circuit = circuit_of(policy, size)
    return shipped(circuit, None) or synthesised(circuit)


def area(*circuits: tuple[Any, Any]) -> float:
    """Return the area of several circuits in NAND gates of two inputs, given a policy and a size each.

    >>> from workbench.policies.probes import GroupedRun
    >>> area((GroupedRun(groups=4), 16), (GroupedRun(groups=8), 16))
    120.5
    """
    return sum(counts(policy, size).relative_area for policy, size in circuits)


def cycle(policy: Any, size: Any) -> float:
    """Return the shortest cycle of a circuit between registers, in FO4."""
    return counts(policy, size).relative_delay + FLIP_FLOP_DELAY


def smaller(case: str, one: float, other: float, note: str) -> Finding:
    """Return the case that one area is smaller than another; the estimate is the share that is saved."""
    finding = fact(case, "smaller as synthesised", one < other, estimate=1 - one / other, note=note)
    return finding._replace(measure="area saved", unit="share of the other's")
