"""The runs of a results folder as they were kept, shown without the code that made them.

The code may be a stranger's, or it may have moved, so the points of a sweep that name it cannot be planned. Their
coordinates and baselines stand in the folder's provenance; of an older folder they follow from what its points are.
Points without such code are planned and read as ever.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.experiments.checked_rows import standing
from workbench.experiments.earlier_rows import version_of
from workbench.experiments.named_code import TEXTS, code_names
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.provenance import COORDINATES, OWN_MEASURES, kept_provenance
from workbench.experiments.results import Results
from workbench.experiments.results_folder import SWEEP
from workbench.experiments.shards import Shard
from workbench.experiments.store import Store
from workbench.experiments.sweep import Sweep, checked_sweep, without_former_keys
from workbench.mechanisms.measured_by import MeasuredBy, read_measured
from workbench.mechanisms.measures import WithUserMeasures
from workbench.mechanisms.user_measure import BETTER, UserMeasure
from workbench.metrics.measure import Measure
from workbench.parts import file_and_name, is_in_file
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint
from workbench.strict_yaml import read_mapping

NOT_CHECKED = "rows of that code are shown as kept: whether the code on disk still is what made them was not checked"


Entry = tuple[str, dict[str, Any], str | None]
"""The id of a point, its coordinates, and the id of its baseline."""


class NotRead:
    """Stands for the setup of a point whose code was not run: every question to it is refused by one sentence."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InputError(f"this needs the code of a point, which was not run: {self._problem}")


def kept_runs(folder: Path, problem: str) -> Results:
    """Return the runs that a folder holds, without executing the code that its sweep names.

    Parameters
    ----------
    problem : str
        Why the code is not executed, in a sentence.
    """
    config = without_former_keys(read_mapping(folder / SWEEP), str(folder / SWEEP))
    before = kept_provenance(folder)
    with closing(Store(folder, read_only=True)) as store:
        rows, identities, part = list(store.rows()), store.identities(), store.part
        seeds, made = sorted({row.seed for row in rows}) or [0], {row.point for row in rows}
        sweep = sweep_without_code(config, folder / SWEEP, seeds)
        whole = with_kept_measures(sweep, config, before.get(OWN_MEASURES))
        shard = None if part is None else part.shard
        points = _points(planned_points(sweep, [], shard), _entries(before, identities, made, config), made, problem)
        read = [point for point in points if point.setup]
        read_ids = {point.id for point in read}
        code_ids = {point.id for point in points} - read_ids
        as_kept = whole.known_user_measures.keys() - sweep.known_user_measures.keys()
        measured = sweep.measured_by()
        others = [_without_edited(row, measured, as_kept) for row in rows if row.point in read_ids]
        of_code = [row for row in rows if row.point in code_ids]
        others, checked = standing(Plan(sweep, read), store, others)
    wanted = {*whole.seeds}
    runs = Results(Plan(whole, points, part), [row for row in (*others, *of_code) if row.seed in wanted], folder)
    runs.checked, runs.code_notes = checked, [f"{problem.rstrip('.')}; {NOT_CHECKED}.", *_makers(of_code)]
    return runs


def _points(
    planned: Iterable[PlannedPoint], entries: Iterable[Entry], made: Iterable[str], problem: str
) -> list[PlannedPoint]:
    """Return the points that a folder shows, those that were planned with their setups.

    Parameters
    ----------
    made : iterable of str
        The ids of the points that have rows: a run that was stopped has noted none of them.
    """
    known, absent = {point.id: point for point in planned}, NotRead(problem)
    points = [
        PlannedPoint(id, known[id].setup if id in known else absent, coordinates, baseline)  # type: ignore[arg-type]
        for id, coordinates, baseline in entries
    ]
    unlisted = {*made} - {point.id for point in points}
    return [*points, *(point for id, point in known.items() if id in unlisted)]


def _makers(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a sentence about which version made how many rows, under which Python."""
    made = Counter((version_of(row.origin), _python(row.origin)) for row in rows)
    for (version, python), count in made.items():
        yield f"{count} rows of that code were made by workbench {version} under Python {python}."


def _python(origin: str) -> str:
    return str((json.loads(origin) if origin else {}).get("python", "unknown"))


def sweep_without_code(config: Mapping[str, Any], path: Path, seeds: list[int]) -> Sweep:
    """Return a sweep as far as it names no code for all of its points: its measures, figures and baseline.

    Parameters
    ----------
    path : path
        The file of the sweep.
    seeds : list of int
        Those that have rows: of a sweep whose number of seeds depends on a measure in a file.
    """
    plain = {key: value for key, value in config.items() if key != "baseline" or not code_names(value)}
    for key in ("measures", "figures"):
        if isinstance(plain.get(key), list):
            plain[key] = [one for one in plain[key] if not is_in_file(one)]
    if isinstance(least := plain.get("least_effect"), Mapping):
        unread = {_inside(one) for one in code_names([config.get("measures"), least])}
        plain["least_effect"] = {name: value for name, value in least.items() if _inside(name) not in unread}
    if code_names(plain.get("seeds")):
        plain["seeds"] = seeds
    return checked_sweep(_unnamed(plain), path.stem, str(path), path.parent.absolute())


def _unnamed(value: Any) -> Any:
    """Return a part of a sweep with a name that nothing has in place of each `FILE.py:NAME`: no file is looked for."""
    if isinstance(value, Mapping):
        return {_unnamed(key): inner if key in TEXTS else _unnamed(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unnamed(inner) for inner in value]
    return f"{_inside(value)} (not run)" if is_in_file(value) else value


def with_kept_measures(sweep: Sweep, config: Mapping[str, Any], facts: Any) -> Sweep:
    """Return a sweep of `sweep_without_code` that shows the kept cells of measures in files, and names their figures.

    Parameters
    ----------
    facts : mapping
        Unit, direction and description of each such measure, as far as they are known.
    """
    known = facts if isinstance(facts, Mapping) else {}
    named = {one: _inside(one) for one in config.get("measures") or [] if is_in_file(one)}
    if isinstance(until := config.get("seeds"), Mapping):
        named |= {one: _inside(one) for one in code_names(until)}
    own = {name: UserMeasure(_measure(name, known.get(name)), not_run, source) for source, name in named.items()}
    measures = [_inside(one) for one in config.get("measures") or []]
    least_effect = {_inside(name): float(value) for name, value in (config.get("least_effect") or {}).items()}
    figures = [_inside(one) for one in config.get("figures") or []]
    return sweep._replace(
        config={**config},
        mechanism=sweep.mechanism._replace(measures=WithUserMeasures(sweep.mechanism.measures, own)),
        known_user_measures={**sweep.known_user_measures, **own},
        measures=measures or sweep.measures,
        figures=figures,
        least_effect=least_effect,
    )


def _inside(name: str) -> str:
    return file_and_name(name)[1] if is_in_file(name) else name


def _measure(name: str, facts: Any) -> Measure:
    known = facts if isinstance(facts, Mapping) else {}
    better = known.get("better")
    described, least = str(known.get("description", "")), known.get("least_effect")
    return Measure(
        name,
        str(known.get("unit", "")),
        better if better in BETTER else "neither",
        described,
        compared_by="ratio" if known.get("compared_by") == "ratio" else "difference",
        least_effect=least if isinstance(least, (int, float)) and least > 0 else None,
    )


def not_run(record: Any) -> float:
    """Stand for a measure in a file that was not executed."""
    raise InputError("the file of this measure was not run.")


def planned_points(sweep: Sweep, unread: list[str], shard: Shard | None = None) -> list[PlannedPoint]:
    """Return the points of a sweep that need none of the code; `unread` takes a sentence for each of the others."""
    try:
        return make_plan(sweep, unread, shard).points
    except InputError as problem:
        unread.append(str(problem))
        return []


def _without_edited(row: Row, wanted: MeasuredBy, as_kept: Iterable[str]) -> Row:
    """Return a row without the cells that other code computed than there is now, but for some that are as kept."""
    was = read_measured(row.measured)
    same = {name: digest for name, digest in was.user_measures.items() if name in as_kept}
    now = MeasuredBy(wanted.engine, {**same, **wanted.user_measures})
    return row._replace(measures=was.cells(row.measures, now))


def _entries(
    before: Mapping[str, Any], identities: Mapping[str, Any], made: Iterable[str], config: Mapping[str, Any]
) -> list[Entry]:
    """Return the points that a folder shows, in order, as its provenance has them or as its identities say."""
    kept = before.get(COORDINATES)
    if isinstance(kept, list):
        read = [one for one in kept if isinstance(one, dict) and isinstance(one.get("coordinates"), dict)]
        return [(str(one.get("id")), dict(_plain(one["coordinates"])), one.get("baseline")) for one in read]
    listed = before.get("points")
    ids = list(listed) if isinstance(listed, dict) else sorted({*made})
    known = {**identities, **(listed if isinstance(listed, dict) else {})}
    facts = {id: dict(_facts(known[id])) for id in ids if isinstance(known.get(id), dict)}
    differing = _differing(facts.values())
    alike = Counter(repr([facts[id].get(path) for path in differing]) for id in facts)
    entries: list[Entry] = []
    for id, all_facts in facts.items():
        coordinates = {path: all_facts[path] for path in differing if path in all_facts}
        if alike[repr([all_facts.get(path) for path in differing])] > 1:
            coordinates["point"] = id[:8]
        entries.append((id, coordinates, _baseline(id, facts, config.get("baseline"))))
    return entries


def _plain(coordinates: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield coordinates as a file of a stranger's may have them, each value such that a table can hold it."""
    for path, value in coordinates.items():
        yield path, value if isinstance(value, (str, int, float, bool, type(None))) else json.dumps(value)


_PARTS = {"machine": "machine", "workload": "workload", "policies": "policy", "options": "options"}
"""The parts of an identity, and what a sweep calls them."""


def _facts(identity: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the dotted path and the value of each lever of an identity; of a spec its name."""
    for part, word in _PARTS.items():
        whole = identity.get(part)
        specs = whole if part == "policies" else {"": whole}
        for slot, spec in (specs if isinstance(specs, dict) else {}).items():
            yield from _of_value(f"{word}.{slot}" if slot else word, spec)


def _of_value(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    inner = {key: one for key, one in value.items() if key != "code"} if isinstance(value, dict) else {}
    if len(inner) == 1 and isinstance(levers := next(iter(inner.values())), dict):
        yield path, next(iter(inner))
        for name, one in levers.items():
            yield from _of_value(f"{path}.{name}", one)
    elif isinstance(value, dict):
        for name, one in inner.items():
            yield from _of_value(f"{path}.{name}", one)
    else:
        yield from _plain({path: value})


def _differing(facts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the paths at which some points differ."""
    known = list(facts)
    paths = dict.fromkeys(path for one in known for path in one)
    return [path for path in paths if len({repr(one.get(path)) for one in known}) > 1]


def _baseline(id: str, facts: Mapping[str, Mapping[str, Any]], given: Any) -> str | None:
    """Return the point that is as another but for the policies of the sweep's baseline; None where there is none."""
    if not isinstance(given, Mapping):
        return None
    slots = {f"policy.{slot}": _policy_name(policy) for slot, policy in given.items()}

    def rest(one: str, keep: Callable[[str], bool] = lambda path: path.startswith(tuple(slots))) -> dict[str, Any]:
        return {path: value for path, value in facts[one].items() if not keep(path)}

    same = [one for one in facts if all(facts[one].get(slot) == name for slot, name in slots.items())]
    baseline = next((one for one in same if one != id and rest(one) == rest(id)), None)
    return None if id in same else baseline


def _policy_name(given: Any) -> str:
    """Return the name of a policy that a sweep names.

    >>> _policy_name("mine.py:WidestGap"), _policy_name({"best_fit": {"tie": "low"}})
    ('widest_gap', 'best_fit')
    """
    name = str(next(iter(given), "") if isinstance(given, Mapping) else given)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", _inside(name)).lower()
