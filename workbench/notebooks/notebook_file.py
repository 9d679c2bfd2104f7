"""A notebook that a batch runs: its parameters with their defaults, its kernel, and the digests of what it holds."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from workbench.digests import canonical, digest
from workbench.errors import InputError, at, missing_extra, unreadable

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
    """The digests of the files of its folder that it imports, directly or through each other, by name."""


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
        raise unreadable(path, problem) from None
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
    """Return the assignments of a cell of Python, by name; papermill itself overlooks a line with two equals signs.

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
