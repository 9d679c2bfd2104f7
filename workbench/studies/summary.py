"""The summary of a sweep: per point and measure the mean and the paired difference to the baseline, with intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.studies.adaptive.schedule import looks_of
from workbench.studies.statistics import Looks, PairedComparison, compare, holm, mean_interval
from workbench.studies.values import by_seed

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95


def summary(runs: RunSet) -> pd.DataFrame:
    """One row a point and measure.

    Columns: one a varied lever; measure; n; mean, low, high (95 %, Student's t); and, against the baseline at the same
    seeds, `difference` with `difference_low`, `difference_high` (positive = better than the baseline), `saving` (the
    difference over the baseline's mean), `better` and `worse` (how many seeds), `pairs` (seeds that both have) and
    `missing` (seeds that one or both lack), `p` (Wilcoxon) and `p_holm` (corrected over the whole table). Without a
    pair there is no test: the row has no p and is no member of the family. With adaptive seeds all intervals and
    p-values answer for every scheduled look (`Looks`).
    """
    import pandas as pd

    rows = [_row(runs, point, name) for name in runs.plan.sweep.measures for point in runs.points]
    tested = {k: row["p"] for k, row in enumerate(rows) if not math.isnan(row.get("p", math.nan))}
    for k, p_adjusted in holm(tested).items():
        rows[k]["p_holm"] = p_adjusted
    return pd.DataFrame(rows)


def _row(runs: RunSet, point: PlannedPoint, name: str) -> dict[str, Any]:
    values = [value for value in runs.values(point, name).values() if math.isfinite(value)]
    interval = mean_interval(values, level=looks_of(runs.plan.sweep).level(LEVEL))
    named = {path: point.coordinates.get(path) for path in runs.varied}
    shown = {**named, "measure": name, "n": len(values)}
    return {**shown, "mean": interval.mean, "low": interval.low, "high": interval.high, **_against(runs, point, name)}


def _against(runs: RunSet, point: PlannedPoint, name: str) -> dict[str, Any]:
    found = comparison(runs, point, name)
    if found is None:
        return {}
    counts = {"pairs": found.n, "missing": len(found.missing)}
    if not found.n:
        return counts
    return {
        "difference": found.interval.mean,
        "difference_low": found.interval.low,
        "difference_high": found.interval.high,
        "saving": found.saving.mean,
        "better": found.wins,
        "worse": found.losses,
        **counts,
        "p": found.p_value,
    }


def comparison(runs: RunSet, point: PlannedPoint, name: str) -> PairedComparison | None:
    """A point compared with its baseline on one measure, None where it has no baseline or no direction is better."""
    baseline = runs.baseline_of(point)
    better = runs.plan.sweep.mechanism.measures[name].better
    if baseline is None or better == "neither":
        return None
    names = runs.label(baseline), runs.label(point)
    looks = looks_of(runs.plan.sweep)
    sides = by_seed(runs, baseline, name), by_seed(runs, point, name)
    return _repeated(compare(*sides, names=names, better=better, level=looks.level(LEVEL)), looks)


def _repeated(found: PairedComparison, looks: Looks) -> PairedComparison:
    """The comparison with p-values that answer for every look."""
    tests = {name: getattr(found, name) for name in ("wilcoxon", "sign", "permutation")}
    return found._replace(**{n: test._replace(p_value=looks.p_value(test.p_value)) for n, test in tests.items()})
