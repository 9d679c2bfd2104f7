"""What the key `workload:` of a sweep file may say: a generator, a regime, a file of one's own, or a trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import InputError, at, nearest_name, wrong_value
from workbench.workloads.file import WorkgroupFile
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.generators import read_generator
from workbench.workloads.synthetic.regimes import regime, regimes
from workbench.workloads.workload import Workload


def read_workload(given: object, path: str = "workload", where: str = "", folder: Path | None = None) -> Workload:
    """The workload that a sweep file describes.

    Parameters
    ----------
    given : str, mapping or Workload
        A regime's name, `{synthetic: NAME, lever: ...}`, `{regime: NAME, lever: ...}`, `{file: PATH}` or
        `{trace: NAME or PATH, lever: ...}`.
    path, where : str
        The key and the file, for messages.
    folder : Path, optional
        What a relative path starts from: the folder of the sweep file; the current folder if None.

    Raises
    ------
    InputError
        A key, a name or a lever is unknown, a value is not allowed, or the file cannot be used.

    Examples
    --------
    >>> read_workload("large_uniform").size
    Uniform(low=1, high=64)
    >>> read_workload({"regime": "large_uniform", "count": 1000}).count
    1000
    >>> read_workload({"synthetic": "random_workgroups", "sise": 4}, where="drain.yaml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: drain.yaml: workload: unknown key 'sise'; there are ... Did you mean size?
    """
    if isinstance(given, Workload):
        return given
    if isinstance(given, type) and issubclass(given, Generator):
        return read_generator(given.name, {}, path, where)
    if isinstance(given, str):
        return _named(given, path, where)
    if not isinstance(given, Mapping):
        raise wrong_value(where, path, f"must be the name of a regime or have one of the keys {_KEYS}", given)
    key, levers = _key_and_levers(given, path, where)
    if key in _READERS:
        return _READERS[key](given[key], levers, path, where, folder)
    return _written(given, path, where, folder)


def _named(given: str, path: str, where: str) -> Workload:
    if given not in regimes() and Path(given).suffix:
        raise wrong_value(where, path, "must be the name of a regime or a mapping", given, f"{{file: {given}}}")
    if given in Generator.members:
        return read_generator(given, {}, path, where)
    return regime(given, path, where).workload


def _key_and_levers(given: Mapping[Any, Any], path: str, where: str) -> tuple[str, dict[Any, Any]]:
    """The one key that says what kind of workload it is, and all others."""
    said = [key for key in _READERS if key in given]
    if len(said) > 1:
        raise InputError(at(where, f"{path} must have one of the keys {_KEYS}. Got {' and '.join(said)}."))
    if said:
        return said[0], {key: value for key, value in given.items() if key != said[0]}
    if len(given) == 1 and next(iter(given)) in (*_WRITTEN, *Generator.members):
        return "", {}
    near = next((name for key in given if (name := nearest_name(key, _READERS))), None)
    raise wrong_value(where, path, f"must have one of the keys {_KEYS}", dict(given), near)


def _synthetic(name: object, levers: Mapping[str, Any], path: str, where: str, folder: Path | None) -> Workload:
    return read_generator(name, levers, path, where)


def _regime(name: object, levers: Mapping[str, Any], path: str, where: str, folder: Path | None) -> Workload:
    chosen = regime(name, f"{path}.regime", where).workload
    return read_generator(chosen.name, {**chosen.values(), **levers}, path, where)


def _file(name: object, levers: Mapping[str, Any], path: str, where: str, folder: Path | None) -> Workload:
    found = WorkgroupFile.read({"file": _from_folder(name, folder), **levers}, path, where)
    try:
        return found.pinned()
    except InputError as wrong:
        raise InputError(at(where, f"{path}.file: {wrong}")) from None


def _trace(name: object, levers: Mapping[str, Any], path: str, where: str, folder: Path | None) -> Workload:
    from workbench.workloads.trace import TraceWorkgroups

    found = _from_folder(name, folder)
    here = isinstance(found, str) and os.path.isfile(found)  # which, unlike Path's, says no to an impossible name
    read: Workload = TraceWorkgroups.read({"trace": found if here else name, **levers}, path, where)
    return read


def _written(given: Mapping[str, Any], path: str, where: str, folder: Path | None) -> Workload:
    """`{random_workgroups: {count: 10}}`, `{workgroup_file: {file: ...}}`: a workload as it writes itself."""
    ((name, levers),) = given.items()
    if name in _WRITTEN and isinstance(levers, Mapping) and _WRITTEN[name] in levers:
        return read_workload(levers, path, where, folder)
    return read_generator(name, levers or {}, path, where)


def _from_folder(name: object, folder: Path | None) -> object:
    """A relative path as seen from a folder; what is no path as it is, for the lever to refuse."""
    return str(Path(folder, name)) if folder is not None and isinstance(name, str) and name else name


_READERS: Mapping[str, Callable[..., Workload]] = {
    "synthetic": _synthetic,
    "regime": _regime,
    "file": _file,
    "trace": _trace,
}
_KEYS = ", ".join(sorted(_READERS))
_WRITTEN = {"workgroup_file": "file", "trace_workgroups": "trace"}
