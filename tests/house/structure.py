"""Refuse faults in the structure of the package, and print its size.

    python -m tests.house.structure    exit with 1 if there is a fault (`make structure`, part of `make check`)

Three things are faults: modules that import each other in a circle, a module above 500 lines of code, and a constant
that is used far above its definition. The size is printed as a trend and refuses nothing.

Code is each line that is neither blank nor a comment nor a docstring. A table is a module whose longest statement is a
literal of more than half of its code; a table may have any length. `ignore_imports` of the import walls in
pyproject.toml lists the imports that close no circle.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
MOST_LINES = 500
"""Upper bound on the lines of code of a module that is no table."""
MOST_LINES_ABOVE = 20
"""Upper bound on the distance from the first use of a constant down to its definition, in lines."""


class Module(NamedTuple):
    """A module: its size in lines, what it imports, and the constants that it uses too early."""

    name: str
    path: str
    code: int
    imports: int
    table: bool
    edges: dict[str, int]
    """The modules of the package that it imports, each with the line of its first import."""
    early: list[str]
    """A sentence for each constant that is used far above its definition."""


def modules(package: Path = ROOT / "workbench") -> list[Module]:
    """Return every module of a package."""
    paths = {_dotted(path, package.parent): path for path in sorted(package.rglob("*.py"))}
    return [_module(name, path, package.parent, paths.keys()) for name, path in paths.items()]


def _dotted(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _module(name: str, path: Path, root: Path, known: Collection[str]) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    code = _code_lines(text, nodes)
    imports = {line for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for line in _lines(node)}
    longest = max((len(_lines(value)) for value in map(_literal, tree.body) if value), default=0)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    first = {other: line for line, other in sorted(_edges(nodes, package, known), reverse=True) if other != name}
    place = path.relative_to(root).as_posix()
    return Module(
        name, place, len(code), len(imports & code), longest > len(code) / 2, first, list(_early(tree, nodes))
    )


def _lines(node: ast.AST) -> range:
    return range(node.lineno, node.end_lineno + 1)  # type: ignore[attr-defined]


def _code_lines(text: str, nodes: list[ast.AST]) -> set[int]:
    code = {number for number, line in enumerate(text.splitlines(), 1) if line.strip() and line.lstrip()[0] != "#"}
    for node in nodes:
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            code.update(_lines(node))
    return code.difference(*(_lines(node) for node in nodes if _is_docstring(node)))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _literal(node: ast.stmt) -> ast.expr | None:
    """Return the literal that a statement gives a name."""
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    return value if isinstance(value, (ast.Dict, ast.List, ast.Set, ast.Tuple, ast.Constant)) else None


_LOADERS = {"import_module", "__import__", "attribute"}
"""The functions that import a module by its name; `attribute` is the package's own (`workbench/parts`)."""


def _edges(nodes: list[ast.AST], package: str, known: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield each import of a known module with its line, wherever it stands and however it is written."""
    by_name = any(isinstance(node, ast.Call) and _loads(node) for node in nodes)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            source = _source(node, package)
            names = (f"{source}.{alias.name}" for alias in node.names)
            reached = {name if name in known else source for name in names}
            yield from ((node.lineno, name) for name in reached if name in known)
        elif by_name and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, name) for name in [_named(node.value, known)] if name)


def _loads(call: ast.Call) -> bool:
    """Return whether a call imports a module by its name, itself or by `map`."""
    words = (getattr(one, "attr", getattr(one, "id", None)) for one in (call.func, *call.args))
    return any(word in _LOADERS for word in words)


def _source(node: ast.ImportFrom, package: str) -> str:
    """Return the dotted name that stands between `from` and `import`, a relative one in full."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])


def _named(word: str, known: Collection[str]) -> str | None:
    """Return the module that a literal names, as `module`, `module:attribute` or `module.attribute`.

    The bare name of the whole package is a prefix that code compares with, so it names no import.

    >>> [_named(word, {"a", "a.b"}) for word in ("a.b", "a.b:C", "a.b.C", "a:C", "a", "a.b.", "a.b: no")]
    ['a.b', 'a.b', 'a.b', 'a', None, None, None]
    """
    match = re.fullmatch(r"(\w+(?:\.\w+)*)(:[\w.]+)?", word)
    if match is None:
        return None
    module, attribute = match.groups()
    if module in known and (attribute or "." in module):
        return module
    parent = module.rpartition(".")[0]
    return parent if parent in known and not attribute else None


_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign)


def _early(tree: ast.Module, nodes: list[ast.AST]) -> Iterator[str]:
    """Yield a sentence for each constant that is used too far above its definition."""
    defined: dict[str, int] = {}
    for node in _statements(tree.body):
        targets = getattr(node, "targets", [getattr(node, "target", node)]) if isinstance(node, _ASSIGNMENTS) else []
        for name in (inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)):
            if _CONSTANT.fullmatch(name):
                defined.setdefault(name, node.lineno)
    local = {id(node) for function in nodes for node in _local_names(function)}
    names = (node for node in nodes if isinstance(node, ast.Name) and id(node) not in local)
    uses = sorted((node.lineno, node.id) for node in names if node.id in defined)
    first = {name: line for line, name in reversed(uses)}
    for name, line in sorted(defined.items(), key=lambda item: item[1]):
        if first[name] < line - MOST_LINES_ABOVE:
            yield f"{first[name]}: {name} used at line {first[name]}, defined at line {line}"


def _local_names(function: ast.AST) -> Iterator[ast.Name]:
    """Yield the names within a function that it gives a value itself: they are none of the module's."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    given = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    given |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    given |= {node.asname or node.name for node in ast.walk(function) if isinstance(node, ast.alias)}
    yield from (node for node in names if node.id in given)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those within its `if`, `try` and `with` included."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            inner = (getattr(node, field, []) for field in ("body", "orelse", "finalbody"))
            yield from _statements(one for block in inner for one in block)
            yield from _statements(one for handler in getattr(node, "handlers", []) for one in handler.body)


def circles(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the sets of modules of which each needs each other one, the largest first.

    >>> circles({"a": ["b"], "b": ["c"], "c": ["b", "elsewhere"]})
    [['b', 'c']]
    """
    reach = {name: {each for each in needed if each in needs and each != name} for name, needed in needs.items()}
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        open_.append(name)
        for other in reach[name]:
            if other not in order:
                visit(other)
            if other in open_:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            group = open_[open_.index(name) :]
            del open_[open_.index(name) :]
            if len(group) > 1:
                groups.append(sorted(group))

    for name in reach:
        if name not in order:
            visit(name)
    return sorted(groups, key=lambda group: (-len(group), group))


def faults(of: list[Module]) -> list[str]:
    """Return a line for each fault, with its place and its cure; of a circle a line for each of its imports."""
    return [
        *_circle_faults({module.name: module for module in of}),
        *(
            f"{module.path}: {module.code} lines of code, at most {MOST_LINES}: move one of its concepts to a module"
            for module in of
            if module.code > MOST_LINES and not module.table
        ),
        *(f"{module.path}:{sentence}: define it above its use" for module in of for sentence in module.early),
    ]


def ignored(root: Path = ROOT) -> re.Pattern[str]:
    """Return the pattern of the imports that the walls ignore, each written as `importer -> imported`.

    >>> bool(ignored().fullmatch("workbench.experiments.results -> workbench.statistics.summary"))
    True
    """
    walls = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    listed = [re.escape(one) for wall in walls for one in wall.get("ignore_imports", ())]
    return re.compile("|".join(one.replace(r"\*\*", ".+").replace(r"\*", r"[^.]+") for one in listed) or r"(?!)")


def _circle_faults(of: Mapping[str, Module]) -> Iterator[str]:
    leaves_out = ignored().fullmatch
    needs = {
        name: {other: line for other, line in module.edges.items() if not leaves_out(f"{name} -> {other}")}
        for name, module in of.items()
    }
    for group in circles(needs):
        yield f"a circle of {len(group)} modules: remove imports until none leads back"
        for name in group:
            edges = sorted((line, other) for other, line in needs[name].items() if other in group)
            yield from (f"    {of[name].path}:{line} {name} imports {other}" for line, other in edges)


def trend(of: list[Module]) -> str:
    """Return the size of a package in one line."""
    code = sum(module.code for module in of)
    share = 100 * sum(module.imports for module in of) / code
    middle = statistics.median(module.code for module in of)
    longest = max((module for module in of if not module.table), key=lambda module: module.code)
    return (
        f"modules {len(of)}, code lines {code:,}, median {middle:.0f}, imports {share:.1f} %, "
        f"longest {longest.name} {longest.code}"
    )


def main() -> int:
    """Print the trend and the faults; return 1 if there is a fault."""
    there = modules()
    lines = faults(there)
    sys.stdout.writelines(f"{line}\n" for line in [*lines, trend(there)])
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
