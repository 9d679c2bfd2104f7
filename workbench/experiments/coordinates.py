"""The coordinates of a point as tables show them: one value for each varied path.

A path names slots, classes and levers, a value names a file. Neither holds the place of a file. So a point has the same
coordinates in the user's folder, in a results folder and in a bundle. Two parts of one name that differ in their code
get the names of their files too. If that is not enough, they get a digest of the code. Two files of one name get a
digest of what they hold.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.digests import digest
from workbench.engines.kit.engine import Setup
from workbench.errors import WorkbenchError
from workbench.files import digest_of_file
from workbench.identity import current
from workbench.levers import Spec
from workbench.machine.presets import is_preset_file
from workbench.parts import file_and_name, is_in_file, module_in_file
from workbench.runs.run import PlannedPoint

_DIGITS = 4
_GENERATORS = (("workload", "workload"), ("workload", "synthetic"))
"""The keys at which a generator may be in a file. To name a part, its file is executed, so no other key counts."""
_FILE_KEYS = ("file", "trace", "topology", "preset")


class FileNames:
    """The names by which coordinates call the files that a sweep names, and the parts in them: none holds a folder.

    >>> names = FileNames({"workload": {"file": {"vary": ["mine/jobs.csv", "bimodal.csv"]}}}, Path())
    >>> names("workload"), names.shown("mine/jobs.csv", "workload.file")
    ('workload', 'jobs.csv')
    """

    def __init__(self, varied: Any, folder: Path) -> None:
        """Find every file in what a sweep varies; relative paths start from a folder."""
        self._known = {one: _Named(one, folder) for one in dict.fromkeys(_named_in(varied))}
        self._names = {one: named.among(self._known.values()) for one, named in self._known.items()}

    def __call__(self, key: Any) -> str:
        """Return the name in a path of a key of a sweep: `FILE.py:NAME` by the name of the part."""
        return self._names.get(key, str(key))

    def shown(self, value: Any, path: str = "") -> Any:
        """Return a value at a path with every file, and every part in a file, by its name."""
        return self._shown(value, path.rpartition(".")[2]) if self._names else value

    def _shown(self, value: Any, key: str) -> Any:
        if isinstance(value, Mapping):
            return {self._names.get(name, name): self._shown(inner, str(name)) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._shown(inner, key) for inner in value]
        return self._names.get(value, value) if isinstance(value, str) and _is_named(value, key) else value


def _named_in(varied: Mapping[str, Any]) -> Iterator[str]:
    """Yield every file that a sweep names, and every part in a file where its setups may have one."""
    for top, node in varied.items():
        for one, key in _files_in(node, top):
            if not is_in_file(one) or top in ("policy", "baseline") or (top, key) in _GENERATORS:
                yield one


def _files_in(node: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield every file, and every part in a file, that stands somewhere below a key, with the key nearest to it."""
    if isinstance(node, Mapping):
        for name, inner in node.items():
            if is_in_file(name):
                yield name, key
            yield from _files_in(inner, key if name == "vary" else str(name))
    elif isinstance(node, (list, tuple)):
        for inner in node:
            yield from _files_in(inner, key)
    elif isinstance(node, str) and _is_named(node, key):
        yield node, key


def _is_named(value: str, key: str) -> bool:
    return key in _FILE_KEYS or is_in_file(value) or is_preset_file(value)


class _Named:
    """A file, or a part in a file, with the names that it may have, the shortest first."""

    def __init__(self, given: str, folder: Path) -> None:
        self._given, self._folder = given, folder

    def among(self, others: Iterable[_Named]) -> str:
        """Return the first name that no other file or part has, unless it has the same content or code."""
        rivals = [other for other in others if other is not self and other.names[0] == self.names[0]]
        free = (name for name in self.names if all(self.digest == one.digest for one in rivals if name in one.names))
        return next(free, f"{self.names[-1]}#{self.digest[:_DIGITS]}")

    @functools.cached_property
    def names(self) -> list[str]:
        """Return the name of a file; the name of a part, then that with the name of its file."""
        if not is_in_file(self._given):
            return [Path(self._given).name]
        file, inside = file_and_name(self._given)
        name = str(getattr(self._part, "name", inside))
        return [name, f"{name}@{Path(file).stem.replace('.', '_')}"]

    @functools.cached_property
    def digest(self) -> str:
        """Return the digest of a file's content or of a part's code; of the name where it cannot be read."""
        try:
            if self._part is not None:
                return current(self._part).digest
            path = next(path for path in (self._folder / self._given, Path(self._given)) if os.path.isfile(path))
            return digest_of_file(path)
        except (WorkbenchError, StopIteration):  # what is wrong with it is refused where the setup is read
            return digest(self._given)

    @functools.cached_property
    def _part(self) -> Any:
        if not is_in_file(self._given):
            return None
        file, inside = file_and_name(self._given)
        try:
            return getattr(module_in_file(file, self._folder, "", "part"), inside, None)
        except WorkbenchError:  # as above
            return None


def display_values(coordinates: Mapping[str, Any], setup: Setup, names: FileNames) -> dict[str, Any]:
    """Return the text of the coordinates of a point in tables."""
    inner = [path.rsplit(".", 1)[-1] for path in coordinates]
    return {path: _display_value(path, names.shown(value, path), setup, inner) for path, value in coordinates.items()}


def _display_value(path: str, value: Any, setup: Setup, inner: list[str]) -> Any:
    parts = path.split(".")
    if parts[0] == "policy" and len(parts) == 2:
        return setup.policies[parts[1]].short(always=inner)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Spec):
        return value.short()
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, inside),) = value.items()
        return f"{name}({_inside(inside)})" if inside else str(name)
    return _inside(value) if isinstance(value, (Mapping, list)) else value


def _inside(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_inside(v)}" for k, v in value.items())
    return ", ".join(_inside(v) for v in value) if isinstance(value, list) else str(value)


def distinguished(points: Iterable[PlannedPoint]) -> list[PlannedPoint]:
    """Return the points; where two that differ in the user's code show the same, each shows digits of its code too.

    So `make(0)` and `make(60)`, two classes `Mine`, are `mine#1f0c` and `mine#83ab`, in every session.
    """
    known = list(points)
    alike: dict[str, list[int]] = {}
    for place, point in enumerate(known):
        if point.setup.code:
            alike.setdefault(repr(list(point.coordinates.items())), []).append(place)
    for places in alike.values():
        if len({_code(known[place]) for place in places}) > 1:
            for place in places:
                known[place] = _marked(known[place])
    return known


def _code(point: PlannedPoint) -> str:
    return digest(" ".join(digest for _, digest in point.setup.code))


def _marked(point: PlannedPoint) -> PlannedPoint:
    policies = [path for path in point.coordinates if path.startswith("policy.")] or list(point.coordinates)
    if not policies:
        return point
    text = f"{point.coordinates[policies[0]]}#{_code(point)[:_DIGITS]}"
    return point._replace(coordinates={**point.coordinates, policies[0]: text})
