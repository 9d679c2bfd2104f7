"""The front of a study: its points on fresh seeds, the one to take, and a sweep file for each.

Each point of a front is a sweep file of its own, which runs it and the baseline on seeds that no trial has seen.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import yaml

from workbench.experiments.results import Results
from workbench.experiments.results_folder import write_own, write_whole
from workbench.experiments.saved_results import named, shortest
from workbench.experiments.sweep import KEYS, relative_to, with_files
from workbench.number_text import number
from workbench.runs.run import PlannedPoint
from workbench.statistics import Interval, Verdict
from workbench.tuning.contrasts import Contrast, Decided, SettingRuns, decide
from workbench.tuning.objectives import Costs, Objective, costs_of
from workbench.tuning.study import Study, Trial

if TYPE_CHECKING:
    import pandas as pd


class Front(Sequence[dict[str, Any]]):
    """The trials that no other beats on the study's seeds, with their runs on fresh ones.

    As a sequence it has a sweep for each of them, with the baseline on fresh seeds, which `workbench.run` takes.
    """

    def __init__(self, study: Study, trials: Sequence[Trial], holdout: Results) -> None:
        """Take as `trials` the first trial of each point of the front, as `holdout` their runs and the baselines'."""
        self._study = study
        self.objectives, self._constraints, self._holdout = study.objectives, study.constraints, holdout
        self._runs = SettingRuns(holdout, study.workload_names)
        by_id = {point.id: point for point in holdout.points}
        self._tuned = {path.split(".")[1] for t in trials for path in t.proposal.chosen if path.startswith("policy.")}
        self.trials = list(trials)
        self.points = [by_id[trial.point] for trial in trials]
        """Of each trial its point, on the first workload."""
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

    @property
    def workloads(self) -> list[str]:
        """Return the names of the study's workloads."""
        return self._study.workload_names

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def sweep(self) -> dict[str, Any]:
        """Return the sweep over all points at once, with the baseline on fresh seeds, which `workbench.run` takes."""
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

        return pd.DataFrame([self._row(k) for k in range(len(self.points))])

    def by_workload(self) -> pd.DataFrame:
        """Return one row a point, workload and objective; `StudyResults.by_workload` names the columns."""
        import pandas as pd

        return pd.DataFrame([row for k in range(len(self.points)) for row in self._workload_rows(k)])

    @functools.cached_property
    def decided(self) -> dict[tuple[int, str], Decided]:
        """Return the result of every point against its baseline on the hold-out seeds, by its place and the objective.

        All of the front are corrected together; a point that is its own baseline has none.
        """
        contrasts = {
            (k, one.measure.name): contrast
            for k, point in enumerate(self.points)
            for one in self.objectives
            if (contrast := self.contrast(point, one)) is not None
        }
        return decide(contrasts)

    def beats_baseline(self, place: int) -> bool:
        """Return whether a point keeps the constraints and is better for sure in every objective."""
        decided = [self.decided.get((place, one.measure.name)) for one in self.objectives]
        return self.kept[place] and all(one is not None and one.verdict.word == "better" for one in decided)

    def name(self, point: PlannedPoint) -> str:
        """Return the policies that the study chooses between, with the levers that differ from their defaults."""
        chosen = [policy.short() for slot, policy in point.setup.policies.items() if slot in self._tuned]
        return ", ".join(chosen) or self._holdout.label(point)

    @property
    def first_points(self) -> list[PlannedPoint]:
        """Return one point for each setting of the hold-out runs, the baselines included."""
        return self._runs.first_points

    def interval(self, point: PlannedPoint, objective: Objective) -> Interval:
        """Return the mean of an objective on the hold-out seeds, over all workloads of the study."""
        return self._runs.interval(point, objective.measure)

    def broken(self, point: PlannedPoint, runs: Results) -> list[str]:
        """Return the bounds that a point does not keep in the mean over the seeds of some runs, each with its mean.

        Of several workloads the mean is of the one on which the point is farthest beyond the bound.
        """
        held = SettingRuns(runs, self._study.workload_names)
        means = [
            (one, one.worst([each.mean for each in held.intervals(point, one.measure)])) for one in self._constraints
        ]
        beyond = [(mean, one.broken_by(mean)) for one, mean in means if not one.kept_by(mean)]
        return [
            f"{bound} (its mean is {number(mean)})" for mean, by in beyond for bound, far in by.items() if not far <= 0
        ]

    def baseline_of(self, point: PlannedPoint) -> PlannedPoint | None:
        """Return the baseline of a point; None where the study names none."""
        return self._holdout.baseline_of(point)

    def contrast(self, point: PlannedPoint, objective: Objective, runs: Results | None = None) -> Contrast | None:
        """Return a point against its baseline on the hold-out seeds, or in other runs; None where there is no other to
        be held to."""
        runs = self._holdout if runs is None else runs
        baseline = runs.baseline_of(point)
        return None if baseline is None else self.against(baseline, point, objective, runs)

    def against(self, first: PlannedPoint, other: PlannedPoint, objective: Objective, runs: Results) -> Contrast:
        """Return one point against another in some runs, seed by seed."""
        held = SettingRuns(runs, self._study.workload_names)
        return held.contrast(first, other, objective, (self.name(first), self.name(other)))

    def between(self, start: int, end: int, objective: Objective) -> Contrast:
        """Return one place of the front against another on the hold-out seeds."""
        return self.against(self.points[start], self.points[end], objective, self._holdout)

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
            if (one := self.decided.get((k, name))) is not None:
                row |= _sizes(f"{name}_", one.verdict)
                row["pairs"] = min(row.get("pairs", one.verdict.of.n), one.verdict.of.n)
                row["missing"] = max(row.get("missing", 0), len(one.verdict.of.missing))
        for constraint, tuned in zip(self._constraints, trial.limits, strict=True):
            name = constraint.measure.name
            row |= _ends(name, self._runs.interval(point, constraint.measure)) | {f"{name}_tuned": tuned}
        row |= {"feasible": self.kept[k]} if self._constraints else {}
        return row | ({"beats_baseline": self.beats_baseline(k)} if self.decided else {})

    def _workload_rows(self, k: int) -> list[dict[str, Any]]:
        rows = []
        for objective in self.objectives:
            name = objective.measure.name
            intervals = self._runs.intervals(self.points[k], objective.measure)
            one = self.decided.get((k, name))
            for place, (workload, interval) in enumerate(zip(self._study.workload_names, intervals, strict=True)):
                row = {"trial": self.trials[k].number, "workload": workload, "objective": name, "n": interval.n}
                row |= _ends("mean", interval)
                if one is not None:
                    row |= _sizes("", [one.verdict, *one.members][place + bool(one.members)])
                rows.append(row)
        return rows


def _ends(name: str, interval: Interval) -> dict[str, float]:
    return {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}


def _sizes(prefix: str, verdict: Verdict) -> dict[str, Any]:
    """Return the columns of a comparison with the baseline."""
    needed = verdict.seeds_needed
    return {
        **_ends(f"{prefix}size", verdict.of.size),
        f"{prefix}verdict": verdict.word,
        f"{prefix}p": verdict.p,
        f"{prefix}seeds_needed": math.nan if needed is None else needed,
    }


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
