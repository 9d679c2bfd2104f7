"""The runs that a bundle lists, compared with those that its sweep plans here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.experiments.kept_points import not_run, planned_points, sweep_without_code, with_kept_measures
from workbench.experiments.named_code import code_problem
from workbench.experiments.needed_packages import missing_packages
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.provenance import kept_provenance
from workbench.experiments.results import Results
from workbench.experiments.results_folder import SWEEP
from workbench.experiments.sweep import Sweep, read_config, read_sweep
from workbench.export._cells import Place
from workbench.export._comparison import Change
from workbench.export.content import ROWS, plan_of_manifest
from workbench.mechanisms.measures import WithUserMeasures, measures_of, of_setup
from workbench.mechanisms.mechanism import is_known
from workbench.mechanisms.user_measure import UserMeasure
from workbench.metrics.measure import Measure
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint, run_id
from workbench.statistics.adaptive_seeds import settled
from workbench.strict_yaml import read_mapping


class KeptRuns(NamedTuple):
    """The runs that a bundle lists, compared with those that its sweep plans here."""

    planned: Plan
    """The runs of its sweep, as this machine reads them."""
    unread: list[str]
    """Why some points cannot be read here, one sentence each."""
    plan: Plan
    """The same runs under the names of the manifest: what the rows belong to."""
    places: list[Place] | None
    """The points as the manifest names them, where some cannot be read here; else they are named again."""
    problems: list[Change]
    not_executed: list[str]
    """Why code that the sweep names was not executed here; empty if all of it was, or if there is none."""


def kept_runs(folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Row]) -> KeptRuns:
    """Read the sweep of a bundle and give its rows their points.

    Where the ids of the points are others here (another version of Python or of an engine, an edited policy), rows stay
    with the points that the manifest names; that they differ is a problem of its own.

    Raises
    ------
    InputError
        The sweep cannot be read at all.
    """
    problem = code_problem(folder / SWEEP)
    not_executed = [f"{problem} No run of that code was done again."] if problem else []
    unread = [problem] if problem else []
    try:
        made = (
            _plan_without_code(folder, manifest, rows, unread)
            if problem
            else make_plan(_sweep(folder, manifest), unread)
        )
    except InputError as unreadable:
        raise InputError(_missing(folder) or str(unreadable)) from None
    if unread and not problem and (missing := _missing(folder)):
        unread = [missing]
    planned = plan_of_manifest(made, manifest)
    problems = list(_misnamed(manifest, rows))
    if {point.id for point in planned.points} == {*manifest["points"]} and not unread:
        return KeptRuns(planned, unread, settled(Results(planned, rows.values())), None, problems, not_executed)
    points = _as_named(manifest, planned)
    if not unread:
        problems.append(_other_points(manifest, planned))
    plan = settled(Results(Plan(planned.sweep, points), rows.values()))
    whole = all(point.setup is not None for point in points)
    return KeptRuns(planned, unread, plan, None if whole else _places(manifest, points), problems, not_executed)


def _missing(folder: Path) -> str:
    """Return a sentence about the packages of a bundle that are not installed here; empty if all are."""
    runs = kept_provenance(folder).get("runs")
    return missing_packages(runs) if isinstance(runs, dict) else ""


def _sweep(folder: Path, manifest: Mapping[str, Any]) -> Sweep:
    """Return the sweep under the name that it had, with the measures that there were, also those that nothing defines
    here."""
    config, *_ = read_config(folder / SWEEP)
    engine = str(config.get("engine"))
    defined = {**of_setup(engine), **measures_of(engine).all()} if is_known(engine) else {}
    own = {
        name: UserMeasure(Measure(name, **facts), not_run)
        for name, facts in manifest.get("own_measures", {}).items()
        if name not in defined and name in config.get("measures", [name])
    }
    if not own and config.get("measures"):
        return read_sweep(folder / SWEEP)._replace(name=manifest["sweep"])
    here = {"measures": [name for name in config["measures"] if name not in own]} if config.get("measures") else {}
    sweep = read_sweep(folder / SWEEP, here)._replace(name=manifest["sweep"])
    known = WithUserMeasures(sweep.mechanism.measures, own)
    return sweep._replace(
        mechanism=sweep.mechanism._replace(measures=known),
        known_user_measures={**sweep.known_user_measures, **own},
        measures=[name for name in manifest["measures"] if name in known],
    )


def _plan_without_code(folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Row], unread: list[str]) -> Plan:
    """Return the points that need none of the code that the sweep names; `unread` takes a sentence for each other."""
    config, seeds = read_mapping(folder / SWEEP), sorted({row.seed for row in rows.values()}) or [0]
    sweep = sweep_without_code(config, folder / SWEEP, seeds)._replace(name=manifest["sweep"])
    return Plan(with_kept_measures(sweep, config, manifest.get("own_measures")), planned_points(sweep, unread))


def _as_named(manifest: Mapping[str, Any], planned: Plan) -> list[PlannedPoint]:
    """Return the points of the manifest, each with the setup that has its id here, or else its coordinates."""
    here = {key: place for place, point in enumerate(planned.points) for key in (point.id, _name(point.coordinates))}
    points: list[tuple[int | None, PlannedPoint]] = []
    for id, entry in manifest["points"].items():
        place = here.get(id, here.get(_name(entry["coordinates"])))
        setup = None if place is None else planned.points[place].setup
        points.append((place, PlannedPoint(id, setup, entry["coordinates"], entry["baseline"])))  # type: ignore[arg-type]
    return [point for _, point in _in_order(points)]


def _in_order(points: list[tuple[int | None, PlannedPoint]]) -> list[tuple[int | None, PlannedPoint]]:
    """Return the points as they are listed, unless those that are known here are not in the order of their plan."""
    known = [place for place, _ in points if place is not None]
    last = len(points)
    return points if known == sorted(known) else sorted(points, key=lambda one: last if one[0] is None else one[0])


def _name(coordinates: Mapping[str, Any]) -> str:
    return json.dumps(coordinates, sort_keys=True, default=str)


def _places(manifest: Mapping[str, Any], points: list[PlannedPoint]) -> list[Place]:
    """Return the places setting by setting, as figures and tables show them."""
    entries = manifest["points"]
    settings = list(dict.fromkeys(entries[point.id]["setting"] for point in points))
    named = [Place(entries[point.id]["setting"], entries[point.id]["policy"], point) for point in points]
    return sorted(named, key=lambda place: settings.index(place.setting))


def _other_points(manifest: Mapping[str, Any], planned: Plan) -> Change:
    here, there = [point.id for point in planned.points], [*manifest["points"]]
    missing = [id for id in here if id not in manifest["points"]]
    more = [id for id in there if id not in here]
    number = here.index(missing[0]) if missing else there.index(more[0])
    first = (ids[0] if ids else "nothing" for ids in (more, missing))
    return Change(SWEEP, f"the id of point {number + 1}", "", *first)


def _misnamed(manifest: Mapping[str, Any], rows: Mapping[str, Row]) -> list[Change]:
    """Return the rows whose id is not that of their point and seed, or whose point the bundle does not know."""
    changes = []
    for row in rows.values():
        if row.point not in manifest["points"]:
            changes.append(Change(ROWS, row.id, "point_id", row.point, "no point of manifest.json"))
        elif run_id(row.point, row.seed) != row.id:
            changes.append(Change(ROWS, row.id, "run_id", row.id, run_id(row.point, row.seed)))
    return changes
