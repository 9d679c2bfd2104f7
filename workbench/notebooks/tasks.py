"""Which parameters each notebook of a batch gets, read and checked against the notebook before the first one runs.

Parameters are the notebook's own, with `vary` as in a sweep. A sweep of the workbench gives one notebook a point:
every varied lever under the last word of its path (`placement`, `segments`), and, to notebooks that have such
parameters, `sweep` (the point as a mapping for `workbench.run`), `seeds` and `point_id`.

plan_tasks(...)  notebooks, parameters, a sweep -> every notebook to run, with the name of its output
read_batch(...)  a batch file (YAML) -> the same as plan_tasks takes
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.digests import canonical, digest
from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.choices import Point, expand, refuse_too_many
from workbench.experiments.coordinates import FileNames
from workbench.experiments.designs.draw import with_choices
from workbench.experiments.plan import make_plan
from workbench.experiments.saved_results import named, shortest
from workbench.experiments.setups import read_setup
from workbench.experiments.sweep import (
    KEYS,
    MOST_POINTS,
    VARIED,
    Sweep,
    checked_sweep,
    override,
    read_config,
    relative_to,
    with_files,
)
from workbench.notebooks.notebook_file import PARAMETERS, Notebook
from workbench.notebooks.output_names import digest_of, outermost, output_name, short_names
from workbench.runs.origin import sources
from workbench.runs.run import point_id
from workbench.strict_yaml import read_mapping

BATCH_KEYS = ("notebooks", "parameters", "sweep")


class Task(NamedTuple):
    """One notebook to run."""

    id: str
    """The digest of the notebook's cells, its parameters, the files that these name, and the sources."""
    name: str
    """What its output is called, without `.ipynb`: the notebook and its parameters."""
    notebook: Notebook
    parameters: dict[str, Any]


class Batch(NamedTuple):
    """What a batch file says."""

    notebooks: dict[Path, dict[str, Any]]
    """The parameters of each alone."""
    parameters: dict[str, Any]
    """Those of all."""
    sweep: Path | None


def read_batch(path: Path) -> Batch:
    """Read a batch file: `notebooks`, a list or a mapping of each to parameters of its own, `parameters` of all, and a
    `sweep`; files are looked for in its folder.

    Raises
    ------
    InputError
        It cannot be read, has another key, or one of them is not what it should be.
    """
    config, where = read_mapping(path), str(path)
    for key in config:
        if key not in BATCH_KEYS:
            raise unknown_name(where, "key", key, BATCH_KEYS)
    listed = config.get("notebooks")
    if not isinstance(listed, (list, dict)) or not listed:
        expected = "must be a list of notebooks, or a mapping of each to parameters of its own"
        raise wrong_value(where, "notebooks", expected, listed)
    listed = dict.fromkeys(map(str, listed)) if isinstance(listed, list) else listed
    own = {path.parent / name: _mapping(given, f"notebooks.{name}", where) for name, given in listed.items()}
    sweep = config.get("sweep")
    if sweep is not None and not isinstance(sweep, str):
        raise wrong_value(where, "sweep", "must be a path", sweep)
    return Batch(own, _mapping(config.get("parameters"), "parameters", where), path.parent / sweep if sweep else None)


def _mapping(given: Any, name: str, where: str) -> dict[str, Any]:
    if given is not None and not isinstance(given, dict):
        raise wrong_value(where, name, "must be a mapping of parameters to values", given)
    return given or {}


def plan_tasks(
    notebooks: Sequence[tuple[Notebook, Mapping[str, Any]]], sweep: str | Path | Mapping[str, Any] | None = None
) -> list[Task]:
    """Return every notebook that a batch runs.

    Parameters
    ----------
    notebooks : sequence of (Notebook, mapping)
        Each with its parameters, where `vary` gives one notebook a value; of a sweep's own keys, overrides by dotted
        path.
    sweep : path or mapping, optional
        A sweep, whose varied levers become parameters.

    Raises
    ------
    InputError
        The sweep is not valid, a parameter is none of a notebook's or not of its default's type, a notebook has no
        parameters cell, or two have the same name.
    """
    _refuse_same_name([notebook.path for notebook, _ in notebooks])
    tasks = [task for notebook, chosen in notebooks for task in _notebook_tasks(notebook, chosen, sweep)]
    return _with_unique_names(list({(task.notebook.path, task.id): task for task in tasks}.values()))


def _notebook_tasks(notebook: Notebook, chosen: Mapping[str, Any], sweep: Any) -> Iterator[Task]:
    if notebook.parameters is None and (sweep is not None or chosen):
        raise _no_parameters_cell(notebook)
    to_sweep = {name for name in chosen if sweep is not None and name.split(".")[0] in KEYS}
    own = {name: named(value) for name, value in chosen.items() if name not in to_sweep}
    _refuse_unknown(notebook, own, "")
    where = str(notebook.path)
    refuse_too_many(own, MOST_POINTS, where)
    of_sweep = _point_parameters(notebook, sweep, {name: chosen[name] for name in chosen if name in to_sweep})
    for point in of_sweep:
        for alternative in expand(own, "", where):
            for name, value in alternative.value.items():
                _refuse_other_type(notebook, name, value)
            yield _task(notebook, {**point, **alternative.value})


def _point_parameters(notebook: Notebook, sweep: Any, overrides: Mapping[str, Any]) -> list[dict[str, Any]]:
    if sweep is None:
        return [{}]
    config, where, folder, name = read_config(sweep)
    for path, value in overrides.items():
        override(config, path, value, where)
    return _sweep_parameters(notebook, checked_sweep(config, name, where, folder))


def _sweep_parameters(notebook: Notebook, sweep: Sweep) -> list[dict[str, Any]]:
    make_plan(sweep)
    home = notebook.path.parent  # where its kernel runs
    sweep = sweep._replace(config=with_files(sweep.config, sweep.folder, relative_to(home)), folder=home)
    varied = with_choices(sweep)
    points = expand(varied, "", sweep.where, FileNames(varied, sweep.folder))
    paths = outermost(dict.fromkeys(path for point in points for path in point.coordinates))
    return [_sweep_point_parameters(notebook, sweep, point, short_names(paths)) for point in points]


def _sweep_point_parameters(notebook: Notebook, sweep: Sweep, point: Point, names: Mapping[str, str]) -> dict[str, Any]:
    config = {**{key: value for key, value in sweep.config.items() if key not in (*VARIED, "design")}, **point.value}
    varied = {names[path]: named(value) for path, value in point.coordinates.items() if path in names}
    _refuse_unknown(notebook, varied, sweep.where)
    name = point_id(read_setup(sweep, point.value).identity(), sweep.mechanism.revision)
    offered = {"sweep": named(config), "seeds": shortest(sweep.seeds), "point_id": name}
    wanted = {name: value for name, value in offered.items() if name in (notebook.parameters or ())}
    return {**varied, **wanted}


def _refuse_unknown(notebook: Notebook, parameters: Mapping[str, Any], where: str) -> None:
    """Refuse a parameter that the notebook would not notice."""
    for name in parameters:
        if notebook.parameters is not None and name not in notebook.parameters:
            raise unknown_name(at(where, str(notebook.path)), "parameter", name, notebook.parameters)


_KINDS: tuple[tuple[type | tuple[type, ...], tuple[type, ...], str], ...] = (
    (bool, (bool,), "true or false"),
    (int, (int,), "a whole number"),
    (float, (float, int), "a number"),
    (str, (str, dict), "a text"),
    (dict, (dict, str), "a mapping"),
    ((list, tuple), (list, tuple), "a list"),
)
"""Types of defaults, what may stand in their place, and what a sentence calls that; a mapping may stand for a name
and a name for a mapping, as in a sweep."""


def _refuse_other_type(notebook: Notebook, name: str, value: Any) -> None:
    """Refuse a value that is not of the type of the notebook's own, where that is a plain value."""
    default = notebook.defaults.get(name)
    kind = next((kind for kind in _KINDS if isinstance(default, kind[0])), None)
    if kind is None or (isinstance(value, kind[1]) and isinstance(value, bool) == isinstance(default, bool)):
        return
    _, _, what = kind
    cure = f'"{value}"' if isinstance(default, str) and isinstance(value, (int, float)) else None
    raise wrong_value(str(notebook.path), name, f"must be {what}, as in the notebook ({default!r})", value, cure)


def _task(notebook: Notebook, parameters: dict[str, Any]) -> Task:
    files = dict(_named_files(notebook.path.parent, {**notebook.defaults, **parameters}))
    content = {"notebook": notebook.digest, "parameters": parameters, "files": files, "modules": notebook.modules}
    try:
        text = canonical({**content, "sources": sources()})
    except (TypeError, ValueError):
        raise InputError(at(str(notebook.path), f"parameters must be plain values. Got {parameters!r}.")) from None
    return Task(digest(text), output_name(notebook.path.stem, parameters), notebook, parameters)


def _named_files(folder: Path, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the files that values name, `FILE.py:NAME` too, each with the digest of what it holds."""
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple)):
        for inner in value:
            yield from _named_files(folder, inner)
    elif isinstance(value, str) and value:
        try:
            path = next(path for path in (folder / value, folder / value.rpartition(":")[0]) if path.is_file())
            with path.open("rb") as file:
                yield value, hashlib.file_digest(file, "blake2b").hexdigest()[:32]
        except (StopIteration, OSError, ValueError):
            return


def _no_parameters_cell(notebook: Notebook) -> InputError:
    cure = f'tag the cell that holds the defaults with "{PARAMETERS}"'
    return InputError(at(str(notebook.path), f"has no parameters cell; {cure}."))


def _refuse_same_name(paths: Sequence[Path]) -> None:
    """Refuse two notebooks whose outputs would be called the same."""
    first: dict[str, Path] = {}
    for path in paths:
        other = first.setdefault(path.name, path)
        if other != path:
            raise InputError(f"{other} and {path} have the same name, after which outputs are called; rename one.")


def _with_unique_names(tasks: list[Task]) -> list[Task]:
    """Return the tasks with a digest at the end of each name that another one has too: in a file system that takes
    capital letters for small ones, or because a value looks like a further parameter."""
    counts = Counter(name for task in tasks for name in _output_stems(task))
    clashing = {task.id for task in tasks if any(counts[name] > 1 for name in _output_stems(task))}
    return [
        task._replace(name=f"{task.name}~{digest_of([task.notebook.path.name, task.parameters])}")
        if task.id in clashing
        else task
        for task in tasks
    ]


def _output_stems(task: Task) -> tuple[str, str]:
    return task.name.casefold(), f"{task.name}.failed".casefold()
