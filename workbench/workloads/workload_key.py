"""The values of the key `workload:` of a sweep file: a generator, a regime, a file of the user's, or a trace.

With its reader come the tables of the workload that reads a file of the user's, and of the one that reads a recorded
trace, for each engine. So does the JSON schema of the key, with which an editor completes a sweep file.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at, nearest_name, unknown_name, wrong_value
from workbench.levers import Spec
from workbench.parts import is_in_file
from workbench.workloads.csv_columns import column_names
from workbench.workloads.generators import generators, read_generator, read_regime, regimes
from workbench.workloads.importers.source import Source
from workbench.workloads.workload import KINDS, Generator, Workload, check_kind

_KEYS = ("synthetic", "regime", "file", "trace")
_ANY_KEY = ", ".join(sorted(_KEYS))


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
    request = _Request(path, where, folder, wants)
    if isinstance(given, Workload) or (isinstance(given, type) and issubclass(given, Generator)):
        _check_kind(given if isinstance(given, type) else type(given), given.name, request)
        return given if isinstance(given, Workload) else read_generator(given.name, {}, path, where, wants)
    if isinstance(given, str):
        return _named(given, request)
    if not isinstance(given, Mapping):
        raise wrong_value(where, path, f"must be the name of a regime or have one of the keys {_ANY_KEY}", given)
    key, levers = _key_and_levers(given, path, where)
    match key:
        case "synthetic":
            return _synthetic(given[key], levers, request)
        case "regime":
            return _regime(given[key], levers, request)
        case "file":
            return _file(given[key], levers, request)
        case "trace":
            return _trace(given[key], levers, request)
    return _written(given, request)


class _Request(NamedTuple):
    """Where a workload stands, and what it must give."""

    path: str
    where: str
    folder: Path | None
    wants: str

    @property
    def place(self) -> str:
        return at(self.where, self.path)


def _check_kind(cls: type[Workload], what: str, request: _Request) -> None:
    """Refuse a workload that gives something else than an engine serves; only then all others are imported."""
    if not cls.gives(request.wants):
        check_kind(cls, request.wants, what, [*generators(request.wants), *all_outside(request.wants)], request.place)


def _named(given: str, request: _Request) -> Workload:
    path, where, wants = request.path, request.where, request.wants
    if is_in_file(given):
        return read_generator(given, {}, path, where, wants, request.folder)
    if given not in regimes(wants) and Path(given).suffix:
        raise wrong_value(where, path, "must be the name of a regime or a mapping", given, f"{{file: {given}}}")
    is_regime = any(given in regimes(kind) for kind in KINDS)
    if given in Generator.members or (not is_regime and Generator.members.has(given)):
        return read_generator(given, {}, path, where, wants)
    if not is_regime:
        raise unknown_name(request.place, "workload", given, [*regimes(wants), *generators(wants)])
    return read_regime(given, path, where, wants).workload


def _key_and_levers(given: Mapping[Any, Any], path: str, where: str) -> tuple[str, dict[Any, Any]]:
    """Return the one key that says what kind of workload it is, and all others."""
    present = [key for key in _KEYS if key in given]
    if len(present) > 1:
        raise InputError(at(where, f"{path} must have one of the keys {_ANY_KEY}. Got {' and '.join(present)}."))
    if present:
        return present[0], {key: value for key, value in given.items() if key != present[0]}
    if len(given) == 1 and _has_a_name(next(iter(given))):
        return "", {}
    near = next((name for key in given if (name := nearest_name(key, _KEYS))), None)
    raise wrong_value(where, path, f"must have one of the keys {_ANY_KEY}", dict(given), near)


def _has_a_name(key: object) -> bool:
    return isinstance(key, str) and (written_as(key) is not None or Generator.members.has(key))


def _synthetic(name: object, levers: Mapping[str, Any], request: _Request) -> Workload:
    return read_generator(name, levers, request.path, request.where, request.wants, request.folder)


def _regime(name: object, levers: Mapping[str, Any], request: _Request) -> Workload:
    chosen = read_regime(name, f"{request.path}.regime", request.where, request.wants).workload
    return read_generator(chosen.name, {**chosen.values(), **levers}, request.path, request.where, request.wants)


def _file(name: object, levers: Mapping[str, Any], request: _Request) -> Workload:
    needed("file", request.wants, request.place)
    place = _from_folder(name, request.folder)
    cls: Any = of_file(place, request.wants)
    workload = cls.read({"file": place, **levers}, request.path, request.where)
    try:
        pinned: Workload = workload.pinned()
        return pinned
    except InputError as wrong:
        raise InputError(at(request.where, f"{request.path}.file: {wrong}")) from None


def _trace(name: object, levers: Mapping[str, Any], request: _Request) -> Workload:
    trace = _from_folder(name, request.folder)
    here = isinstance(trace, str) and os.path.isfile(trace)  # which, unlike Path's, says no to an impossible name
    read = (of_trace(trace, request.wants) or needed("trace", request.wants, request.place)).read
    workload: Any = read({"trace": trace if here else name, **levers}, request.path, request.where)
    try:
        pinned: Workload = workload.pinned()
        return pinned
    except InputError:
        return workload  # which its check refuses in the words of its place


def _written(given: Mapping[str, Any], request: _Request) -> Workload:
    """Read a workload as it writes itself: `{random_workgroups: {count: 10}}`, `{workgroup_file: {file: ...}}`."""
    ((name, levers),) = given.items()
    outside = written_as(name)
    if outside is not None:
        key, workload = outside
        _check_kind(workload, name, request)
        if isinstance(levers, Mapping) and key in levers:
            return read_workload(levers, *request)
    return read_generator(name, levers or {}, request.path, request.where, request.wants)


def _from_folder(name: object, folder: Path | None) -> object:
    """Return a path as any process sees it, wherever it runs; what is no path as it is, for the lever to refuse."""
    return os.path.abspath(Path(folder, name)) if folder is not None and isinstance(name, str) and name else name


_READ_BY: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "file": {
        "workgroups": ("workbench.workloads.workgroup_file", "WorkgroupFile"),
        "groups": ("workbench.workloads.group_file", "GroupFile"),
        "mallocs": ("workbench.workloads.malloc_calls", "MallocFile"),
        "pool_requests": ("workbench.workloads.pool_file", "PoolFile"),
        "accesses": ("workbench.workloads.access_file", "AccessFile"),
    },
    "trace": {
        "workgroups": ("workbench.workloads.trace_workgroups", "TraceWorkgroups"),
        "groups": ("workbench.workloads.trace_groups", "TraceGroups"),
        "pool_requests": ("workbench.workloads.recorded_memory", "TracePool"),
        "tensor_requests": ("workbench.workloads.recorded_memory", "TraceTensors"),
        "accesses": ("workbench.workloads.recorded_accesses", "TraceAccesses"),
        "applications": ("workbench.workloads.trace_applications", "TraceApplications"),
    },
}
"""The key in a sweep, what the engine wants -> the module and the class of the workload."""
_BY_HEADER: Mapping[str, tuple[str, str]] = {"pool_requests": ("workbench.workloads.serving", "ServingFile")}
"""What the engine wants -> another workload that a CSV file may give, if its header says so (`reads`)."""
_BY_FORMAT: Mapping[str, tuple[str, str]] = {"groups": ("workbench.workloads.trace_blocks", "TraceBlocks")}
"""What the engine wants -> another workload that a trace may give, if its format says so (`reads`)."""


def outside(key: str, wants: str) -> type[Workload] | None:
    """Return the workload of a `file` or a `trace` for what an engine wants; None where there is none.

    >>> outside("file", "groups").name
    'group_file'
    """
    if wants not in _READ_BY[key]:
        return None
    return _imported(*_READ_BY[key][wants])


def _imported(module: str, name: str) -> type[Workload]:
    result: type[Workload] = getattr(importlib.import_module(module), name)
    return result


def of_file(name: object, wants: str) -> type[Workload] | None:
    """Return the workload that reads a CSV file for what an engine wants, as its header says; None = there is none.

    >>> of_file("no such file", "pool_requests").name
    'pool_file'
    """
    if wants in _BY_HEADER and isinstance(name, str) and os.path.isfile(name):
        other: Any = _imported(*_BY_HEADER[wants])
        if other.reads(column_names(_first_line(name))):
            result: type[Workload] = other
            return result
    return outside("file", wants)


def of_trace(name: object, wants: str) -> type[Workload] | None:
    """Return the workload that reads a trace for what an engine wants, as its format says; None = there is none.

    >>> of_trace("no such file", "groups").name
    'trace_groups'
    """
    if wants in _BY_FORMAT and isinstance(name, str) and os.path.isfile(name):
        other: Any = _imported(*_BY_FORMAT[wants])
        if other.reads(name):
            result: type[Workload] = other
            return result
    return outside("trace", wants)


def _first_line(name: str) -> bytes:
    try:
        return Source(name).head
    except InputError:
        return b""  # which reading the file as a whole will say


def needed(key: str, wants: str, place: str) -> type[Workload]:
    """Return the same, where there must be one.

    Raises
    ------
    InputError
        There is none.
    """
    workload = outside(key, wants)
    if workload is None:
        others = ", ".join(_READ_BY[key])
        raise InputError(f"{place}: a {key} gives {others}; this engine serves {wants}. Take a synthetic workload.")
    return workload


def all_outside(wants: str) -> dict[str, type[Workload]]:
    """Return every workload from outside for what an engine wants, by name.

    >>> list(all_outside("groups"))
    ['group_file', 'trace_groups', 'trace_blocks']
    >>> list(all_outside("pool_requests"))
    ['pool_file', 'trace_pool', 'serving_file']
    """
    classes = [outside(key, wants) for key in _READ_BY]
    classes += [_imported(*others[wants]) for others in (_BY_HEADER, _BY_FORMAT) if wants in others]
    return {cls.name: cls for cls in classes if cls is not None}


def written_as(name: str) -> tuple[str, type[Workload]] | None:
    """Return the key under which a workload from outside is written, and its class, by its name; None = nothing is so
    named.

    >>> written_as("trace_groups")[0]
    'trace'
    """
    for key in _READ_BY:
        for kind in KINDS:
            workload = outside(key, kind)
            if workload is not None and workload.name == name:
                return key, workload
    others = (("file", _BY_HEADER), ("trace", _BY_FORMAT))
    by_content = ((key, _imported(*place)) for key, places in others for place in places.values())
    return next(((key, cls) for key, cls in by_content if cls.name == name), None)


_ONLY_BASES = ("application_generator",)
"""Generators that draw nothing: those that derive from them do."""


def workload_schema(wants: str = "workgroups") -> dict[str, Any]:
    """Return the forms that `read_workload` takes for an engine: a name alone, or one of the four keys with its
    levers."""
    fitting = generators(wants)
    own = {name: cls for name, cls in fitting.items() if cls.built_in}
    alone = {"enum": [*regimes(wants), *(name for name in own if name not in _ONLY_BASES)]}
    synthetic = [_keyed("synthetic", {"const": name}, cls) for name, cls in fitting.items()]
    recorded = [cls.schema() for cls in all_outside(wants).values()]
    return {"anyOf": [alone, *_IN_FILES, *synthetic, *_regimes(wants), *recorded]}


_IN_FILE = {"type": "string", "pattern": r"\.py:"}
_IN_FILES = (_IN_FILE, {"type": "object", "properties": {"synthetic": _IN_FILE}, "required": ["synthetic"]})
"""A generator of the user's, whose levers only its file knows."""


def _regimes(wants: str) -> list[dict[str, Any]]:
    """Return a regime with any of its generator's levers; the regimes of a generator together."""
    kinds: dict[type[Spec], list[str]] = {}
    for regime in regimes(wants).values():
        kinds.setdefault(type(regime.workload), []).append(regime.name)
    return [_keyed("regime", {"enum": names}, kind) for kind, names in kinds.items()]


def _keyed(key: str, choice: dict[str, Any], cls: type[Spec]) -> dict[str, Any]:
    shape = cls.schema()
    return {**shape, "properties": {key: choice, **shape["properties"]}, "required": [key, *shape.get("required", [])]}
