"""Whether the short suite still sees what the long one sees: faults planted in the sources, one at a time.

Run as `python -m benchmarks.mutants [COUNT] [SEED]`. Each mutant changes one comparison, operator or whole number of a
source that has tests of its own, in a copy of this tree. `make test`'s share of those tests runs first; where it stays
green, so does everything that `make test-long` adds: a mutant that only the long tests kill is what moving them cost,
and one that both let live is equivalent or unguarded by either. Interpreted, as what is compiled is the same text.
"""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
}
ROOMS = ("policies", "structures", "engines", "metrics", "workloads", "experiments", "export", "studies", "machine")
LEFT_OUT = (".git", ".venv", "results", "__pycache__", ".mypy_cache", ".ruff_cache", "notebooks")
SECONDS = 600
"""After which a mutant counts as killed: it waits for ever."""


class Guarded(NamedTuple):
    """A source, and the test files that are its own."""

    source: Path
    tests: tuple[Path, ...]


class Mutant(NamedTuple):
    """One change of one line."""

    source: Path
    line: int
    was: str
    becomes: str


def main(count: int = 40, seed: int = 1) -> int:
    """Plant `count` mutants and print a line of each, then how many each suite killed; 1 where thinning cost one."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        ends = Counter(end for end in _campaign(tree, count, random.Random(seed)))
    print(json.dumps({"mutants": count, "seed": seed, **ends}))
    return 1 if ends["killed by the long tests alone"] else 0


def _campaign(tree: Path, count: int, draw: random.Random) -> Iterator[str]:
    guarded = sorted(_all_guarded(tree))
    for _ in range(count):
        one = draw.choice(guarded)
        mutant, text = _mutated(tree / one.source, draw)
        end = _end_of(tree, one, text)
        print(f"{one.source}:{mutant.line}  {mutant.was}  ->  {mutant.becomes}:  {end}", flush=True)
        yield end


def _end_of(tree: Path, one: Guarded, text: str) -> str:
    """Return which suite kills `text` in the place of the source, which is put back."""
    kept = (tree / one.source).read_text()
    (tree / one.source).write_text(text)
    try:
        if not _green(tree, one.tests, long=False):
            return "killed"
        return "lives" if _green(tree, one.tests, long=True) else "killed by the long tests alone"
    finally:
        (tree / one.source).write_text(kept)


def _green(tree: Path, tests: tuple[Path, ...], *, long: bool) -> bool:
    """Return whether `tests` pass: without what is long, or with all of it and deeper."""
    chosen = [] if long else ["-m", "not long"]
    depth = {"WORKBENCH_LONG": "1"} if long else {}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *chosen, *map(str, tests)]
    alone = {**os.environ, "PYTHONPATH": str(tree), "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1", **depth}
    try:
        return subprocess.run(command, cwd=tree, env=alone, capture_output=True, timeout=SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _all_guarded(tree: Path) -> Iterator[Guarded]:
    for room in ROOMS:
        for source in (tree / "workbench" / room).rglob("*.py"):
            inside = source.relative_to(tree / "workbench")
            tests = tuple(sorted(_tests_of(tree / "tests", inside)))
            if tests and any(_places(ast.parse(source.read_text()))):
                yield Guarded(source.relative_to(tree), tuple(test.relative_to(tree) for test in tests))


def _tests_of(tests: Path, inside: Path) -> list[Path]:
    """Return the tests of a source: of an engine all that bear its name, of another the file of the same place."""
    if inside.parts[0] == "engines" and len(inside.parts) > 2:
        return list((tests / "engines").glob(f"test_{inside.parts[1]}*.py"))
    mirrored = tests / inside.parent / f"test_{inside.name}"
    return [mirrored] if mirrored.exists() else []


def _mutated(source: Path, draw: random.Random) -> tuple[Mutant, str]:
    module = ast.parse(source.read_text())
    place = draw.choice(list(_places(module)))
    was = ast.unparse(place)
    _change(place)
    return Mutant(source, place.lineno, was, ast.unparse(place)), ast.unparse(module)


def _places(module: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    """Yield what can be changed: in functions alone, and never where a sentence of a refusal is made."""
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if _changeable(node) and not _in_a_refusal(node, function):
                    assert isinstance(node, ast.expr | ast.stmt)
                    yield node


def _changeable(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[op]):
            return type(op) in SWAPPED
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            return type(op) in SWAPPED
        case ast.Constant(value=value):
            return type(value) is int
    return False


def _in_a_refusal(node: ast.AST, function: ast.FunctionDef) -> bool:
    raised = (raising for raising in ast.walk(function) if isinstance(raising, ast.Raise))
    return any(node is inner for raising in raised for inner in ast.walk(raising))


def _change(node: ast.AST) -> None:
    match node:
        case ast.Compare():
            node.ops[0] = SWAPPED[type(node.ops[0])]()  # type: ignore[call-overload]
        case ast.BinOp() | ast.AugAssign():
            node.op = SWAPPED[type(node.op)]()  # type: ignore[assignment]
        case ast.Constant(value=int(value)):
            node.value = value + 1


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:])))
