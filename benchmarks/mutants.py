"""Whether fast tests detect faults of engines and measures: they are planted one at a time, drawn from a seed.

Run as `python -m benchmarks.mutants --count 60 --seed 36`. Each fault changes one comparison, operator or whole number
in the body of a function of `workbench/engines` or `workbench/metrics`. Everything is imported once, interpreted, as
what is compiled is the same text; then each fault is planted in memory in a process forked from that, which runs the
fast tests that are the source's own, its golden records first, until one fails. What lives is equivalent, or
unguarded.

`--long` runs the slow tests too where a fault lives: in a copy of the tree and a fresh process, so that what a function
computes when it is imported counts as well. `--compiled` does everything in such a copy, compiled. `--at COMMIT` draws
from the sources as they stood there; a fault of a function that is another by now is named and not planted.
`--leave-out node` leaves out what has no time: a node's tests take minutes a fault.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

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
ROOMS = ("engines", "metrics")
ENGINES = ("dispatch", "malloc", "node", "pool", "shared_memory", "torch_allocator", "translation")
LEFT_OUT = (".git", ".venv*", "results", "__pycache__", ".mypy_cache", ".ruff_cache", "notebooks")
GOLDEN = "tests/engines/test_golden_records.py::test_an_engine_records_what_the_golden_file_holds"
SECONDS = 900
"""After which a fault counts as killed: something waits for ever."""
NOT_PLANTED = 70
"""The exit status of a process in which there is nothing to plant a fault in."""
ALONE = {"NUMBA_DISABLE_JIT": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class Fault(NamedTuple):
    """One change of one line."""

    source: Path
    function: str
    """With its class before it."""
    place: int
    """Among those of its function that can be changed."""
    line: int
    was: str
    becomes: str


def main(words: list[str]) -> int:
    """Plant faults and print a line of each, then how many each suite killed; 1 where the slow tests alone kill one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="how many faults")
    parser.add_argument("--seed", type=int, default=1, help="which")
    parser.add_argument("--at", default="", metavar="COMMIT", help="draw from the sources of a commit")
    parser.add_argument("--long", action="store_true", help="run the slow tests too where a fault lives")
    parser.add_argument("--compiled", action="store_true", help="plant in a copy of the tree that is compiled")
    parser.add_argument("--leave-out", default="", metavar="WORD", help="plant nothing where a path has this word")
    given = parser.parse_args(words)
    if not given.compiled and os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.chdir(ROOT)
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.mutants", *words], {**os.environ, **ALONE})
    faults = [*drawn(given.count, given.seed, given.at)]
    planted = [one for one in faults if not given.leave_out or given.leave_out not in one.source.as_posix()]
    ends = Counter(_campaign(planted, given.long, given.compiled))
    ends["left out"] = len(faults) - len(planted)
    print(json.dumps({"mutants": given.count, "seed": given.seed, **ends}))
    return 1 if ends["killed by the slow tests alone"] else 0


def drawn(count: int, seed: int, commit: str = "") -> Iterator[Fault]:
    """Draw faults: first a source, each as likely, then a place in it."""
    draw, sources = random.Random(seed), sorted(_sources(commit))
    before = set[tuple[Path, str, int]]()
    while len(before) < count:
        source = draw.choice(sources)
        places = [*_places(ast.parse(_text(source, commit)))]
        function, place, node = draw.choice(places) if places else ("", 0, ast.Constant(0))
        if places and (source, function, place) not in before:
            before.add((source, function, place))
            was, line = ast.unparse(node), node.lineno
            _change(node)
            yield Fault(source, function, place, line, was, ast.unparse(node))


def _sources(commit: str) -> Iterator[Path]:
    for room in ROOMS:
        names = [path.relative_to(ROOT).as_posix() for path in (ROOT / "workbench" / room).rglob("*.py")]
        if commit:
            names = _git("ls-tree", "-r", "--name-only", commit, "--", f"workbench/{room}").splitlines()
        yield from (Path(name) for name in names if name.endswith(".py") and tests_of(Path(name)))


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _text(source: Path, commit: str) -> str:
    if commit:
        return _git("show", f"{commit}:{source.as_posix()}")
    return (ROOT / source).read_text(encoding="utf-8")


def tests_of(source: Path) -> list[str]:
    """Return the tests of a source's engine, its golden records first."""
    first, *others = source.with_suffix("").parts[2:]
    engine = next((name for name in ENGINES if first.startswith(name)), first)
    golden = [f"{GOLDEN}[{engine}]"] if engine in ENGINES else [GOLDEN]
    patterns = [f"metrics/test_{engine}*.py", f"engines/test_{engine}*.py", f"engines/{engine}/test_*.py"]
    patterns += ["engines/test_*_part.py"] if engine == "kit" else []
    patterns = patterns if others or "engines" in source.parts else patterns[:1]
    found = [path for pattern in patterns for path in sorted((ROOT / "tests").glob(pattern))]
    return [*golden[: "engines" in source.parts], *(path.relative_to(ROOT).as_posix() for path in found)]


def _campaign(faults: list[Fault], long: bool, compiled: bool) -> Iterator[str]:
    """Yield how each fault ends; what killed one must pass without a fault."""
    killers, modules = set[str](), [_planted(fault) for fault in faults]
    if not compiled:
        _import_all(sorted({test.partition("::")[0] for fault in faults for test in tests_of(fault.source)}))
        for fault in (fault for fault, module in zip(faults, modules, strict=True) if module):
            importlib.import_module(".".join(fault.source.with_suffix("").parts))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        if long or compiled:
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        for fault, module in zip(faults, modules, strict=True):
            killer = ""
            if module is None:
                end = "gone"
            else:
                killer = _killer_in_copy(tree, fault, module, compiled=True) if compiled else _killer(fault, module)
                end = "killed" if killer else "lives"
            if module is not None and end == "lives" and long:
                killer = _killer_in_copy(tree, fault, module, compiled=compiled, long=True)
                end = "killed by the slow tests alone" if killer else "lives"
            killers |= {killer} if "::" in killer and end == "killed" and not compiled else set()
            print(f"{fault.source}:{fault.line}  {fault.was}  ->  {fault.becomes}:  {end}  {killer}", flush=True)
            yield end
    failing = _killer(None, None, sorted(killers)) if killers else ""
    if failing:
        raise SystemExit(f"{failing} fails without a fault too: what it killed counts for nothing.")


def _planted(fault: Fault) -> ast.Module | None:
    """Return the source as it is now with a fault, None where that place is another by now."""
    if not (ROOT / fault.source).exists():
        return None
    module = ast.parse(_text(fault.source, ""))
    for function, place, node in _places(module):
        if (function, place) == (fault.function, fault.place) and ast.unparse(node) == fault.was:
            _change(node)
            return module
    return None


# In a fork of a process that has imported everything


def _import_all(tests: list[str]) -> None:
    """Import the tests and what they test, as pytest does."""
    import pytest

    with _Silent():
        pytest.main(["--collect-only", "-q", *_WORDS, *tests])


_WORDS = ("-x", "-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider", "-m", "not slow")


def _killer(fault: Fault | None, module: ast.Module | None, tests: Sequence[str] = ()) -> str:
    """Return the first test that fails with a fault, or without one, in a process of its own; none where all pass."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        _run_tests(fault, module, [*tests], writes)
    os.close(writes)
    with open(reads, encoding="utf-8") as pipe:
        failed = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == NOT_PLANTED:
        raise SystemExit(f"{fault} cannot be planted: nothing of its file is in memory.")
    return failed or (f"no test: it ended with {code}" if code else "")


def _run_tests(fault: Fault | None, module: ast.Module | None, tests: list[str], writes: int) -> NoReturn:
    import pytest

    class First:
        """Notes the first test that fails."""

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                os.write(writes, f"{report.nodeid}".encode())

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    code = NOT_PLANTED
    try:
        with _Silent():
            if fault is not None and module is not None:
                _plant(str(ROOT / fault.source), compile(module, str(ROOT / fault.source), "exec"))
                tests = tests_of(fault.source)
            code = 1
            code = int(pytest.main([*_WORDS, *tests], plugins=[First()]))
    finally:
        os._exit(code)


class _Silent:
    """What is printed goes nowhere, from other programs too."""

    def __enter__(self) -> None:
        sys.stdout.flush()
        self.kept = os.dup(1), os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1), os.dup2(nowhere, 2)

    def __exit__(self, *_: object) -> None:
        os.dup2(self.kept[0], 1), os.dup2(self.kept[1], 2)


def _plant(file: str, module: types.CodeType) -> None:
    """Give every function of a file that is in memory the code that it has in a module."""
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes(module)}
    planted = 0
    gc.unfreeze()  # what was there when the tests were collected is not looked through else
    for function in [one for one in gc.get_objects() if type(one) is types.FunctionType]:
        old = function.__code__
        new = codes.get((old.co_qualname, old.co_firstlineno)) if old.co_filename == file else None
        if new is not None and new.co_freevars == old.co_freevars:
            function.__code__ = new
            planted += 1
    assert planted, f"nothing of {file} is in memory"


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


# In a copy of the tree


def _killer_in_copy(tree: Path, fault: Fault, module: ast.Module, *, compiled: bool, long: bool = False) -> str:
    """Return what fails with a fault in the place of its source, which is put back; none where all tests pass."""
    kept = (tree / fault.source).read_text(encoding="utf-8")
    (tree / fault.source).write_text(ast.unparse(module), encoding="utf-8")
    try:
        return _first_that_fails(tree, tests_of(fault.source), long=long, compiled=compiled)
    finally:
        (tree / fault.source).write_text(kept, encoding="utf-8")


def _first_that_fails(tree: Path, tests: list[str], *, long: bool, compiled: bool) -> str:
    words = [*_WORDS[:-2], *([] if long else _WORDS[-2:])]
    depth = {"WORKBENCH_LONG": "1"} if long else {}
    alone = {**os.environ, **ALONE, "PYTHONPATH": str(tree), "NUMBA_DISABLE_JIT": "0" if compiled else "1", **depth}
    command = [sys.executable, "-m", "pytest", "-q", *words, *tests]
    try:
        done = subprocess.run(command, cwd=tree, env=alone, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no test: it took longer than {SECONDS} s"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "" if done.returncode == 0 else (failed or [f"no test: it ended with {done.returncode}"])[0]


# What can be changed


def _places(module: ast.Module) -> Iterator[tuple[str, int, ast.expr | ast.stmt]]:
    """Yield what can be changed: in bodies of functions alone, and never where a sentence of a refusal is made."""
    for name, function in _functions(module, ""):
        refusals = {inner for one in ast.walk(function) if isinstance(one, ast.Raise) for inner in ast.walk(one)}
        nodes = (node for line in function.body for node in ast.walk(line))
        changeable = (node for node in nodes if _changeable(node) and node not in refusals)
        for place, node in enumerate(changeable):
            assert isinstance(node, ast.expr | ast.stmt)
            yield name, place, node


def _functions(node: ast.AST, outer: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of a module and of its classes with their names; those inside belong to the outermost."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef):
            yield f"{outer}{inner.name}", inner
        elif isinstance(inner, ast.ClassDef):
            yield from _functions(inner, f"{outer}{inner.name}.")


def _changeable(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[op]):
            return type(op) in SWAPPED
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            return type(op) in SWAPPED
        case ast.Constant(value=value):
            return type(value) is int
    return False


def _change(node: ast.AST) -> None:
    match node:
        case ast.Compare():
            node.ops[0] = SWAPPED[type(node.ops[0])]()  # type: ignore[call-overload]
        case ast.BinOp() | ast.AugAssign():
            node.op = SWAPPED[type(node.op)]()  # type: ignore[assignment]
        case ast.Constant(value=int(value)):
            node.value = value + 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
