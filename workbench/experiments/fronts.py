"""`vary: {front: FOLDER}`: the front of a tuning study as choices of a sweep, read from its results folder.

What the study tuned steps together, all levers of a point at once; what it fixed comes along where the sweep does not
say it. The points are written into the sweep as it is read, so that a saved sweep holds them itself: what is tuned
later changes nothing in it, and `front_diff` says whether the front is another by now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at, file_guess, shown, wrong_value
from workbench.experiments.named_code import refuse_unsigned_front
from workbench.experiments.results_folder import STUDY, SWEEP
from workbench.strict_yaml import read_mapping

FRONT = "front"
VARY = "vary"
PARTS = ("machine", "policy", "options")
"""The keys of a sweep below which a study tunes."""


def with_fronts(config: Mapping[str, Any], where: str, folder: Path) -> dict[str, Any]:
    """Return the same sweep with the points of a study in place of every `vary: {front: FOLDER}`.

    Parameters
    ----------
    where : str
        What refusals call the sweep.
    folder : Path
        What relative paths start from; a folder that is not there is looked for from the current one.

    Raises
    ------
    InputError
        A folder is of no study or of one without a front, the study is of another engine, or the sweep says itself
        what the front is to choose.
    """
    reader = _Reader(str(config["engine"]), where, folder)
    spread = reader.spread(config) if VARY in config else dict(config)
    return {key: reader.replaced(value, key) for key, value in spread.items()}


class _Reader:
    """Reads the fronts that one sweep names, each once."""

    def __init__(self, engine: str, where: str, folder: Path) -> None:
        self._engine, self._where, self._folder = engine, where, folder
        self._known: dict[str, SavedFront] = {}

    def front(self, given: Any, path: str) -> SavedFront:
        """Return the front that `{front: FOLDER}` names."""
        place = f"{path}.{VARY}" if path else VARY
        if not isinstance(given, Mapping) or set(given) != {FRONT} or not isinstance(given[FRONT], str):
            raise wrong_value(self._where, place, "must be {front: FOLDER}, the results folder of a study", given)
        name = given[FRONT]
        if name not in self._known:
            self._known[name] = self._read(name, f"{place}.{FRONT}")
        return self._known[name]

    def _read(self, name: str, place: str) -> SavedFront:
        front = read_front(name, self._folder, at(self._where, place))
        if front.engine != self._engine:
            sentence = f"{place}: {name} is a study of {front.engine}, and this sweep is of {self._engine}."
            raise InputError(at(self._where, sentence))
        return front

    def spread(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the sweep with every lever of the front that its key `vary` names where it belongs."""
        front = self.front(config[VARY], "")
        parts = {key: self._part(front, key, config.get(key)) for key in PARTS}
        rest = {key: value for key, value in config.items() if key not in (VARY, *PARTS)}
        return {**rest, **{key: value for key, value in parts.items() if value}}

    def _part(self, front: SavedFront, key: str, own: Any) -> Any:
        """Return one key of the sweep: its own words, what the study fixed, what its front chooses."""
        if own is None:
            own = front.fixed.get(key)
        tuned = {path.partition(".")[2]: path for path in front.tuned if path.partition(".")[0] == key}
        if isinstance(own, str) and tuned and key == "machine":
            own = {"preset": own}
        if not tuned and not isinstance(own, Mapping | None):
            return own
        if not isinstance(own, Mapping | None) or VARY in (own or {}):
            cure = f"vary over it where it stands, {next(iter(tuned.values()), key)}: {{vary: {{front: {front.name}}}}}"
            raise InputError(at(self._where, f"{key}: {shown(own)} leaves no place for the front; {cure}."))
        self._refuse_both(front, own or {}, tuned)
        fixed = {path.partition(".")[2]: value for path, value in front.fixed.items() if path.startswith(f"{key}.")}
        chosen = {name: front.choice(path, self._where) for name, path in tuned.items()}
        return {**(fixed if key != "machine" or not own else {}), **(own or {}), **chosen}

    def _refuse_both(self, front: SavedFront, own: Mapping[str, Any], tuned: Mapping[str, str]) -> None:
        both = next((path for name, path in tuned.items() if name in own), None)
        if both is not None:
            cure = "leave one of them out"
            raise InputError(at(self._where, f"{both} is said by the sweep and by the front of {front.name}; {cure}."))

    def replaced(self, node: Any, path: str) -> Any:
        """Return a node with the choices of a front in place of each `{vary: {front: FOLDER}}` in it."""
        if _varies_over_a_front(node):
            if len(node) > 1:
                other = next(key for key in node if key != VARY)
                cure = f"takes no {other}: the levers of its points step together by themselves"
                raise InputError(at(self._where, f"{path}.vary.front {cure}."))
            return self.front(node[VARY], path).choice(path, self._where)
        if isinstance(node, Mapping):
            return {
                key: [self.replaced(item, path) for item in value]
                if key == VARY and isinstance(value, list)
                else self.replaced(value, f"{path}.{key}")
                for key, value in node.items()
            }
        return node


def _varies_over_a_front(node: Any) -> bool:
    return isinstance(node, Mapping) and isinstance(node.get(VARY), Mapping) and FRONT in node[VARY]


TRIALS = "trials.csv"
"""The table of a study's trials, once it is done."""
STEPPED = "front"
"""What a study zips the levers of its front by."""
ZIP = "front of "
"""What a sweep zips them by, followed by the folder."""


class SavedFront(NamedTuple):
    """The front of a study as its folder keeps it."""

    name: str
    """The folder as the sweep says it."""
    engine: str
    tuned: dict[str, list[Any]]
    """By path, such as `policy.placement`, the value of each point."""
    fixed: dict[str, Any]
    """What the study did not tune: by path, or by key where it is no mapping."""

    def choice(self, path: str, where: str) -> dict[str, Any]:
        """Return the choices at a path of the sweep.

        Raises
        ------
        InputError
            The study did not tune what stands there.
        """
        if path not in self.tuned:
            tuned = ", ".join(self.tuned)
            raise InputError(at(where, f"{path}.vary.front: the study {self.name} tuned {tuned}; write it there."))
        return {"vary": self.tuned[path], "zip": f"{ZIP}{self.name}"}


def read_front(name: str, folder: Path, where: str) -> SavedFront:
    """Read the front that the results folder of a study keeps.

    Parameters
    ----------
    name : str
        The folder, as a sweep says it.
    folder : Path
        What it is relative to; else to the current folder.
    where : str
        What refusals begin with.

    Raises
    ------
    InputError
        It is no such folder, or the study has no front.
    UntrustedError
        Its points name code that the user has not signed there.
    """
    place = next((one for one in (folder / name, Path(name)) if one.is_dir()), None)
    if place is None:
        cure = f"tune first: workbench tune STUDY --out {name}.{file_guess(name)}"
        raise InputError(at(where, f"there is no folder {name}; {cure}"))
    if not (place / STUDY).is_file():
        raise InputError(at(where, f"{name} is no results folder of a tuning study: it has no {STUDY}."))
    if not (place / SWEEP).is_file():
        done = (place / TRIALS).is_file()
        cure = (
            f"every trial failed or breaks a constraint ({place / TRIALS} says why)" if done else "tune it to its end"
        )
        raise InputError(at(where, f"the study {name} has no front: {cure}."))
    sweep = read_mapping(place / SWEEP)
    refuse_unsigned_front({key: sweep.get(key) for key in PARTS}, place, where)
    return _saved(name, sweep, where)


def _saved(name: str, sweep: Mapping[str, Any], where: str) -> SavedFront:
    entries = dict(_entries(sweep))
    tuned = {path: value[VARY] for path, value in entries.items() if _is_stepped(value)}
    fixed = {path: value for path, value in entries.items() if path not in tuned}
    whole = {key: sweep[key] for key in PARTS if isinstance(sweep.get(key), str)}
    if not tuned or len({len(values) for values in tuned.values()}) != 1:
        raise InputError(at(where, f"{name}: its {SWEEP} is not the front of a study; tune it again."))
    return SavedFront(name, str(sweep.get("engine")), tuned, {**whole, **fixed})


def _is_stepped(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("zip") == STEPPED and isinstance(value.get(VARY), list)


def _entries(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in PARTS:
        if isinstance(config.get(key), Mapping):
            yield from ((f"{key}.{name}", value) for name, value in config[key].items())


def front_diff(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return a sentence where a front that two versions of a sweep vary over has other points in the later one.

    >>> def sweep(*rules):
    ...     return {"policy": {"placement": {"vary": [*rules], "zip": "front of tuned"}}}
    >>> front_diff(sweep("first_fit"), sweep("first_fit")) is None
    True
    >>> front_diff(sweep("first_fit", "best_fit"), sweep("best_fit", "last_fit"))
    'the front of tuned is another than when this folder was run: 1 point is new, 1 is gone.'
    """
    earlier, later = _points(before), _points(now)
    for name in earlier.keys() & later.keys():
        new = sum(point not in earlier[name] for point in later[name])
        gone = sum(point not in later[name] for point in earlier[name])
        if new or gone:
            counted = f"{new} point{' is' if new == 1 else 's are'} new, {gone} {'is' if gone == 1 else 'are'} gone"
            return f"the {name} is another than when this folder was run: {counted}."
    return None


def _points(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return, by the name of its zip, what each point of a front in a sweep says."""
    columns: dict[str, dict[str, list[Any]]] = {}
    for path, name, values in _columns({key: config.get(key) for key in PARTS}, ""):
        columns.setdefault(name, {})[path] = values
    return {name: [repr(row) for row in zip(*(by[path] for path in sorted(by)))] for name, by in columns.items()}


def _columns(node: Any, path: str) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield the choices of each front, at any depth: where they stand, the name of their zip, the values."""
    if isinstance(node, Mapping):
        name, values = str(node.get("zip", "")), node.get(VARY)
        if name.startswith(ZIP) and isinstance(values, list):
            yield path, name, values
        else:
            for key, inner in node.items():
                yield from _columns(inner, f"{path}.{key}")
    elif isinstance(node, list):
        for place, inner in enumerate(node):
            yield from _columns(inner, f"{path}[{place}]")
