"""What a page can be opened with: a sweep file, a results folder, or the front of a tuning study."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any, NamedTuple

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, StoreError
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.results import Results
from workbench.experiments.saved_results import open_folder
from workbench.experiments.setups import with_preset
from workbench.experiments.sweep import read_sweep
from workbench.figures.labels import LineNames
from workbench.runs.run import PlannedPoint
from workbench.strict_yaml import read_mapping
from workbench.tuning import StudyResults, open_study
from workbench.tuning.holdout import front_sweep
from workbench.tuning.storages import JOURNAL

FRONT = "front.csv"
"""What a tuning study keeps of its best points."""


class SavedPoint(NamedTuple):
    """One point and what it is compared with."""

    label: str
    baseline: Setup
    other: Setup
    values: tuple[float, ...]
    """The mean of each of the measures; NaN where it was not run."""
    id: str = ""
    """Of the point in its plan."""

    def differs_in(self, slot: str) -> bool:
        """Return whether the two sides have another policy in a slot."""
        return bool(self.baseline.policies[slot] != self.other.policies[slot])


class SavedSweep(NamedTuple):
    """A sweep with what is known of it."""

    engine: str
    title: str
    machine: Any
    """As the sweep says it; None where it varies."""
    seeds: int
    measures: tuple[str, ...]
    """The labels of the first two measures, with their units."""
    points: list[SavedPoint]
    study: Path | None = None
    """The results folder of the study that these points are the front of."""

    @property
    def differing(self) -> list[str]:
        """Return the slots in which a point differs from what it is compared with."""
        slots = [slot for one in self.points for slot in one.other.policies if one.differs_in(slot)]
        return list(dict.fromkeys(slots))


def read_saved(name: str) -> SavedSweep:
    """Read what a page is to be opened with.

    Raises
    ------
    InputError
        The file is no sweep, or a study that has not been tuned yet; or code of the folder was not run.
    StoreError
        The folder holds no results.
    """
    path = Path(name)
    if (path / JOURNAL).is_file():
        return _saved_study(name, path)
    if path.is_dir():
        return _saved(_with_code(open_folder(path)), _title(name, path), path)
    if "objectives" in read_mapping(path):
        raise InputError(f"{name}: is a study; tune it (workbench tune {name}), then open its results folder.")
    return _saved(Results(make_plan(read_sweep(path)), []), name, None)


def _saved_study(name: str, folder: Path) -> SavedSweep:
    """Read the front of a study; of one that is tuned just now, or was stopped, the front so far."""
    results = open_study(folder)
    if (folder / FRONT).is_file():
        return _of_study(_saved(_with_code(open_folder(folder)), _title(name, folder), folder), results, folder)
    if not results.best_trials:
        raise StoreError(f"{name}: the study has no trial yet that could be shown; open it again when it has.")
    sweep = front_sweep(results.study, [trial.proposal for trial in results.best_trials])
    saved = _saved(Results(make_plan(sweep), []), f"{name} (the front of a study so far)", None)
    return _of_study(saved, results, folder)


def _of_study(saved: SavedSweep, results: StudyResults, folder: Path) -> SavedSweep:
    """Return the points of a front, each with the name of its trial in front of what it chose."""
    names = {trial.point: trial.name for trial in results.best_trials}
    points = [one._replace(label=f"{names[one.id]}: {one.label}") if one.id in names else one for one in saved.points]
    return saved._replace(points=points, study=folder)


def _with_code(runs: Results) -> Results:
    """Return the runs of a folder; refuse a shard, and those whose code was not run, as a page simulates."""
    runs.check_whole()
    if runs.code_notes:
        raise InputError(f"a page simulates the runs that it shows: {runs.code_notes[0]}")
    return runs


def _title(name: str, folder: Path) -> str:
    return f"{name} (the front of a study)" if (folder / FRONT).is_file() else name


def _saved(runs: Results, title: str, folder: Path | None) -> SavedSweep:
    sweep, names = runs.plan.sweep, LineNames(runs)
    measures = _objectives(folder) or sweep.measures[:2]
    known = sweep.mechanism.measures
    pairs = _pairs(runs.plan)
    points = [
        SavedPoint(
            _point_label(runs, names, point), *pair, tuple(_mean(runs, point, name) for name in measures), point.id
        )
        for point, pair in pairs
    ]
    engine, machine = sweep.mechanism.engine, sweep.config.get("machine") or {}
    return SavedSweep(
        engine.name,
        title,
        None if "vary" in str(machine) else with_preset(engine.machine, machine, sweep.folder, sweep.where),
        len(sweep.seeds),
        tuple(known[name].label for name in measures),
        points,
    )


def _objectives(folder: Path | None) -> list[str]:
    """Return the first two objectives of a study whose front lies in a folder; none of a sweep's results."""
    if folder is None or not (folder / FRONT).is_file():
        return []
    with (folder / FRONT).open(newline="") as file:
        columns = next(csv.reader(file), [])
    return [name.removesuffix("_tuned") for name in columns if name.endswith("_tuned")][:2]


def _pairs(plan: Plan) -> list[tuple[PlannedPoint, tuple[Setup, Setup]]]:
    """Return the points that are compared with a baseline, with both setups; without any, each with the first."""
    by_id = {point.id: point for point in plan.points}
    compared = [point for point in plan.points if point.baseline in by_id and point.baseline != point.id]
    if compared:
        return [(point, (by_id[str(point.baseline)].setup, point.setup)) for point in compared]
    first = plan.points[0].setup
    return [
        (point, (first if _same_but_policies(first, point.setup) else point.setup, point.setup))
        for point in plan.points
    ]


def _same_but_policies(one: Setup, another: Setup) -> bool:
    """Return whether two setups differ in policies alone."""
    return all(getattr(one, part) == getattr(another, part) for part in ("machine", "workload", "options"))


def _point_label(runs: Results, names: LineNames, point: PlannedPoint) -> str:
    return runs.label(point) or names.of(point)


def _mean(runs: Results, point: PlannedPoint, measure: str) -> float:
    values = [value for value in runs.values(point, measure).values() if math.isfinite(value)]
    return sum(values) / len(values) if values else math.nan
