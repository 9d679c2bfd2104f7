"""The table of measures below the panels: both sides' means, their median difference, better and worse seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from workbench.dashboards._elements import escaped, in_unit
from workbench.experiments.run_set import RunSet
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import Pairs, compare, pair


def measures_table(runs: RunSet, names: Sequence[str], points: Sequence[PlannedPoint]) -> str:
    """Return the table as HTML: one row a measure that is defined on both sides, the baseline's and the other's.

    Means and median differences are over the seeds at which both are defined; a difference above 0 is for the better.
    """
    sides = map(escaped, names)
    head = "".join(
        f"<th>{word}</th>" for word in ("measure", *sides, "median difference, 95 % interval", "better / worse")
    )
    body = "".join(_rows(runs, points))
    return f'<table class="wb-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _rows(runs: RunSet, points: Sequence[PlannedPoint]) -> Iterator[str]:
    for name, measure in runs.plan.sweep.mechanism.measures.items():
        values = [_finite(runs, point, name) for point in points]
        if values[0].keys() & values[1].keys():
            pairs = pair(*values)
            means = "".join(f"<td>{in_unit(side.mean(), measure.unit)}</td>" for side in (pairs.baseline, pairs.other))
            named = f'<td title="{escaped(measure.description)}">{_named(measure)}</td>'
            yield f"<tr>{named}{means}{_difference(pairs, measure)}</tr>"


def _finite(runs: RunSet, point: PlannedPoint, name: str) -> dict[int, float]:
    return {seed: value for seed, value in runs.values(point, name).items() if math.isfinite(value)}


def _named(measure: Measure) -> str:
    arrow = {"lower": "↓", "higher": "↑", "neither": ""}[measure.better]
    return f"{escaped(measure.label)} {arrow}".rstrip()


def _difference(pairs: Pairs, measure: Measure) -> str:
    if measure.better == "neither":
        return "<td></td><td></td>"
    gained = pairs.differences() if measure.better == "lower" else -pairs.differences()
    interval = compare(pairs.baseline, pairs.other, better=measure.better).interval
    clear = "better" if interval.above(0) else "worse" if interval.below(0) else "even"
    low, mean, high = (in_unit(value, measure.unit) for value in (interval.low, interval.mean, interval.high))
    limits = f" [{low}, {high}]" if math.isfinite(interval.low) else ""
    counted = f"{(gained > 0).sum()} / {(gained < 0).sum()}"
    return f'<td class="wb-{clear}">{mean}{limits}</td><td>{counted}</td>'
