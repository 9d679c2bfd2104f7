"""The shape of the package: how many modules of which length, what of them imports, and whether imports go in circles.

    python -m tests.house.shape            print it beside its ceilings (`make shape`); 1 where one is exceeded
    python -m tests.house.shape --renew    lower the ceilings to what there is now; none is ever raised by this

Code is what is neither blank nor a comment nor a text that stands by itself. Tables are modules whose longest statement
is a literal of more than half of their code. A circle is a set of modules that need each other while they are imported.
"""

from __future__ import annotations

import ast
import io
import json
import statistics
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
CEILINGS = Path(__file__).with_suffix(".json")
LONG = 500
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


class Module(NamedTuple):
    """A module, by lines of code."""

    name: str
    code: int
    imports: int
    table: bool
    needs: frozenset[str]
    """What it imports from as it is imported itself."""


def module_of(name: str, text: str) -> Module:
    """The lines of a module.

    >>> module_of("one", '"A text."\\nimport os\\n\\n# why\\nx = (1,\\n     2)\\n')[:4]
    ('one', 3, 1, False)
    """
    tree = ast.parse(text)
    texts = {line for node in ast.walk(tree) if _is_text(node) for line in _lines(node)}
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    } - texts
    imports = {
        line for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for line in _lines(node)
    }
    longest = max((len([*_lines(one.value)]) for one in tree.body if _is_literal(one)), default=0)
    return Module(name, len(code), len(imports & code), longest > len(code) / 2, frozenset(_needed(tree.body)))


def _lines(node: ast.AST) -> range:
    return range(node.lineno, node.end_lineno + 1)  # type: ignore[attr-defined]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_literal(node: ast.AST) -> bool:
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(
        node.value, (ast.Dict, ast.List, ast.Set, ast.Tuple, ast.Constant)
    )


def _needed(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def modules(package: Path = ROOT / "workbench") -> list[Module]:
    """Every module of a package."""
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found.append(module_of(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path.read_text()))
    return found


def circles(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Sets of modules of which each is needed by each other one, the largest first.

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


def shape(all_modules: list[Module]) -> dict[str, float]:
    """The figures that have ceilings; of the median the ceiling is a floor."""
    code = sum(module.code for module in all_modules)
    return {
        "modules": len(all_modules),
        "code lines": code,
        "imports, % of code": round(100 * sum(module.imports for module in all_modules) / code, 1),
        "median code lines": statistics.median(module.code for module in all_modules),
        f"modules above {LONG}": sum(module.code > LONG and not module.table for module in all_modules),
        "circles": len(circles({module.name: module.needs for module in all_modules})),
    }


def exceeded(now: Mapping[str, float], ceilings: Mapping[str, float]) -> list[str]:
    """A sentence for each figure that is worse than its ceiling.

    >>> exceeded({"modules": 12, "median code lines": 40}, {"modules": 11, "median code lines": 41})
    ['modules: 12, at most 11', 'median code lines: 40, at least 41']
    """
    return [
        f"{name}: {now[name]:,}, at {'least' if _grows(name) else 'most'} {ceiling:,}"
        for name, ceiling in ceilings.items()
        if (now[name] < ceiling if _grows(name) else now[name] > ceiling)
    ]


def _grows(name: str) -> bool:
    return name.startswith("median")


def main(arguments: list[str]) -> int:
    """Print the shape; 1 where a ceiling is exceeded."""
    there = modules()
    now, ceilings = shape(there), json.loads(CEILINGS.read_text())
    for name, value in now.items():
        sys.stdout.write(f"{name:<22}{value:>10,}   {'at least' if _grows(name) else 'at most'} {ceilings[name]:,}\n")
    longest = sorted((module for module in there if not module.table), key=lambda module: -module.code)[:5]
    sys.stdout.write("longest: " + ", ".join(f"{module.name} {module.code}" for module in longest) + "\n")
    sys.stdout.writelines(f"circle: {' '.join(group)}\n" for group in circles({one.name: one.needs for one in there}))
    if "--renew" in arguments:
        better = {name: max(now[name], old) if _grows(name) else min(now[name], old) for name, old in ceilings.items()}
        CEILINGS.write_text(json.dumps(better, indent=1) + "\n")
        return 0
    worse = exceeded(now, ceilings)
    sys.stdout.writelines(f"{each}: join what is there, or take something away\n" for each in worse)
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
