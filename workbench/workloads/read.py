"""What the key `workload:` of a sweep file may say: a generator, a regime, a file of one's own, or a trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at, nearest_name, wrong_value
from workbench.parts import is_in_file
from workbench.workloads.kind import check_kind
from workbench.workloads.outside import all_outside, needed, of_file, written_as
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.generators import generators, read_generator
from workbench.workloads.synthetic.regimes import regime, regimes
from workbench.workloads.workload import Workload


def read_workload(
    given: object, path: str = "workload", where: str = "", folder: Path | None = None, wants: str = "workgroups"
) -> Workload:
    """Read the workload that a sweep file describes.

    Parameters
    ----------
    given : str, mapping or Workload
        A regime's name, `{synthetic: NAME, lever: ...}`, `{regime: NAME, lever: ...}`, `{file: PATH}` or
        `{trace: NAME or PATH, lever: ...}`.
    path, where : str
        The key and the file, for messages.
    folder : Path, optional
        What a relative path starts from: the folder of the sweep file; the current folder if None.
    wants : str
        What the engine serves (`Engine.workload_kind`). The same keys give each of them.

    Raises
    ------
    InputError
        A key, a name or a lever is unknown, a value is not allowed, the file cannot be used, or what is named gives
        something else than the engine serves.

    Examples
    --------
    >>> read_workload("large_uniform").size
    Uniform(low=1, high=64)
    >>> read_workload({"regime": "large_uniform", "count": 1000}).count
    1000
    >>> read_workload("head_of_line", wants="groups").channels
    4
    >>> read_workload({"synthetic": "random_workgroups", "sise": 4}, where="drain.yaml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: drain.yaml: workload: unknown key 'sise'; there are ... Did you mean size?
    """
    request = _Asked(path, where, folder, wants)
    if isinstance(given, Workload) or (isinstance(given, type) and issubclass(given, Generator)):
        check_kind(given if isinstance(given, type) else type(given), wants, given.name, _fitting(wants), request.place)
        return given if isinstance(given, Workload) else read_generator(given.name, {}, path, where, wants)
    if isinstance(given, str):
        return _named(given, request)
    if not isinstance(given, Mapping):
        raise wrong_value(where, path, f"must be the name of a regime or have one of the keys {_KEYS}", given)
    key, levers = _key_and_levers(given, path, where)
    if key in _READERS:
        return _READERS[key](given[key], levers, request)
    return _written(given, request)


class _Asked(NamedTuple):
    """Where a workload stands, and what it must give."""

    path: str
    where: str
    folder: Path | None
    wants: str

    @property
    def place(self) -> str:
        return at(self.where, self.path)


def _fitting(wants: str) -> list[str]:
    return [*generators(wants), *all_outside(wants)]


def _named(given: str, asked: _Asked) -> Workload:
    path, where, wants = asked.path, asked.where, asked.wants
    if is_in_file(given):
        return read_generator(given, {}, path, where, wants, asked.folder)
    if given not in regimes(wants) and Path(given).suffix:
        raise wrong_value(where, path, "must be the name of a regime or a mapping", given, f"{{file: {given}}}")
    if given in Generator.members:
        return read_generator(given, {}, path, where, wants)
    return regime(given, path, where, wants).workload


def _key_and_levers(given: Mapping[Any, Any], path: str, where: str) -> tuple[str, dict[Any, Any]]:
    """Return the one key that says what kind of workload it is, and all others."""
    said = [key for key in _READERS if key in given]
    if len(said) > 1:
        raise InputError(at(where, f"{path} must have one of the keys {_KEYS}. Got {' and '.join(said)}."))
    if said:
        return said[0], {key: value for key, value in given.items() if key != said[0]}
    if len(given) == 1 and _has_a_name(next(iter(given))):
        return "", {}
    near = next((name for key in given if (name := nearest_name(key, _READERS))), None)
    raise wrong_value(where, path, f"must have one of the keys {_KEYS}", dict(given), near)


def _has_a_name(key: object) -> bool:
    return isinstance(key, str) and (key in Generator.members or written_as(key) is not None)


def _synthetic(name: object, levers: Mapping[str, Any], asked: _Asked) -> Workload:
    return read_generator(name, levers, asked.path, asked.where, asked.wants, asked.folder)


def _regime(name: object, levers: Mapping[str, Any], asked: _Asked) -> Workload:
    chosen = regime(name, f"{asked.path}.regime", asked.where, asked.wants).workload
    return read_generator(chosen.name, {**chosen.values(), **levers}, asked.path, asked.where, asked.wants)


def _file(name: object, levers: Mapping[str, Any], asked: _Asked) -> Workload:
    needed("file", asked.wants, asked.place)
    place = _from_folder(name, asked.folder)
    cls: Any = of_file(place, asked.wants)
    workload = cls.read({"file": place, **levers}, asked.path, asked.where)
    try:
        pinned: Workload = workload.pinned()
        return pinned
    except InputError as wrong:
        raise InputError(at(asked.where, f"{asked.path}.file: {wrong}")) from None


def _trace(name: object, levers: Mapping[str, Any], asked: _Asked) -> Workload:
    trace = _from_folder(name, asked.folder)
    here = isinstance(trace, str) and os.path.isfile(trace)  # which, unlike Path's, says no to an impossible name
    read = needed("trace", asked.wants, asked.place).read
    workload: Any = read({"trace": trace if here else name, **levers}, asked.path, asked.where)
    try:
        pinned: Workload = workload.pinned()
        return pinned
    except InputError:
        return workload  # which its check refuses in the words of its place


def _written(given: Mapping[str, Any], asked: _Asked) -> Workload:
    """Read a workload as it writes itself: `{random_workgroups: {count: 10}}`, `{workgroup_file: {file: ...}}`."""
    ((name, levers),) = given.items()
    outside = written_as(name)
    if outside is not None:
        key, workload = outside
        check_kind(workload, asked.wants, name, _fitting(asked.wants), asked.place)
        if isinstance(levers, Mapping) and key in levers:
            return read_workload(levers, *asked)
    return read_generator(name, levers or {}, asked.path, asked.where, asked.wants)


def _from_folder(name: object, folder: Path | None) -> object:
    """Return a relative path as seen from a folder; what is no path as it is, for the lever to refuse."""
    return str(Path(folder, name)) if folder is not None and isinstance(name, str) and name else name


_READERS: Mapping[str, Callable[..., Workload]] = {
    "synthetic": _synthetic,
    "regime": _regime,
    "file": _file,
    "trace": _trace,
}
_KEYS = ", ".join(sorted(_READERS))
