"""Which parameters each notebook of a batch gets, read and checked against the notebook before the first one runs.

Parameters are the notebook's own, with `vary` as in a sweep. A sweep of the workbench gives one notebook a point:
every varied lever under the last word of its path (`placement`, `segments`), and, to notebooks that have such
parameters, `sweep` (the point as a mapping for `workbench.run`), `seeds` and `point_id`.

plan_tasks(...)  notebooks, parameters, a sweep -> every notebook to run, with the name of its output
read_batch(...)  a batch file (YAML) -> the same as plan_tasks takes
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.digests import canonical, digest
from workbench.errors import InputError, at, missing_extra, unknown_name, wrong_value
from workbench.experiments.choices import Point, expand, refuse_too_many
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
    with_files,
)
from workbench.runs.origin import sources
from workbench.runs.run import point_id
from workbench.strict_yaml import parse_value, read_mapping

BATCH_KEYS = ("notebooks", "parameters", "sweep")
LONGEST_VALUE, LONGEST_NAME = 40, 180
"""Letters of a value in the name of an output, and bytes of the name; what is longer is cut and ends with a digest."""
PARAMETERS = "parameters"
"""The tag of the cell that holds the defaults; papermill's convention."""


class Notebook(NamedTuple):
    """A notebook that can be run with other parameters."""

    path: Path
    parameters: list[str] | None
    """The names that its parameters cell assigns; None where no cell is tagged so."""
    kernel: str
    digest: str
    """Of its cells, not of their outputs: running it in JupyterLab leaves it the same."""
    defaults: dict[str, Any] = {}
    """Those that are plain values, by name: of a computed default nothing is known before the notebook runs."""
    modules: dict[str, str] = {}
    """The digests of the files beside it that it imports, directly or through each other, by name."""


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
    """Read a batch file: `notebooks`, a list or a mapping of each to parameters of its own, `parameters` of all, and
    a `sweep`; files are looked for beside it.

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
    tasks = [task for notebook, chosen in notebooks for task in _of_notebook(notebook, chosen, sweep)]
    return _different_names(list({(task.notebook.path, task.id): task for task in tasks}.values()))


def _of_notebook(notebook: Notebook, chosen: Mapping[str, Any], sweep: Any) -> Iterator[Task]:
    if notebook.parameters is None and (sweep is not None or chosen):
        raise _no_parameters_cell(notebook)
    to_sweep = {name for name in chosen if sweep is not None and name.split(".")[0] in KEYS}
    own = {name: named(value) for name, value in chosen.items() if name not in to_sweep}
    _refuse_unknown(notebook, own, "")
    where = str(notebook.path)
    refuse_too_many(own, MOST_POINTS, where)
    of_sweep = _points(notebook, sweep, {name: chosen[name] for name in chosen if name in to_sweep})
    for point in of_sweep:
        for alternative in expand(own, "", where):
            for name, value in alternative.value.items():
                _refuse_other_type(notebook, name, value)
            yield _task(notebook, {**point, **alternative.value})


def _points(notebook: Notebook, sweep: Any, overrides: Mapping[str, Any]) -> list[dict[str, Any]]:
    if sweep is None:
        return [{}]
    config, where, folder, name = read_config(sweep)
    for path, value in overrides.items():
        override(config, path, value, where)
    return _of_sweep(notebook, checked_sweep(config, name, where, folder))


def _of_sweep(notebook: Notebook, sweep: Sweep) -> list[dict[str, Any]]:
    make_plan(sweep)
    points = expand(with_choices(sweep), "", sweep.where)
    paths = _outermost(dict.fromkeys(path for point in points for path in point.coordinates))
    return [_of_point(notebook, sweep, point, short_names(paths)) for point in points]


def _of_point(notebook: Notebook, sweep: Sweep, point: Point, names: Mapping[str, str]) -> dict[str, Any]:
    config = {**{key: value for key, value in sweep.config.items() if key not in (*VARIED, "design")}, **point.value}
    whole = with_files(named(config), sweep.folder, lambda path: str(path.resolve()))
    varied = {names[path]: named(value) for path, value in point.coordinates.items() if path in names}
    _refuse_unknown(notebook, varied, sweep.where)
    name = point_id(read_setup(sweep, point.value).identity(), sweep.mechanism.revision)
    offered = {"sweep": whole, "seeds": shortest(sweep.seeds), "point_id": name}
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


# Names of outputs


def output_name(notebook: str, parameters: Mapping[str, Any]) -> str:
    """Return what the output of a notebook with these parameters is called.

    A text or a number that a file's name can hold stands as it is; anything else stands for itself as far as it can,
    with a digest of the value, so that two values never have one name.

    >>> output_name("study", {"seeds": 5, "policy": "best_fit"})
    'study-seeds-5-policy-best_fit'
    >>> output_name("study", {"sweep": "../sweeps/placement/drain.yaml"})
    'study-sweep-drain.yaml~82d7a2'
    """
    words = [notebook, *(f"{name}-{_readable(value)}" for name, value in parameters.items())]
    name = "-".join(words)
    if len(name.encode()) <= LONGEST_NAME:
        return name
    return f"{name.encode()[:LONGEST_NAME].decode(errors='ignore')}~{_digest_of(parameters)}"


def _readable(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if _stands_for_itself(value, text):
        return text
    last = text.rstrip("/").rpartition("/")[2] if isinstance(value, str) else text
    return f"{re.sub('[^A-Za-z0-9_.+-]+', '_', last).strip('_')[:LONGEST_VALUE]}~{_digest_of(value)}"


def _stands_for_itself(value: Any, text: str) -> bool:
    """Return True where YAML reads the value, and no other, from its text, and a file's name can hold the text."""
    if not re.fullmatch(r"[A-Za-z0-9_.+-]+", text) or len(text) > LONGEST_VALUE:
        return False
    try:
        meant = parse_value(text, "")
    except InputError:
        return False
    return type(meant) is type(value) and bool(meant == value)


def _digest_of(value: Any) -> str:
    return digest(json.dumps(value, sort_keys=True, default=str))[:6]


def _refuse_same_name(paths: Sequence[Path]) -> None:
    """Refuse two notebooks whose outputs would be called the same."""
    first: dict[str, Path] = {}
    for path in paths:
        other = first.setdefault(path.name, path)
        if other != path:
            raise InputError(f"{other} and {path} have the same name, after which outputs are called; rename one.")


def _different_names(tasks: list[Task]) -> list[Task]:
    """Return the tasks with a digest at the end of each name that another one has too: in a file system that takes
    capital letters for small ones, or because a value looks like a further parameter."""
    counts = Counter(name for task in tasks for name in _taken(task))
    clashing = {task.id for task in tasks if any(counts[name] > 1 for name in _taken(task))}
    return [
        task._replace(name=f"{task.name}~{_digest_of([task.notebook.path.name, task.parameters])}")
        if task.id in clashing
        else task
        for task in tasks
    ]


def _taken(task: Task) -> tuple[str, str]:
    return task.name.casefold(), f"{task.name}.failed".casefold()


# Names of a sweep's levers


def _outermost(paths: Sequence[str] | dict[str, None]) -> list[str]:
    """Return the varied paths that do not lie inside another one, whose value holds theirs."""
    return [p for p in paths if not any(p != other and p.startswith((f"{other}.", f"{other}[")) for other in paths)]


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return a parameter's name for each path: its last word, with as many words before it as make it different.

    >>> short_names(["policy.placement", "workload.size.uniform[1]", "machine.segments"])
    {'policy.placement': 'placement', 'workload.size.uniform[1]': 'uniform_1', 'machine.segments': 'segments'}
    >>> short_names(["workload.size.high", "workload.duration.high"])
    {'workload.size.high': 'size_high', 'workload.duration.high': 'duration_high'}
    """
    return {path: _shortest_name(path, paths) for path in paths}


def _shortest_name(path: str, paths: Sequence[str]) -> str:
    words = _words(path)
    for count in range(1, len(words) + 1):
        if not any(other != path and _words(other)[-count:] == words[-count:] for other in paths):
            return "_".join(words[-count:])
    return "_".join(words)


def _words(path: str) -> list[str]:
    return [part.replace("[", "_").replace("]", "") for part in path.split(".")]


def read_notebook(path: Path) -> Notebook:
    """Read and inspect a notebook.

    Raises
    ------
    InputError
        The file cannot be read, is no notebook, or names no kernel that is installed.
    """
    try:
        import nbformat
        import papermill  # noqa: F401 - nbformat comes with JupyterLab, papermill does not
    except ImportError:
        raise missing_extra("running notebooks", "notebooks") from None
    try:
        node = nbformat.read(path, as_version=4)
    except OSError as problem:
        raise InputError(at(str(path), f"cannot be read ({problem.strerror}).")) from None
    except Exception as problem:  # nbformat raises whatever its JSON reader does
        raise InputError(at(str(path), f"is no notebook ({str(problem).splitlines()[0]}).")) from None
    _check_kernel(node, path)
    cell = next((cell for cell in node.cells if PARAMETERS in cell.metadata.get("tags", [])), None)
    names = None if cell is None else _parameters(cell.source, path)
    defaults = {} if cell is None else _defaults(cell.source)
    modules = _modules(path.parent, [cell.source for cell in node.cells if cell.cell_type == "code"])
    return Notebook(path, names, node.metadata.kernelspec.name, _digest(node), defaults, modules)


def _check_kernel(node: Any, path: Path) -> None:
    from jupyter_client.kernelspec import find_kernel_specs

    kernel = node.metadata.get("kernelspec", {}).get("name")
    if not kernel:
        raise InputError(at(str(path), "names no kernel; open it in JupyterLab, choose one and save."))
    if kernel not in find_kernel_specs():
        there = ", ".join(sorted(find_kernel_specs())) or "none"
        raise InputError(at(str(path), f"needs the kernel {kernel!r}; installed are {there}."))


def _parameters(source: str, path: Path) -> list[str]:
    import papermill

    try:
        names = list(papermill.inspect_notebook(path))
    except ValueError as problem:
        raise InputError(at(str(path), f"cannot be inspected: {problem}")) from None
    return list(dict.fromkeys([*names, *_assigned(source)]))


def _assigned(source: str) -> dict[str, ast.expr]:
    """Return what a cell of Python assigns, by name; papermill itself overlooks a line with two equals signs.

    >>> list(_assigned("count: int = 3\\nlaw = dict(low=1)\\nfirst = second = 0"))
    ['count', 'law', 'first', 'second']
    """
    return {
        target.id: value
        for statement in _statements(source)
        for target, value in _targets(statement)
        if isinstance(target, ast.Name)
    }


def _targets(node: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        return [(target, node.value) for target in node.targets]
    return [(node.target, node.value)] if isinstance(node, ast.AnnAssign) and node.value is not None else []


def _statements(source: str) -> list[ast.stmt]:
    """Return the statements of a cell without its commands to the notebook; none where it is no Python."""
    lines = ("" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())
    try:
        return ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError):
        return []


def _defaults(source: str) -> dict[str, Any]:
    """Return the defaults that are plain values.

    >>> _defaults("seeds = 20  # paired runs\\nlow = -1.5\\nlaw = dict(low=1)")
    {'seeds': 20, 'low': -1.5}
    """
    defaults = {}
    for name, value in _assigned(source).items():
        try:
            defaults[name] = ast.literal_eval(value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            continue
    return defaults


def _modules(folder: Path, sources: Iterable[str]) -> dict[str, str]:
    """Return the digests of the Python files in a folder that sources import, directly or through each other."""
    digests: dict[str, str] = {}
    waiting = [name for source in sources for name in _imported(source)]
    while waiting:
        name = waiting.pop()
        for path in (folder / f"{name}.py", *sorted((folder / name).rglob("*.py") if name else ())):
            key = str(path.relative_to(folder))
            if key not in digests and path.is_file():
                content = path.read_bytes()
                digests[key] = hashlib.blake2b(content, digest_size=16).hexdigest()
                waiting += _imported(content.decode(errors="replace"))
    return digests


def _imported(source: str) -> Iterator[str]:
    """Yield the first word of every module that a source imports."""
    for node in (inner for statement in _statements(source) for inner in ast.walk(statement)):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _digest(node: Any) -> str:
    cells = [[cell.cell_type, cell.source] for cell in node.cells]
    return digest(canonical({"cells": cells, "kernel": node.metadata.kernelspec.name}))
