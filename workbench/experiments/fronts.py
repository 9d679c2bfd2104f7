"""`vary: {front: FOLDER}`: the front of a tuning study as choices of a sweep.

What the study tuned steps together, all levers of a point at once; what it fixed comes along where the sweep does not
say it. The points are written into the sweep as it is read, so that a kept sweep holds them itself: what is tuned later
changes nothing in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import InputError, at, shown, wrong_value
from workbench.experiments.kept_front import PARTS, VARY, KeptFront, read_front

FRONT = "front"


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
        self._known: dict[str, KeptFront] = {}

    def front(self, given: Any, path: str) -> KeptFront:
        """Return the front that `{front: FOLDER}` names."""
        place = f"{path}.{VARY}" if path else VARY
        if not isinstance(given, Mapping) or set(given) != {FRONT} or not isinstance(given[FRONT], str):
            raise wrong_value(self._where, place, "must be {front: FOLDER}, the results folder of a study", given)
        name = given[FRONT]
        if name not in self._known:
            self._known[name] = self._read(name, f"{place}.{FRONT}")
        return self._known[name]

    def _read(self, name: str, place: str) -> KeptFront:
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

    def _part(self, front: KeptFront, key: str, own: Any) -> Any:
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

    def _refuse_both(self, front: KeptFront, own: Mapping[str, Any], tuned: Mapping[str, str]) -> None:
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
