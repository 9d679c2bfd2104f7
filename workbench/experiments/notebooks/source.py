"""The notebook of a batch, read and inspected before anything runs."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at, missing_extra
from workbench.experiments.run_id import canonical, digest

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


def read_notebook(path: Path) -> Notebook:
    """Read and inspect a notebook.

    Raises
    ------
    InputError
        The file cannot be read, is no notebook, or names no kernel that is installed.
    """
    try:
        import nbformat
    except ImportError:
        raise missing_extra("running notebooks", "notebooks") from None
    try:
        node = nbformat.read(path, as_version=4)
    except OSError as problem:
        raise InputError(at(str(path), f"cannot be read ({problem.strerror}).")) from None
    except Exception as problem:  # nbformat raises whatever its JSON reader does
        raise InputError(at(str(path), f"is no notebook ({str(problem).splitlines()[0]}).")) from None
    _check_kernel(node, path)
    return Notebook(path, _parameters(node, path), node.metadata.kernelspec.name, _digest(node))


def _check_kernel(node: Any, path: Path) -> None:
    from jupyter_client.kernelspec import find_kernel_specs

    kernel = node.metadata.get("kernelspec", {}).get("name")
    if not kernel:
        raise InputError(at(str(path), "names no kernel; open it in JupyterLab, choose one and save."))
    if kernel not in find_kernel_specs():
        there = ", ".join(sorted(find_kernel_specs())) or "none"
        raise InputError(at(str(path), f"needs the kernel {kernel!r}; installed are {there}."))


def _parameters(node: Any, path: Path) -> list[str] | None:
    cell = next((cell for cell in node.cells if PARAMETERS in cell.metadata.get("tags", [])), None)
    if cell is None:
        return None
    import papermill

    try:
        names = list(papermill.inspect_notebook(path))
    except ValueError as problem:
        raise InputError(at(str(path), f"cannot be inspected: {problem}")) from None
    return list(dict.fromkeys([*names, *_assigned(cell.source)]))


def _assigned(source: str) -> list[str]:
    """Return the names that a cell of Python assigns; papermill itself overlooks a line with two equals signs.

    >>> _assigned("count: int = 3\\nlaw = dict(low=1)\\nfirst = second = 0")
    ['count', 'law', 'first', 'second']
    """
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return []
    targets = [target for statement in statements for target in _targets(statement)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) and node.value is not None else []


def _digest(node: Any) -> str:
    cells = [[cell.cell_type, cell.source] for cell in node.cells]
    return digest(canonical({"cells": cells, "kernel": node.metadata.kernelspec.name}))
