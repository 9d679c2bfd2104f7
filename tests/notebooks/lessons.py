"""The notebooks as lessons: their cells, names, answers, and the comparison that each one is about.

A lesson has one cell with the tag `main-comparison`. Its last expression is the table that answers the question of the
lesson, or a study that has one. The cells up to it run without a kernel.

The seeds of a lesson are chosen before its outcome is known. If its main comparison is decided, they stay. Otherwise
they are the seeds of the sweep itself, or what the rules of seeds compute from a pilot run. That is the larger of
`Family.seeds_needed` and the seeds that tell the least effect, and 20 at least.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from workbench.statistics.result_rows import ResultRow
from workbench.statistics.result_table import ResultTable, result_table

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
MAIN = "main-comparison"
"""The tag of the cell that answers the question of a lesson."""


_read = functools.cache(lambda name: nbformat.read(FOLDER / name, as_version=4))


def read(name: str) -> nbformat.NotebookNode:
    """Return a notebook of the project, each time a copy that a test may change."""
    return copy.deepcopy(_read(name))


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the cells of code, in their order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def has_tag(cell: nbformat.NotebookNode, tag: str) -> bool:
    """Return whether a cell has a tag."""
    return tag in cell.metadata.get("tags", [])


def main_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the cells of code up to the one with the main comparison, without drawings and dashboards."""
    cells = code_cells(notebook)
    (end,) = (k for k, cell in enumerate(cells) if has_tag(cell, MAIN))
    return [cell for cell in cells[: end + 1] if not cell.id.startswith(("drawing", "dashboard"))]


def last_value(cells: list[nbformat.NotebookNode], names: dict[str, Any]) -> Any:
    """Execute cells in a namespace; return the value of the last expression."""
    value = None
    for cell in cells:
        tree = ast.parse(cell.source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell.id, "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), cell.id, "eval"), names)
    return value


def compared_rows(value: Any) -> list[ResultRow]:
    """Return the rows of a table, or of a study's table, that stand against a baseline.

    A policy without any value takes no part: a pool that lends nothing has no time of remote accesses.
    """
    if not isinstance(value, ResultTable):
        value = result_table(value.holdout if value.report is None else value.report)
    rows = [row for block in value.blocks for row in block.rows if row.verdict is not None]
    return [row for row in rows if row.mean is None or row.mean.n]


_ANSWERS = re.compile(r"<details><summary>Answers</summary>\n(.*?)</details>", re.DOTALL)


def exercises(notebook: nbformat.NotebookNode) -> tuple[list[int], list[int]]:
    """Return the numbers of the exercises of a lesson, and those of its answers."""
    (cell,) = (cell for cell in notebook.cells if _ANSWERS.search(cell.source))
    (answers,) = _ANSWERS.findall(cell.source)
    numbers = re.findall(r"^(\d+)\. ", _ANSWERS.sub("", cell.source), re.MULTILINE)
    return [int(number) for number in numbers], [
        int(number) for number in re.findall(r"^\*\*(\d+)\.\*\* ", answers, re.M)
    ]


def answers_code(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the code of the answers of a lesson, one piece an answer; it runs behind the cells of the lesson."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return [
        code for answers in _ANSWERS.findall(text) for code in re.findall(r"```python\n(.*?)```", answers, re.DOTALL)
    ]


UNDECIDED = ("undecided", "not compared")
"""Words that answer no question; every other word does, "as good as equal" and "exact" too."""


def undecided(rows: list[ResultRow]) -> list[str]:
    """Return the rows without an answer, each as its name and its word."""
    return [f"{row.name}: {row.verdict.word}" for row in rows if row.verdict and row.verdict.word in UNDECIDED]


def names_of_several_cells(notebook: nbformat.NotebookNode) -> dict[str, list[str]]:
    """Return names that more than one cell gives a value, with the ids of these cells.

    If a name has one cell, a cell that runs again has the same input as before.
    """
    cells: dict[str, list[str]] = {}
    for cell in code_cells(notebook):
        for name in sorted({*_bound(ast.parse(cell.source))}):
            cells.setdefault(name, []).append(cell.id)
    return {name: ids for name, ids in cells.items() if len(ids) > 1}


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that code binds in its own scope."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield child.name
        elif isinstance(child, ast.alias):
            yield (child.asname or child.name).split(".")[0]
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif not isinstance(child, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            yield from _bound(child)
