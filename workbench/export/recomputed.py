"""Compute what a bundle holds from its own table of runs, at the points that its manifest names.

Runs whose records a figure asks for are simulated again, and counted. What no run gives, such as versions, is compared
with `provenance.json`, which holds the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, WorkbenchError
from workbench.experiments.checked_rows import Checked
from workbench.experiments.origins import origins_of
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.results_folder import PROVENANCE, SWEEP
from workbench.experiments.run_set import RunSet
from workbench.experiments.sweep import Sweep, read_sweep, said_by
from workbench.export.bundle import FORMAT, MANIFEST, digest_of, drawn_with, plain
from workbench.export.cells import Place
from workbench.export.comparison import PICTURES, Change, changed_values, changes, compared_pictures, redrawn
from workbench.export.content import MAIN, OF_SETUPS, ROWS, Content, content, in_order, shown_plan
from workbench.export.drawings import FIGURES, Drawing, recipe_of
from workbench.export.inputs import INPUTS
from workbench.export.tex import style
from workbench.figures.registry import FIGURES as KNOWN
from workbench.mechanisms.measures import WithOwn, measures_of, of_setup
from workbench.mechanisms.mechanism import mechanisms
from workbench.mechanisms.user_measure import OwnMeasure
from workbench.metrics.measure import Measure
from workbench.runs.origin import environment
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint, run_id
from workbench.statistics.adaptive_seeds import settled

RECOMPUTED, REDRAWN, READ, YOURS = "recomputed", "redrawn", "read", "yours"
"""What was done with a file: computed from the runs; drawn anew; what the runs are done from; a researcher's own."""
_ELSEWHERE = 1e-12
"""How far a mean may be from the same mean on another machine or with other packages; here it is the same bits."""


class Computed(NamedTuple):
    """What came of a bundle's files."""

    changes: list[Change]
    files: dict[str, str]
    """What was done with every file; one that could not be computed by the reason why its digest alone was compared."""
    simulated: int
    """How many runs were simulated for figures that show more than measures."""
    notes: list[str]
    """What the tables say of missing runs and of origins."""


class _Figures(NamedTuple):
    drawn: list[Drawing]
    refused: dict[str, str]
    skipped: dict[str, str]
    """Figures that are not computed, with the reason."""
    simulated: int


def compute(
    folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Row], kept: KeptRuns, figures: bool
) -> Computed:
    """Recompute every table, macro and figure of a bundle from its rows and compare cell by cell.

    Parameters
    ----------
    figures : bool
        Whether runs are simulated for figures that show more than measures, and pictures drawn again.
    """
    slack = 0.0 if _same_machine(folder) else _ELSEWHERE
    drawn_figures = _figures(manifest, rows, kept, figures)
    runs = in_order(Replayed(kept.plan, rows.values(), False))
    columns = manifest["columns"]
    now = content(runs, manifest["style"], drawn_figures.drawn, drawn_figures.refused, kept.places, columns)
    now = now._replace(texts={name: text for name, text in now.texts.items() if name not in _unknown(kept)})
    files, results = {**dict(_given(manifest, drawn_figures)), **_unknown(kept)}, []
    for name, text in now.texts.items():
        done, differing = _of_text(folder, manifest, name, text, slack)
        files[name] = done
        results.extend(differing)
    results.extend(_of_manifest(manifest, now, kept, slack))
    results.extend(unlike_provenance(folder, manifest, rows))
    if figures:
        results.extend(
            _pictures(folder, manifest, [one for one in drawn_figures.drawn if one.data is not None], slack, files)
        )
    return Computed(
        results, dict(sorted(files.items())), drawn_figures.simulated, [*now.manifest["notes"], *_checked(manifest)]
    )


def _checked(manifest: Mapping[str, Any]) -> list[str]:
    """Return what the bundle says of its rows of code of the user's own: how many were checked."""
    facts = manifest.get("checked")
    return [] if facts is None else Checked(**{**facts, "reasons": tuple(facts["reasons"])}).sentences


def _unknown(kept: KeptRuns) -> dict[str, str]:
    """Return what cannot be computed as long as a policy, a workload or a machine cannot be read here, and why."""
    if all(point.setup is not None for point in kept.plan.points):
        return {}
    return dict.fromkeys(OF_SETUPS, f"points cannot be read here: {kept.unread[0]}" if kept.unread else "points differ")


def _figures(manifest: Mapping[str, Any], rows: Mapping[str, Row], kept: KeptRuns, allowed: bool) -> _Figures:
    runs = Replayed(kept.plan, sorted(rows.values(), key=lambda row: row.id), allowed)
    result = _Figures([], {}, {}, 0)
    for name in runs.plan.sweep.figures:
        recipe, data = _recipe(manifest, runs, name), None
        if isinstance(recipe, Absent):
            result.skipped[name] = "it is drawn by a figure of the user's that is not defined here"
        elif kept.places is not None:
            result.skipped[name] = f"points cannot be read here: {kept.unread[0]}" if kept.unread else "points differ"
        else:
            try:
                data = recipe.data(runs)
            except NotSimulatedError as problem:
                result.skipped[name] = str(problem)
            except InputError as problem:
                result.refused[name] = str(problem)
                continue
        if data is not None or f"{FIGURES}/{name}.pdf" in manifest["figures"]:
            result.drawn.append(Drawing(recipe, data, style(manifest["style"]).figures(manifest["columns"])))
        else:
            result.refused[name] = manifest["figures_left_out"].get(name, "")
    return result._replace(simulated=runs.simulated)


class Absent(NamedTuple):
    """Stands for a figure of the user's that nothing defines here."""

    name: str
    description: str
    built_in: bool = False


def _recipe(manifest: Mapping[str, Any], runs: RunSet, name: str) -> Any:
    own = manifest.get("own_figures", {})
    return Absent(name, own[name]) if name in own and name not in KNOWN else recipe_of(runs, name)


def _given(manifest: Mapping[str, Any], figures: _Figures) -> Iterator[tuple[str, str]]:
    """Yield what is to be said of every file that is not computed."""
    for name in manifest["files"]:
        stem, suffix = Path(name).stem, Path(name).suffix
        if name == SWEEP or name.startswith(f"{INPUTS}/"):
            yield name, READ
        elif name == PROVENANCE:
            yield name, "it says when and where the runs were made, which nothing computes"
        elif name.startswith(f"{FIGURES}/") and stem in figures.skipped:
            yield name, figures.skipped[stem]
        elif suffix in PICTURES:
            yield name, "pictures were not drawn (--no-figures)"
        else:
            yield name, "this version writes no such file"


def _of_text(folder: Path, manifest: Mapping[str, Any], name: str, text: str, slack: float) -> tuple[str, list[Change]]:
    try:
        message = (folder / name).read_bytes().decode("utf-8", "backslashreplace")
    except OSError:
        return RECOMPUTED, [Change(name, "", "", "nothing (no such file)", f"{len(text.splitlines())} lines")]
    if name == MAIN and message != text and digest_of(folder / name) != manifest["files"].get(name):
        return YOURS, []
    return RECOMPUTED, list(changes(name, message, text, slack))


def _of_manifest(manifest: Mapping[str, Any], now: Content, kept: KeptRuns, slack: float) -> Iterator[Change]:
    config = {
        key: value
        for key, value in manifest.items()
        if key not in ("files", "drawn_with", "needs", "selected", "checked")
    }
    recomputed = plain({"format": FORMAT, **now.manifest})
    for id, point in recomputed["points"].items():
        if point["identity"] is None and id in config["points"]:
            point["identity"] = config["points"][id]["identity"]
    yield from changed_values(MANIFEST, config, recomputed, slack)
    for name in now.texts:
        if name not in manifest["files"]:
            yield Change(MANIFEST, "files", name, "nothing", "a digest")


def _pictures(
    folder: Path, manifest: Mapping[str, Any], drawn: list[Drawing], slack: float, files: dict[str, str]
) -> Iterator[Change]:
    """Compare the pictures; those that another machine or Matplotlib drew otherwise say so in `files`."""
    here, there = drawn_with()["matplotlib"], str(manifest.get("drawn_with", {}).get("matplotlib"))
    now = {name: picture for name, picture in redrawn(drawn, manifest["files"]).items() if (folder / name).is_file()}
    for name, alike in compared_pictures(folder, now).items():
        if alike:
            files[name] = REDRAWN
        elif here == there and not slack:
            files[name] = REDRAWN
            yield Change(name, "", "", "another picture", "the picture of its data")
        else:
            files[name] = (
                f"it was drawn with Matplotlib {there}; here is {here}"
                if here != there
                else "it was drawn on another machine, or where other packages are"
            )
    for name in manifest["files"]:
        if Path(name).suffix == ".pgf" and name not in now:
            files[name] = "it takes a TeX to draw it"
    for name in (f"{FIGURES}/{one.name}.pdf" for one in drawn):
        if not (folder / name).is_file():
            yield Change(name, "", "", "nothing (no such file)", "the picture of its data")


def _same_machine(folder: Path) -> bool:
    """Return whether what computes here is what computed there: then every mean has the same bits."""
    try:
        there = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))["export"]
        here = environment()
        return all(there[key] == here[key] for key in ("python", "machine", "packages"))
    except (OSError, ValueError, KeyError, TypeError):
        return False


class NotSimulatedError(WorkbenchError):
    """A figure asks for the record of a run, which is not to be simulated."""


class Replayed(RunSet):
    """The runs of a bundle; `simulated` counts the runs that figures asked for."""

    def __init__(self, plan: Plan, rows: Iterable[Row], allowed: bool) -> None:
        super().__init__(plan, rows)
        self.simulated = 0
        self._allowed = allowed

    def record(self, run: str, events: bool = False) -> Any:
        """Return the record of a run, simulated here and now."""
        self._count()
        return super().record(run, events)

    def records(self, point: PlannedPoint, most: int | None = None) -> list[Any]:
        """Return the records of a point's finished runs, simulated here and now."""
        self._count(0)
        result = super().records(point, most)
        self._count(len(result))
        return result

    def _count(self, more: int = 1) -> None:
        if not self._allowed:
            raise NotSimulatedError("it shows what happened in runs, which were not simulated (--no-figures)")
        self.simulated += more


def unlike_provenance(folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Row]) -> Iterator[Change]:
    """Yield what the manifest says otherwise of the sweep's name, origins, what is needed, and what drew the pictures.

    A file that is not there, or no such one, is told by its digest.
    """
    try:
        there = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        recorded: dict[str, Any] = {"origins": _untimed(there["runs"]["origins"])}
        recorded |= {key: there["runs"][key] for key in ("sweep",) if key in there["runs"]}
        made = there["export"]
        recorded |= {key: made[key] for key in ("needs", "drawn_with") if key in made}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    config: dict[str, Any] = {"origins": _untimed(one.plain() for one in origins_of(rows.values()))}
    config |= {key: manifest.get(key) for key in recorded if key != "origins"}
    yield from changed_values(MANIFEST, config, recorded)


def _untimed(origins: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return origins without how long their runs took, which a bundle's rows do not say."""
    return [{name: fact for name, fact in origin.items() if name != "seconds"} for origin in origins]


class KeptRuns(NamedTuple):
    """What a bundle says was run, beside what its sweep asks for here."""

    planned: Plan
    """The runs of its sweep, as this machine reads them."""
    unread: list[str]
    """Why some points cannot be read here, one sentence each."""
    plan: Plan
    """The same runs under the names of the manifest: what the rows belong to."""
    places: list[Place] | None
    """The points as the manifest names them, where some cannot be read here; else they are named anew."""
    problems: list[Change]


def kept_runs(folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Row]) -> KeptRuns:
    """Read the sweep of a bundle and give its rows their points.

    Where the ids of the points are others here (another version of Python or of an engine, an edited policy), rows stay
    with the points that the manifest names; that they differ is a problem of its own.

    Raises
    ------
    InputError
        The sweep cannot be read at all.
    """
    unread: list[str] = []
    sweep = _sweep(folder, manifest)
    planned = shown_plan(make_plan(sweep, unread), manifest)
    problems = list(_misnamed(manifest, rows))
    if {point.id for point in planned.points} == {*manifest["points"]} and not unread:
        return KeptRuns(planned, unread, settled(RunSet(planned, rows.values())), None, problems)
    points = _as_named(manifest, planned)
    if not unread:
        problems.append(_other_points(manifest, planned))
    plan = settled(RunSet(Plan(planned.sweep, points), rows.values()))
    whole = all(point.setup is not None for point in points)
    return KeptRuns(planned, unread, plan, None if whole else _places(manifest, points), problems)


def _sweep(folder: Path, manifest: Mapping[str, Any]) -> Sweep:
    """Return the sweep under the name that it had, with the measures that there were, also those that nothing defines
    here."""
    config, *_ = said_by(folder / SWEEP)
    engine = config.get("engine")
    defined = {**of_setup(engine), **measures_of(engine)} if engine in mechanisms() else {}
    own = {
        name: OwnMeasure(Measure(name, **facts), absent)
        for name, facts in manifest.get("own_measures", {}).items()
        if name not in defined and name in config.get("measures", [name])
    }
    if not own and config.get("measures"):
        return read_sweep(folder / SWEEP)._replace(name=manifest["sweep"])
    here = {"measures": [name for name in config["measures"] if name not in own]} if config.get("measures") else {}
    sweep = read_sweep(folder / SWEEP, here)._replace(name=manifest["sweep"])
    known = WithOwn(sweep.mechanism.measures, own)
    return sweep._replace(
        mechanism=sweep.mechanism._replace(measures=known),
        known_own={**sweep.known_own, **own},
        measures=[name for name in manifest["measures"] if name in known],
    )


def absent(record: Any) -> float:
    """Stand for a measure of the user's that nothing defines here."""
    raise InputError("it is not defined here.")


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
