"""The front of a study as it did on fresh seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from workbench.experiments.named_files import with_files
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.metrics.measure import Measure
from workbench.studies.statistics import Interval, PairedComparison, compare, holm, mean_interval
from workbench.studies.tuning.compromise import compromise
from workbench.studies.tuning.hypervolume import on_front
from workbench.studies.tuning.objectives import Objective, costs_of
from workbench.studies.tuning.point_sweeps import point_sweep
from workbench.studies.tuning.study import Study
from workbench.studies.tuning.trial import Trial
from workbench.studies.values import by_seed, values_of

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95


class Front(Sequence[dict[str, Any]]):
    """The trials that no other beats on the study's seeds, with their runs on fresh ones.

    As a sequence it has a sweep for each of them, beside the baseline on fresh seeds, which `workbench.run` takes.
    """

    def __init__(self, study: Study, trials: Sequence[Trial], holdout: RunSet) -> None:
        """Take as `trials` the first trial of each point of the front, as `holdout` their runs and the baselines'."""
        self._study = study
        self.objectives, self._constraints, self._holdout = study.objectives, study.constraints, holdout
        by_id = {point.id: point for point in holdout.points}
        self._tuned = {path.split(".")[1] for t in trials for path in t.proposal.chosen if path.startswith("policy.")}
        self.trials = list(trials)
        self.points = [by_id[trial.point] for trial in trials]
        self.means = [[self.interval(point, one).mean for one in self.objectives] for point in self.points]
        self.kept = [self.keeps(point) for point in self.points]
        self.best = self._still_best()
        """Of each point, whether it keeps the constraints and none beats it on fresh seeds either."""

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        trials = self.trials[place]
        if isinstance(trials, Trial):
            return point_sweep(self._study, trials, self._study.holdout_seeds)
        return [point_sweep(self._study, trial, self._study.holdout_seeds) for trial in trials]

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def sweep(self) -> dict[str, Any]:
        """Return the sweep over all points at once, beside the baseline on fresh seeds, which `workbench.run` takes."""
        sweep = self._holdout.plan.sweep
        return with_files(sweep.said, sweep.folder, lambda path: str(path.resolve()))

    @property
    def chosen(self) -> int:
        """Return the place of the point to take where one must be: the nearest to the best of every objective.

        It is one that is still best on fresh seeds; where none keeps the constraints there, of all points.
        """
        places = [k for k, is_best in enumerate(self.best) if is_best] or [*range(len(self.means))]
        return places[compromise([costs_of(self.means[k], self.objectives) for k in places])]

    def heading(self, place: int) -> str:
        """Return a line that says which point of which study this is, and how it does on the hold-out seeds."""
        trial, names = self.trials[place], [one.measure.name for one in self.objectives]
        means = ", ".join(f"{name} {mean:.5g}" for name, mean in zip(names, self.means[place], strict=True))
        named = self.name(self.points[place])
        return f"Trial {trial.number} of the study {self._study.name}: {named} ({means} on the hold-out seeds)"

    def table(self) -> pd.DataFrame:
        """Return one row a point; `StudyResults.pareto` names the columns."""
        import pandas as pd

        rows = [self._row(k) for k in range(len(self.points))]
        tested = {(k, name): row[name] for k, row in enumerate(rows) for name in row if name.endswith("_p_holm")}
        for (k, name), p_value in holm({key: p for key, p in tested.items() if not math.isnan(p)}).items():
            rows[k][name] = p_value
        if tested:
            beats = holm({k: self._beating_p(point) for k, point in enumerate(self.points)})
            rows = [{**row, "beats_baseline": self._beats(row, beats[k])} for k, row in enumerate(rows)]
        return pd.DataFrame(rows)

    def _beats(self, row: dict[str, Any], p_adjusted: float) -> bool:
        """Return whether a point is better than its baseline in every objective, corrected over the front."""
        return bool(row.get("feasible", True)) and p_adjusted < 1 - LEVEL

    def _beating_p(self, point: PlannedPoint) -> float:
        """Return the p-value of being better in every objective: the largest of theirs, 1 where one is not better at
        all."""
        comparisons = [self.comparison(point, one) for one in self.objectives]
        clear = [one is not None and one.n > 0 and one.interval.mean > 0 for one in comparisons]
        return max(one.p_value for one in comparisons if one is not None) if all(clear) else 1.0

    def name(self, point: PlannedPoint) -> str:
        """Return the policies that the study chooses between, with the levers that differ from their defaults."""
        chosen = [policy.short() for slot, policy in point.setup.policies.items() if slot in self._tuned]
        return ", ".join(chosen) or self._holdout.label(point)

    def interval(self, point: PlannedPoint, objective: Objective) -> Interval:
        """Return the mean of an objective on the hold-out seeds; failed runs are left out, and `n` says so. It is
        infinite where a value is."""
        return _interval(self._holdout, point, objective.measure)

    def keeps(self, point: PlannedPoint) -> bool:
        """Return whether a point keeps every constraint in the mean over the hold-out seeds."""
        return not self.broken(point, self._holdout)

    def broken(self, point: PlannedPoint, runs: RunSet) -> list[str]:
        """Return the bounds that a point does not keep in the mean over the seeds of some runs, each with its mean."""
        means = [(one, _interval(runs, point, one.measure).mean) for one in self._constraints]
        beyond = [(mean, one.broken_by(mean)) for one, mean in means if not one.kept_by(mean)]
        return [f"{bound} (its mean is {mean:.4g})" for mean, by in beyond for bound, far in by.items() if not far <= 0]

    def baseline_of(self, point: PlannedPoint) -> PlannedPoint | None:
        """Return what a point is held to; None where the study names no baseline."""
        return self._holdout.baseline_of(point)

    def comparison(
        self, point: PlannedPoint, objective: Objective, runs: RunSet | None = None
    ) -> PairedComparison | None:
        """Return a point against its baseline on the hold-out seeds, or in other runs; None where there is no other to
        be held to."""
        runs = self._holdout if runs is None else runs
        baseline = runs.baseline_of(point)
        if baseline is None:
            return None
        values = [by_seed(runs, one, objective.measure.name) for one in (baseline, point)]
        return compare(*values, names=(self.name(baseline), self.name(point)), better=objective.better, level=LEVEL)

    def between(self, start: int, end: int, objective: Objective) -> PairedComparison:
        """Return one place of the front against another on the hold-out seeds, seed by seed."""
        points = [self.points[start], self.points[end]]
        values = [by_seed(self._holdout, one, objective.measure.name) for one in points]
        names = [self.name(one) for one in points]
        return compare(*values, names=(names[0], names[1]), better=objective.better, level=LEVEL)

    def _still_best(self) -> list[bool]:
        known = [k for k, row in enumerate(self.means) if self.kept[k] and all(map(math.isfinite, row))]
        best = on_front(np.array([costs_of(self.means[k], self.objectives) for k in known]))
        return [k in known and bool(best[known.index(k)]) for k in range(len(self.means))]

    def _row(self, k: int) -> dict[str, Any]:
        trial, point = self.trials[k], self.points[k]
        assert trial.values is not None
        row: dict[str, Any] = {"trial": trial.number, "policy": self.name(point), "best": self.best[k]}
        for objective, tuned in zip(self.objectives, trial.values, strict=True):
            name, interval = objective.measure.name, self.interval(point, objective)
            row["n"] = min(row.get("n", interval.n), interval.n)
            row |= _ends(name, interval) | {f"{name}_tuned": tuned, **self._against(point, objective)}
            row |= self._pairs(row, point, objective)
        for constraint, tuned in zip(self._constraints, trial.limits, strict=True):
            name = constraint.measure.name
            row |= _ends(name, _interval(self._holdout, point, constraint.measure)) | {f"{name}_tuned": tuned}
        return row | ({"feasible": self.kept[k]} if self._constraints else {})

    def _against(self, point: PlannedPoint, objective: Objective) -> dict[str, float]:
        paired, name = self.comparison(point, objective), objective.measure.name
        if paired is None:
            return {}
        ends = {f"{name}_difference_low": paired.interval.low, f"{name}_difference_high": paired.interval.high}
        return {f"{name}_difference": paired.interval.mean, **ends, f"{name}_p_holm": paired.p_value}

    def _pairs(self, row: dict[str, Any], point: PlannedPoint, objective: Objective) -> dict[str, int]:
        """Return on how many fresh seeds a point and its baseline are compared at least, and how many of them lack a
        pair."""
        paired = self.comparison(point, objective)
        if paired is None:
            return {}
        missing = max(row.get("missing", 0), len(paired.missing))
        return {"pairs": min(row.get("pairs", paired.n), paired.n), "missing": missing}


def _interval(runs: RunSet, point: PlannedPoint, measure: Measure) -> Interval:
    return mean_interval(list(values_of(runs, point, measure.name).values()), level=LEVEL)


def _ends(name: str, interval: Interval) -> dict[str, float]:
    return {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
