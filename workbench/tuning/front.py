"""The front of a study: its points on fresh seeds, the one to take, and a sweep file for each.

Each point of a front is a sweep file of its own, which runs it beside the baseline on seeds that no trial has seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import yaml

from workbench.experiments.results_folder import write_own, write_whole
from workbench.experiments.run_set import RunSet
from workbench.experiments.saved_results import named, shortest
from workbench.experiments.sweep import KEYS, relative_to, with_files
from workbench.metrics.measure import Measure
from workbench.number_text import number
from workbench.runs.run import PlannedPoint
from workbench.statistics import Interval, PairedComparison, compare, holm, mean_interval
from workbench.statistics.comparisons import by_seed
from workbench.tuning.objectives import Costs, Objective, costs_of
from workbench.tuning.study import Study, Trial

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
        self.kept = [not self.broken(point, holdout) for point in self.points]
        """Of each point, whether it keeps every constraint in the mean over the hold-out seeds."""
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
        return with_files(sweep.config, sweep.folder, lambda path: str(path.resolve()))

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
        means = ", ".join(f"{name} {number(mean, 5)}" for name, mean in zip(names, self.means[place], strict=True))
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
            for k, row in enumerate(rows):
                row["beats_baseline"] = bool(row.get("feasible", True)) and beats[k] < 1 - LEVEL
        return pd.DataFrame(rows)

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
        infinite where a value is, or where something was refused."""
        return _interval(self._holdout, point, objective.measure)

    def broken(self, point: PlannedPoint, runs: RunSet) -> list[str]:
        """Return the bounds that a point does not keep in the mean over the seeds of some runs, each with its mean."""
        means = [(one, _interval(runs, point, one.measure).mean) for one in self._constraints]
        beyond = [(mean, one.broken_by(mean)) for one, mean in means if not one.kept_by(mean)]
        return [
            f"{bound} (its mean is {number(mean)})" for mean, by in beyond for bound, far in by.items() if not far <= 0
        ]

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
        return self._compared(runs, baseline, point, objective)

    def between(self, start: int, end: int, objective: Objective) -> PairedComparison:
        """Return one place of the front against another on the hold-out seeds, seed by seed."""
        return self._compared(self._holdout, self.points[start], self.points[end], objective)

    def _compared(
        self, runs: RunSet, first: PlannedPoint, other: PlannedPoint, objective: Objective
    ) -> PairedComparison:
        sides = [by_seed(runs, one, objective.measure.name) for one in (first, other)]
        return compare(*sides, names=(self.name(first), self.name(other)), better=objective.better, level=LEVEL)

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
            row |= _ends(name, interval) | {f"{name}_tuned": tuned}
            if (paired := self.comparison(point, objective)) is not None:
                row |= _ends(f"{name}_difference", paired.interval) | {f"{name}_p_holm": paired.p_value}
                row["pairs"] = min(row.get("pairs", paired.n), paired.n)
                row["missing"] = max(row.get("missing", 0), len(paired.missing))
        for constraint, tuned in zip(self._constraints, trial.limits, strict=True):
            name = constraint.measure.name
            row |= _ends(name, _interval(self._holdout, point, constraint.measure)) | {f"{name}_tuned": tuned}
        return row | ({"feasible": self.kept[k]} if self._constraints else {})


def _interval(runs: RunSet, point: PlannedPoint, measure: Measure) -> Interval:
    return mean_interval([v for v in by_seed(runs, point, measure.name).values() if not math.isnan(v)], level=LEVEL)


def _ends(name: str, interval: Interval) -> dict[str, float]:
    return {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}


BEST: str = "best.yaml"
POINTS = "front"
"""The file of the one point to take, and the folder with a file for each point of the front."""


def point_sweep(study: Study, trial: Trial, seeds: list[int]) -> dict[str, Any]:
    """Return the sweep of one trial: what it chose, the study's workload and baseline, some of its fresh seeds.

    Policies may be values, as they were given in Python; paths of files are absolute.
    """
    config = {key: value for key, value in study.config.items() if key in KEYS}
    config |= {key: value for key, value in trial.proposal.config.items() if value}
    config |= {"seeds": shortest(seeds), "measures": study.sweep.measure_names()}
    ordered = {key: config[key] for key in KEYS if key in config}
    return with_files(ordered, study.sweep.folder, lambda path: str(path.resolve()))


def file_of(trial: Trial) -> str:
    """Return the name of a trial's file in the folder of the front's points."""
    return f"trial_{trial.number}.yaml"


def keep_points(front: Front, best: Mapping[str, Any], folder: Path) -> None:
    """Write a sweep file for each point of a front, and the one for the point to take; those of an earlier front go."""
    points = folder / POINTS
    points.mkdir(exist_ok=True)
    texts = {
        file_of(trial): _text(front.heading(place), front[place], points / file_of(trial))
        for place, trial in enumerate(front.trials)
    }
    for name, text in texts.items():
        write_whole(points / name, text)
    for path in points.glob("trial_*.yaml"):
        if path.name not in texts:
            path.unlink()
    write_own(folder / BEST, _text(front.heading(front.chosen), best, folder / BEST))


def _text(heading: str, sweep: Mapping[str, Any], file: Path) -> str:
    """Return a sweep file with a heading that says what it is of; it names files from its own folder."""
    config = with_files(named(dict(sweep)), Path(), relative_to(file.parent))
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    return f"# {heading}\n# In the folder of this file: workbench run {file.name}\n{text}"


def compromise(costs: Sequence[Costs]) -> int:
    """Return the place of the point that is nearest to the best of every objective; the first one wins a tie.

    Each objective is scaled from its best to its worst value of these points, so that no unit counts more than another.
    With one objective that is the best point.

    Parameters
    ----------
    costs : sequence of costs
        At least one; a point with a cost that is not finite comes last.

    Examples
    --------
    >>> compromise([(0.0, 9.0), (2.0, 2.0), (9.0, 0.0)]), compromise([(3.0,), (1.0,), (2.0,)])
    (1, 1)
    """
    values = np.array(costs, float)
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        return 0
    low, span = values[known].min(axis=0), np.ptp(values[known], axis=0)
    far = np.full(len(values), math.inf)
    far[known] = np.linalg.norm((values[known] - low) / np.where(span > 0, span, 1.0), axis=1)
    return int(np.argmin(far))


def on_front(costs: np.ndarray) -> np.ndarray:
    """Return whether each row is on the front of all rows: bool[points]; equal rows are on it together.

    >>> on_front(np.array([[1, 5], [2, 4], [2, 5], [1, 5]]))
    array([ True,  True, False,  True])
    """
    result = np.ones(len(costs), bool)
    for k, row in enumerate(costs):
        result[k] = not ((costs <= row).all(axis=1) & (costs < row).any(axis=1)).any()
    return result
