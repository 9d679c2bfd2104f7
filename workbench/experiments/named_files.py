"""The files that a sweep names, topologies, workloads, and parts of one's own, wherever in it they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.parts import file_and_name, is_in_file

Rename = Callable[[Path], str]


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
    >>> said = {"engine": "shared_memory", "workload": {"trace": "rocprofv3_mi355x_part1"}}
    >>> with_files(said, Path(), str) == said
    True
    """

    def new(name: str) -> str:
        path = next((one for one in (folder / name, Path(name)) if one.is_file()), None)
        return name if path is None else rename(path)

    readers = {"machine": _inputs, "workload": _inputs, **dict.fromkeys(_WITH_PARTS, _parts)}
    return {key: readers[key](value, new) if key in readers else value for key, value in config.items()}


_WITH_PARTS = ("policy", "baseline", "measures", "figures", "seeds", "objectives", "constraints")
"""The keys below which `FILE.py:NAME` may stand."""


def _inputs(value: Any, new: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _source(key, inner, new) for key, inner in value.items()}
    return [_inputs(inner, new) for inner in value] if isinstance(value, (list, tuple)) else _part(value, new)


def _source(key: Any, value: Any, new: Callable[[str], str]) -> Any:
    return _names(value, new) if key in ("file", "trace", "topology") else _inputs(value, new)


def _names(value: Any, new: Callable[[str], str]) -> Any:
    """Return a file's name, or several that are varied, called something else."""
    if isinstance(value, Mapping):
        return {key: _names(inner, new) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_names(inner, new) for inner in value]
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
