"""Which parameters each notebook of a batch gets, checked against the notebook before the first one runs.

A sweep of the workbench gives one notebook a point: every varied lever under the last word of its path (`placement`,
`segments`), and, to notebooks that have such parameters, `sweep` (the point as a mapping for `workbench.run`), `seeds`
and `point_id`. Any other mapping is taken as the notebook's own parameters; `vary` works in it as in a sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at, unknown_name
from workbench.experiments.count_points import refuse_too_many
from workbench.experiments.designs.draw import with_choices
from workbench.experiments.expand import Point, expand
from workbench.experiments.keep import named, shortest
from workbench.experiments.named_files import with_files
from workbench.experiments.notebooks.source import PARAMETERS, Notebook
from workbench.experiments.plan import make_plan, read_setup
from workbench.experiments.run_id import canonical, digest, point_id
from workbench.experiments.sweep import KEYS, MOST_POINTS, VARIED, Sweep, checked_sweep, override, said_by


class Task(NamedTuple):
    """One notebook to run."""

    id: str
    """The digest of the notebook's cells and its parameters: names the output."""
    parameters: dict[str, Any]


def plan_tasks(
    notebook: Notebook, sweep: str | Path | Mapping[str, Any] | None, chosen: Mapping[str, Any]
) -> list[Task]:
    """Return every notebook that a batch runs.

    Parameters
    ----------
    sweep : path or mapping, optional
        A sweep file, or a file with the notebook's own parameters; without one the notebook runs once.
    chosen : mapping
        Parameters for all of them; of a sweep's own keys, overrides by dotted path.

    Raises
    ------
    InputError
        The sweep is not valid, a parameter is none of the notebook's, or the notebook has no parameters cell.
    """
    own = {name: value for name, value in chosen.items() if not (_is_sweep(sweep) and name.split(".")[0] in KEYS)}
    overrides = {name: value for name, value in chosen.items() if name not in own}
    if notebook.parameters is None and (sweep is not None or chosen):
        raise _no_parameters_cell(notebook)
    points = _points(notebook, sweep, overrides)
    tasks = [_task(notebook, {**point, **named(dict(own))}) for point in points]
    different = {task.id: task for task in tasks}
    return list(different.values())


def _is_sweep(sweep: Any) -> bool:
    return sweep is not None and "engine" in said_by(sweep)[0]


def _points(notebook: Notebook, sweep: Any, overrides: Mapping[str, Any]) -> list[dict[str, Any]]:
    if sweep is None:
        return [{}]
    config, where, folder, name = said_by(sweep)
    for path, value in overrides.items():
        override(config, path, value, where)
    if "engine" not in config:
        refuse_too_many(config, MOST_POINTS, where)
        return [_known(notebook, named(point.value), where) for point in expand(config, "", where)]
    return _of_sweep(notebook, checked_sweep(config, name, where, folder))


def _of_sweep(notebook: Notebook, sweep: Sweep) -> list[dict[str, Any]]:
    make_plan(sweep)
    points = expand(with_choices(sweep), "", sweep.where)
    paths = _outermost(dict.fromkeys(path for point in points for path in point.coordinates))
    return [_of_point(notebook, sweep, point, short_names(paths)) for point in points]


def _of_point(notebook: Notebook, sweep: Sweep, point: Point, names: Mapping[str, str]) -> dict[str, Any]:
    config = {**{key: value for key, value in sweep.said.items() if key not in (*VARIED, "design")}, **point.value}
    whole = with_files(named(config), sweep.folder, lambda path: str(path.resolve()))
    varied = {names[path]: named(value) for path, value in point.coordinates.items() if path in names}
    name = point_id(read_setup(sweep, point.value).identity(), sweep.mechanism.revision)
    offered = {"sweep": whole, "seeds": shortest(sweep.seeds), "point_id": name}
    wanted = {name: value for name, value in offered.items() if name in (notebook.parameters or ())}
    return {**_known(notebook, varied, sweep.where), **wanted}


def _known(notebook: Notebook, parameters: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the parameters, after refusing one that the notebook would not notice."""
    for name in parameters:
        if notebook.parameters is not None and name not in notebook.parameters:
            raise unknown_name(at(where, str(notebook.path)), "parameter", name, notebook.parameters)
    return parameters


def _task(notebook: Notebook, parameters: dict[str, Any]) -> Task:
    _known(notebook, parameters, "")
    try:
        text = canonical({"notebook": notebook.digest, "parameters": parameters})
    except (TypeError, ValueError):
        raise InputError(at(str(notebook.path), f"parameters must be plain values. Got {parameters!r}.")) from None
    return Task(digest(text), parameters)


def _no_parameters_cell(notebook: Notebook) -> InputError:
    cure = f'tag the cell that holds the defaults with "{PARAMETERS}"'
    return InputError(at(str(notebook.path), f"has no parameters cell; {cure}."))


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
