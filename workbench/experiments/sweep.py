"""A sweep: one question asked of the workbench, read from a YAML file or a mapping, and the files that it names.

Everything is checked here that needs no expansion of its choices. The user's topologies, workloads and parts are files
wherever in a sweep they stand.
"""

from __future__ import annotations

import copy
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.fronts import with_fronts
from workbench.experiments.named_code import admitted_folder
from workbench.experiments.results_folder import MANIFEST, SWEEP, has_store
from workbench.experiments.seeds import Until, read_until
from workbench.machine.presets import is_preset_file
from workbench.mechanisms.measured_by import MeasuredBy, measured_by
from workbench.mechanisms.measures import WithUserMeasures, user_measures
from workbench.mechanisms.mechanism import Mechanism, is_known, mechanism
from workbench.mechanisms.user_measure import UserMeasure
from workbench.metrics.measure import Measure
from workbench.parts import entered_by_file, file_and_name, is_in_file
from workbench.strict_yaml import checked_size, read_mapping
from workbench.units import is_count

KEYS = {
    "question": "what is asked, in a sentence",
    "engine": "which simulator answers it",
    "machine": "a preset's name, or levers of the machine",
    "workload": "what is asked of the machine",
    "policy": "a policy for each of the engine's questions; what is left out takes its default",
    "options": "further levers of the engine",
    "vary": "the front of a tuning study, as choices: {front: results/tune/placement}",
    "design": "how the ranges of the sweep, vary: {from: , to: }, are drawn together",
    "baseline": "the policies that every point is compared with, at the same seeds",
    "seeds": "how many paired seeds, a list of them, {first: 0, count: 200}, or {until: ...} enough",
    "planned": "how many seeds the first plan has; a results folder keeps it, and {until: ...} does not use it",
    "most_points": "how many points its choices may multiply to; 100,000 if it is not said",
    "least_effect": "the least difference that matters, by measure: in its unit, or a share if ratios are compared",
    "measures": "which measures the table shows",
    "figures": "which figures are drawn",
}
VARIED = ("machine", "workload", "policy", "options")
"""The keys under which `vary` may stand."""
REQUIRED = ("engine", "workload")
MOST_POINTS = 100_000
MOST_SEED = (1 << 63) - 1
MOST_SEEDS = 1_000_000
"""Of one sweep."""


class Sweep(NamedTuple):
    """A sweep as it was read: choices not yet expanded."""

    name: str
    where: str
    """What refusals call it: the file's path as given."""
    folder: Path
    """What relative paths in it are relative to."""
    config: dict[str, Any]
    """The mapping, overrides applied, fronts of studies written out."""
    mechanism: Mechanism
    seeds: list[int]
    measures: list[str]
    figures: list[str]
    until: Until | None = None
    """When seeds are enough; then `seeds` are all that there may be."""
    known_user_measures: Mapping[str, UserMeasure] = {}
    """The user's measures that it could name."""
    planned: int | None = None
    """How many seeds the first plan of its results folder has; None = as many as there are, or adaptive seeds."""
    least_effect: Mapping[str, float] = {}
    """The least difference that matters, by measure, where the sweep says so: in the measure's unit, or a share."""

    @property
    def said(self) -> dict[str, Any]:
        """Return the mapping by its word of version 0.5, with a warning."""
        message = "Sweep.said is Sweep.config since 0.6; the former name goes with 0.7"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.config

    @property
    def user_measures(self) -> dict[str, UserMeasure]:
        """Return the user's measures that are computed of its runs: those that it names."""
        names = {*self.measures, *([self.until.measure] if self.until else [])}
        return {name: one for name, one in self.known_user_measures.items() if name in names}

    def measured_by(self, anew: bool = False) -> MeasuredBy:
        """Return the digests of the code that computes its cells; parameter and errors as of `measures_digest`."""
        return measured_by(self.mechanism, self.user_measures, anew)

    def check_computed(self, measure: str) -> None:
        """Refuse a measure of the user's that is not computed of its runs, as it does not name it."""
        if measure in self.known_user_measures and measure not in self.user_measures:
            cure = "is computed of runs whose sweep names it: add it to `measures`"
            raise InputError(at(self.where, f"{measure} {cure}."))

    def measure_names(self) -> list[str]:
        """Return its measures as a sweep says them: those of a file with their file."""
        return [
            self.known_user_measures[name].source or name if name in self.known_user_measures else name
            for name in self.measures
        ]


def read_sweep(source: str | Path | Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> Sweep:
    """Read a sweep file (or a mapping), apply overrides by dotted path, and check everything that needs no expansion.

    Raises
    ------
    InputError
        A key, engine or measure is unknown, something required is missing, or the seeds are not whole numbers.
    """
    config, where, folder, name = read_config(source)
    for path, value in (overrides or {}).items():
        override(config, path, checked_size(value, f"{where}: {path}"), where)
    return checked_sweep(config, name, where, folder)


def read_config(source: str | Path | Mapping[str, Any]) -> tuple[dict[str, Any], str, Path, str]:
    """Read what a file (or a mapping) says, what refusals call it, what relative paths start from, and its name.

    Raises
    ------
    UntrustedError
        The file lies in a results folder or a bundle, and names code that the user has not signed there.
    """
    if isinstance(source, Mapping):
        return copy.deepcopy(checked_size(dict(source), "sweep")), "sweep", Path(), "sweep"
    path = Path(source)
    config = read_mapping(path)
    return config, str(source), admitted_folder(path, config), path.stem


def checked_sweep(config: dict[str, Any], name: str, where: str, folder: Path, measures: Iterable[Any] = ()) -> Sweep:
    """Return the sweep that a mapping describes, everything checked that needs no expansion.

    Parameters
    ----------
    measures : iterable
        What else is named as a measure, such as the objectives of a study.
    """
    config = without_former_keys(config, where)
    _check_keys(config, where)
    config = with_fronts(config, where, folder)
    registered = mechanism(config["engine"], where)
    known = user_measures(registered.engine.name, [*_named_measures(config), *measures], folder, where)
    registered = registered._replace(measures=WithUserMeasures(registered.measures, known)) if known else registered
    adaptive = isinstance(config.get("seeds"), Mapping) and "until" in config["seeds"]
    until = read_until(config, registered.measures, where) if adaptive else None
    most_points(config, where)
    seeds = read_seeds(config.get("seeds", 1) if until is None else _at_most(config["seeds"], until), where)
    return Sweep(
        name=name,
        where=where,
        folder=folder,
        config=config,
        mechanism=registered,
        seeds=seeds,
        measures=_names(config, "measures", "measure", registered.measures, where),
        figures=[
            entered_by_file(name, folder, at(where, "figures"), "figure") for name in _strings(config, "figures", where)
        ],
        until=until,
        known_user_measures=known,
        planned=planned_seeds(config, where) if until is None else None,
        least_effect=_least_effects(config, registered.measures, where),
    )


def most_points(config: Mapping[str, Any], where: str = "") -> int:
    """Return the largest number of points that the choices of a sweep may multiply to.

    >>> most_points({}), most_points({"most_points": 1_000_000})
    (100000, 1000000)
    """
    return _whole(config.get("most_points", MOST_POINTS), "most_points", 1, where)


def planned_seeds(config: Mapping[str, Any], where: str = "") -> int | None:
    """Return the number of seeds that a sweep states for its first plan; None if it does not state it.

    >>> planned_seeds({"planned": 40}), planned_seeds({})
    (40, None)
    """
    return _whole(config["planned"], "planned", 1, where, MOST_SEEDS) if "planned" in config else None


def without_former_keys(config: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the mapping without the keys of version 0.5, whose results folders and bundles still open.

    Raises
    ------
    InputError
        A user's file has the key `estimand`, or `looks` are no numbers of seeds.
    """
    kept = {key: value for key, value in config.items() if key != "looks"}
    looks = config.get("looks") or []
    if not isinstance(looks, list) or not all(type(one) is int and one > 0 for one in looks):
        raise wrong_value(where, "looks", "must be a list of numbers of seeds", looks)
    if looks:  # 0.5 kept every count at which results were seen; the first look was at the seeds of the first plan
        kept.setdefault("planned", min(looks))
    if "estimand" in kept:
        given, path = kept.pop("estimand"), Path(where)
        if path.name != SWEEP or not (has_store(path.parent) or (path.parent / MANIFEST).is_file()):
            why = "estimand is no key any more: verdicts are on size and direction now"
            raise InputError(at(where, f"{why}; delete `estimand: {given}`."))
    return kept


def _least_effects(config: Mapping[str, Any], known: Mapping[str, Measure], where: str) -> dict[str, float]:
    given = config.get("least_effect") or {}
    if not isinstance(given, Mapping):
        expected = "must be a mapping from measures to numbers, such as {drain_cycles: 5}"
        raise wrong_value(where, "least_effect", expected, given)
    for name, least in given.items():
        if name not in known:
            raise unknown_name(at(where, "least_effect"), "measure", name, known)
        if isinstance(least, bool) or not isinstance(least, (int, float)) or not 0 < least < math.inf:
            expected = "must be a number above 0, in the measure's unit, or a share if its ratios are compared"
            raise wrong_value(where, f"least_effect.{name}", expected, least)
    return {known[name].name: float(least) for name, least in given.items()}


def _named_measures(config: Mapping[str, Any]) -> list[Any]:
    """Return whatever stands where a measure is named."""
    until = config["seeds"].get("until") if isinstance(config.get("seeds"), Mapping) else None
    named = config.get("measures")
    return [
        *(named if isinstance(named, list) else []),
        *([until.get("measure")] if isinstance(until, Mapping) else []),
    ]


def _at_most(given: Mapping[str, Any], until: Until) -> dict[str, Any]:
    return {**{key: value for key, value in given.items() if key != "until"}, "count": until.at_most}


def override(config: dict[str, Any], path: str, value: Any, where: str = "") -> None:
    """Set the value at a dotted path, making mappings on the way: `policy.placement`, `workload.size.uniform.1`.

    >>> config = {"workload": {"size": {"uniform": [1, 32]}}}
    >>> override(config, "workload.size.uniform.1", 64)
    >>> override(config, "policy.placement", "best_fit")
    >>> config
    {'workload': {'size': {'uniform': [1, 64]}}, 'policy': {'placement': 'best_fit'}}
    """
    *parents, last = path.split(".")
    node: Any = config
    for key in parents:
        node = node[_index(node, key, path, where)] if isinstance(node, list) else _entered(node, key, path, where)
    if isinstance(node, list):
        node[_index(node, last, path, where)] = value
    else:
        node[last] = value


def _entered(node: dict[str, Any], key: str, path: str, where: str) -> Any:
    if isinstance(node.get(key), str):
        node[key] = {node[key]: {}}
    inner = node.setdefault(key, {})
    if not isinstance(inner, (dict, list)):
        raise InputError(at(where, f"{path} cannot be set: {key} is {inner!r}, which has nothing inside."))
    return inner


def _index(node: list[Any], key: str, path: str, where: str) -> int:
    if not is_count(key) or int(key) >= len(node):
        raise InputError(at(where, f"{path} cannot be set: {key!r} is not a place in a list of {len(node)}."))
    return int(key)


def read_seeds(given: object, where: str = "") -> list[int]:
    """Return the seeds that a sweep names.

    >>> read_seeds(3), read_seeds([5, 9]), read_seeds({"first": 10, "count": 2})
    ([0, 1, 2], [5, 9], [10, 11])
    """
    if isinstance(given, Mapping):
        for key in given:
            if key not in ("first", "count"):
                raise unknown_name(at(where, "seeds"), "key", key, ("first", "count"))
        first = _whole(given.get("first", 0), "seeds.first", 0, where)
        return list(range(first, first + _whole(given.get("count", 1), "seeds.count", 1, where, MOST_SEEDS)))
    if isinstance(given, (list, tuple)):
        seeds = [_whole(seed, f"seeds[{k}]", 0, where) for k, seed in enumerate(given)]
        if len(set(seeds)) != len(seeds) or not seeds:
            raise wrong_value(where, "seeds", "must be a list of different whole numbers", given)
        return seeds
    return list(range(_whole(given, "seeds", 1, where, MOST_SEEDS)))


def _whole(given: object, path: str, least: int, where: str, most: int = MOST_SEED) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise wrong_value(where, path, f"must be a whole number of at least {least}", given)
    if given > most:
        raise wrong_value(where, path, f"must be at most {most:,}", given, most)
    return given


def _check_keys(config: Mapping[str, Any], where: str) -> None:
    if "objectives" in config and where != "sweep":
        raise InputError(at(where, f"is a study, not a sweep: it has objectives; run it with: workbench tune {where}"))
    for key in config:
        if key not in KEYS:
            raise _unknown_key(config, key, where)
    for key in REQUIRED:
        if key not in config:
            raise InputError(at(where, f"the key {key} is missing ({KEYS[key]})."))


def _unknown_key(config: Mapping[str, Any], key: str, where: str) -> InputError:
    engine = str(config.get("engine"))
    if is_known(engine) and key in mechanism(engine).engine.slots:
        return InputError(at(where, f"unknown key {key!r}; it is a decision of the engine: policy.{key}."))
    return unknown_name(where, "key", key, KEYS)


def _strings(config: Mapping[str, Any], key: str, where: str) -> list[str]:
    given = config.get(key) or []
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise wrong_value(where, key, "must be a list of names", given)
    return given


def _names(config: Mapping[str, Any], key: str, what: str, known: Mapping[str, Any], where: str) -> list[str]:
    given = _strings(config, key, where)
    for name in given:
        if name not in known:
            raise unknown_name(at(where, key), what, name, known)
    names = [known[name].name for name in given]
    if len(set(names)) != len(names):
        raise wrong_value(where, key, f"must name each {what} once", given)
    return names or list(known)


Rename = Callable[[Path], str]


def relative_to(folder: Path) -> Rename:
    """Return the names of files by their paths from a folder, for a sweep that is kept there.

    >>> relative_to(Path("results/tuned"))(Path("mine/my_fit.py"))
    '../../mine/my_fit.py'
    """
    return lambda path: os.path.relpath(path.resolve(), folder.resolve())


def with_files(config: Mapping[str, Any], folder: Path, rename: Rename) -> dict[str, Any]:
    """Return the same sweep with every file that it names called something else.

    Parameters
    ----------
    folder : Path
        What relative paths in the sweep start from.
    rename : callable
        From the path of a file that is there to its new name. The name of a public trace is no file and stays.

    Examples
    --------
    >>> config = {"engine": "shared_memory", "workload": {"trace": "rocprofv3_mi355x_part1"}}
    >>> with_files(config, Path(), str) == config
    True
    """

    def new(name: str) -> str:
        path = next((one for one in (folder / name, Path(name)) if one.is_file()), None)
        return name if path is None else rename(path)

    readers = {"machine": _input_files, "workload": _input_files, **dict.fromkeys(_WITH_PARTS, _parts)}
    return {key: readers[key](value, new) if key in readers else value for key, value in config.items()}


_WITH_PARTS = (
    "policy",
    "baseline",
    "measures",
    "least_effect",
    "figures",
    "seeds",
    "objectives",
    "constraints",
    "rivals",
)
"""The keys below which `FILE.py:NAME` may stand."""


def _input_files(value: Any, new: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _source(key, inner, new) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_input_files(inner, new) for inner in value]
    return new(value) if is_preset_file(value) else _part(value, new)


def _source(key: Any, value: Any, new: Callable[[str], str]) -> Any:
    return _file_names(value, new) if key in ("file", "trace", "topology") else _input_files(value, new)


def _file_names(value: Any, new: Callable[[str], str]) -> Any:
    """Return a file's name, or several that are varied, called something else."""
    if isinstance(value, Mapping):
        return {key: _file_names(inner, new) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_file_names(inner, new) for inner in value]
    return new(value) if isinstance(value, str) else value


def _parts(value: Any, new: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {_part(key, new): _parts(inner, new) for key, inner in value.items()}
    return [_parts(inner, new) for inner in value] if isinstance(value, (list, tuple)) else _part(value, new)


def _part(name: Any, new: Callable[[str], str]) -> Any:
    """Return `my_fit.py:MyFit` with the file called something else; anything else as it is."""
    if not is_in_file(name):
        return name
    file, inside = file_and_name(name)
    return f"{new(file)}:{inside}"
