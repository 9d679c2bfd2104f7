"""Blame: how much less a measure is where one kind of delay is removed, all numbers by chance kept (spec 6, section 7).

Each kind of delay of a group's time (spec 6, R18) is removed by itself, in runs of their own with the same seeds: the
workload is the same to the bit, and what follows from the removal follows. Blames therefore do not add up to the time:
who waits no more for a walker may wait for a link instead, and then both are to blame for more than they took, or less.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import InputError, at, unknown_name
from workbench.experiments.results import Results
from workbench.experiments.sweep import Sweep, override
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import PairedComparison, Verdict, compare, judge, mean_interval
from workbench.statistics.comparisons import by_seed, values_of

if TYPE_CHECKING:
    import pandas as pd

LEVER = "options.without"
NOTHING = "nothing"


class Blame:
    """What each kind of delay costs."""

    def __init__(self, results: Results, measures: tuple[Measure, ...]) -> None:
        self.results = results
        """The runs behind it, as of any sweep."""
        self.measures = measures

    @functools.cached_property
    def table(self) -> pd.DataFrame:
        """Return one row a point of the sweep, measure and kind of delay, the heaviest of each point first.

        Columns are one a varied lever, `measure`, `part` (the kind of delay), `pairs` of seeds, and the `mean` of the
        measure with everything. `blame` is the mean change of it as the delay is removed, positive = better without.
        `low` and `high` are the ends of its 95 % interval, and `share` is the change over the mean with everything.
        `better` says in how many seeds it is better without. `p_alone` is of the change alone; `p_size` and
        `p_direction` are corrected over the table, and `verdict` is the word of both.
        """
        import pandas as pd

        rows = [row for measure in self.measures for row in _rows(self.results, measure)]
        verdicts = judge(dict(enumerate(paired for _, paired in rows)))
        return pd.DataFrame([{**row, **_tested(verdicts[k])} for k, (row, _) in enumerate(rows)])


def blame_sweep(sweep: Sweep, parts: tuple[str, ...] | None = None) -> Sweep:
    """Return the sweep of blame: everything, then each kind of delay removed.

    Parameters
    ----------
    parts : tuple of str, optional
        The kinds of delay; all of them if None.

    Raises
    ------
    InputError
        The engine knows no kinds of delay, there is no such kind, or the sweep removes some itself.
    """
    lever = sweep.mechanism.engine.options.levers.get("without")
    if lever is None:
        raise InputError(at(sweep.where, f"blame needs an engine whose groups wait for several things: node. Got "
                         f"{sweep.mechanism.engine.name}."))  # fmt: skip
    known = tuple(part for part in lever.choices if part != NOTHING)
    for part in parts or ():
        if part not in known:
            raise unknown_name(sweep.where, "kind of delay", part, known)
    if "without" in (sweep.config.get("options") or {}):
        raise InputError(at(sweep.where, f"blame varies {LEVER} itself; leave it out."))
    config = copy.deepcopy(sweep.config)
    override(config, LEVER, {"vary": [NOTHING, *(parts or known)]}, sweep.where)
    return sweep._replace(config=config)


def measures_of(sweep: Sweep, measure: str | None) -> tuple[Measure, ...]:
    """Return the measures that are looked at: one, or all of the sweep that have a better direction.

    Raises
    ------
    InputError
        There is no such measure, or no direction of it is better.
    """
    known: Mapping[str, Measure] = sweep.mechanism.measures
    if measure is not None and measure not in known:
        raise unknown_name(sweep.where, "measure", measure, known)
    chosen = tuple(
        known[name] for name in ([measure] if measure else sweep.measures) if known[name].better != "neither"
    )
    if not chosen:
        named = measure or ", ".join(sweep.measures)
        raise InputError(at(sweep.where, f"blame needs a measure of which less or more is better. Got {named}."))
    return chosen


def _rows(runs: Results, measure: Measure) -> Iterator[tuple[dict[str, Any], PairedComparison]]:
    """Yield the rows of a measure, point by point."""
    for point in runs.points:
        if _without(point) == NOTHING:
            others = [other for other in runs.points if _is_beside(other, point)]
            rows = [_row(runs, point, other, measure) for other in others]
            yield from sorted(rows, key=lambda row: -row[0]["blame"] if row[0]["pairs"] else math.inf)


def _without(point: PlannedPoint) -> str:
    """Return the kind of delay that a point is without."""
    return str(point.coordinates[LEVER])


def _is_beside(other: PlannedPoint, point: PlannedPoint) -> bool:
    """Return whether a point is another one without one kind of delay."""
    return _without(other) != NOTHING and _place(other) == _place(point)


def _place(point: PlannedPoint) -> dict[str, Any]:
    return {path: value for path, value in point.coordinates.items() if path != LEVER}


def _row(
    runs: Results, point: PlannedPoint, other: PlannedPoint, measure: Measure
) -> tuple[dict[str, Any], PairedComparison]:
    sides = by_seed(runs, point, measure.name), by_seed(runs, other, measure.name)
    better: Literal["lower", "higher"] = "higher" if measure.better == "higher" else "lower"
    paired = compare(*sides, names=(NOTHING, _without(other)), better=better)
    row = {
        **{path: point.coordinates.get(path) for path in runs.varied if path != LEVER},
        "measure": measure.name,
        "part": _without(other),
        "pairs": paired.n,
        "mean": mean_interval([*values_of(runs, point, measure.name).values()]).mean,
        "blame": paired.size.mean,
        "low": paired.size.low,
        "high": paired.size.high,
        "share": paired.size.mean / paired.baseline_mean if paired.baseline_mean > 0 else math.nan,
        "better": paired.wins,
        "p_alone": paired.p_alone,
    }
    return row, paired


def _tested(verdict: Verdict) -> dict[str, Any]:
    return {"p_size": verdict.p_size, "p_direction": verdict.p_direction, "verdict": verdict.word}
