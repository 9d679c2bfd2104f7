"""The summary of a sweep: per point and measure the mean and the paired difference to the baseline, with intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.adaptive.schedule import looks_of
from workbench.studies.statistics import Interval, Looks, PairedComparison, compare, holm, point_mean
from workbench.studies.statistics.student import small_for_its_skew
from workbench.studies.values import by_seed, values_of

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95


def summary(runs: RunSet) -> pd.DataFrame:
    """Return one row a point and measure.

    Columns: one a varied lever; measure; n; `infinite` (how many of them are); mean, low, high (95 %); `note` (n too
    small for the skewness seen, an infinite mean); and, against the baseline at the same seeds, `difference` with
    `difference_low`, `difference_high` (positive = better than the baseline), what they are of (`estimand`: the mean
    difference, or what the sweep's `interval` names), `saving` (the difference over the baseline's mean), `better` and
    `worse` (how many seeds), `pairs` (seeds that both have) and `missing` (seeds that one or both lack), `p` (of the
    same estimand) and `p_holm` (corrected over the whole table, and of some points over all of their sweep). An
    infinite value is the worst, not a missing one: the mean is infinite, and the comparison is one of ranks. Without a
    pair there is no test: the row has no p and is no member of the family. With adaptive seeds all intervals and
    p-values answer for every scheduled look (`Looks`).
    """
    import pandas as pd

    rows = _every_row(runs)
    family = rows if runs.whole is None else _every_row(runs.whole)
    tested = {key: row["p"] for key, row in family.items() if not math.isnan(row.get("p", math.nan))}
    for key, p_adjusted in holm(tested).items():
        if key in rows:
            rows[key]["p_holm"] = p_adjusted
    return pd.DataFrame(list(rows.values()))


def _every_row(runs: RunSet) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows by measure and id of their point."""
    ids = [point.id for point in runs.points]
    return {
        (name, id): row for name in runs.plan.sweep.measures for id, row in zip(ids, _rows(runs, name), strict=True)
    }


def _rows(runs: RunSet, name: str) -> list[dict[str, Any]]:
    values = {point.id: [*values_of(runs, point, name).values()] for point in runs.points}
    seen = [value for one in values.values() for value in one if math.isfinite(value)]
    span = max(seen, default=0.0) - min(seen, default=0.0)
    return [_row(runs, point, name, values[point.id], span) for point in runs.points]


def _row(runs: RunSet, point: PlannedPoint, name: str, values: list[float], span: float) -> dict[str, Any]:
    sweep = runs.plan.sweep
    interval = point_mean(values, level=looks_of(sweep).level(LEVEL), span=span, method=sweep.interval)
    infinite = sum(map(math.isinf, values))
    note = (
        f"{infinite} of {len(values)} values are infinite, and so is the mean"
        if infinite
        else _equal_note(interval) or _skew_note(interval, values)
    )
    named = {path: point.coordinates.get(path) for path in runs.varied}
    row = {**named, "measure": name, "n": len(values), "infinite": infinite}
    ends = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    against = _against(runs, point, name)
    return {**row, **ends, **against, "note": note or against.get("note", "")}


def _equal_note(interval: Interval) -> str:
    """Return that a sample shows no spread, and what its limits are then; nothing of another."""
    if interval.method != "constant":
        return ""
    return f"{EQUAL} {interval.n} seeds; the limits bound those that were not seen"


EQUAL = "equal at all"
"""What the note of a sample without spread begins with."""


def _skew_note(interval: Interval, values: list[float]) -> str:
    return small_for_its_skew(np.array(values)) if interval.method == "t" else ""


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
        "better": paired.wins,
        "worse": paired.losses,
        **counts,
        "p": paired.p_value,
        "note": paired.skew_note,
    }


def comparison(runs: RunSet, point: PlannedPoint, name: str) -> PairedComparison | None:
    """Compare a point with its baseline on one measure, None where it has no baseline or no direction is better."""
    baseline = runs.baseline_of(point)
    better = runs.plan.sweep.mechanism.measures[name].better
    if baseline is None or better == "neither":
        return None
    names = runs.label(baseline), runs.label(point)
    looks = looks_of(runs.plan.sweep)
    sides = by_seed(runs, baseline, name), by_seed(runs, point, name)
    method = runs.plan.sweep.interval
    return _repeated(compare(*sides, names=names, better=better, level=looks.level(LEVEL), method=method), looks)


def _repeated(result: PairedComparison, looks: Looks) -> PairedComparison:
    """Return the comparison with p-values that answer for every look."""
    tests = {name: getattr(result, name) for name in ("primary", "wilcoxon", "sign", "permutation")}
    return result._replace(**{n: test._replace(p_value=looks.p_value(test.p_value)) for n, test in tests.items()})
