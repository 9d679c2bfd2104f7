"""The folders of compiled code are named after the sources: an edit that matters gives another one, no other does."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numba
import pytest
from numba.core import event

import workbench
from tests.compile_first import RUNS, Across
from tests.slow import LONG, compiled_only
from workbench.compiled.kernel import ROOMS, SOURCES, KeptIndex, Sources, cache_folder, code_home, may_be_kept, sources
from workbench.structures.event_queue import EventQueue

PACKAGE = Path(workbench.__file__).parent
FILES = {
    "engines/__init__.py": "",
    "engines/pool/__init__.py": "",
    "engines/pool/loop.py": """from workbench.records.pool import (
    A,  # a comment, with a name
    B as C,
)
from workbench.structures import heap, ring as round_one
from workbench.machine.board import Board
""",
    "engines/node/__init__.py": "",
    "engines/node/loop.py": "if True:\n    from workbench.engines.pool.loop import step\n",
    "engines/malloc/__init__.py": "",
    "engines/malloc/loop.py": "from workbench.compiled import kernel\n\n\n@kernel\ndef run(x):\n    return x\n",
    "metrics/pool.py": "from workbench.records.pool import A\n",
    "records/pool.py": "A, B = 1, 2\n",
    "structures/__init__.py": "from workbench.structures.ring import ring\n",
    "structures/heap.py": "",
    "structures/ring.py": "",
    "machine/board.py": "from workbench.policies.fit import fit\n",
    "policies/fit.py": "",
    "compiled/__init__.py": "",
}
POOL = {"engines.pool.loop", "records.pool", "structures", "structures.heap", "structures.ring"}


@pytest.fixture
def root(tmp_path):
    """A small package, of which nothing is imported."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_code_that_checks_each_index_is_kept_apart(monkeypatch):
    """Numba's index names neither: a run that was to check would find the code that does not."""
    homes = {}
    for value in (None, "", "0", "1"):
        monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)
        if value is not None:
            monkeypatch.setenv("NUMBA_BOUNDSCHECK", value)
        homes[value] = code_home().name
    assert homes == {None: "code", "": "code", "0": "code", "1": "code_with_bounds"}


def test_a_closure_is_what_a_module_imports_within_the_rooms_of_compiled_code(root):
    known = Sources(root)
    assert known.closure("engines.pool.loop") == POOL
    assert known.closure("engines.node.loop") == POOL | {"engines.node.loop"}
    assert known.closure("metrics.pool") == {"metrics.pool", "records.pool"}
    assert known.closure("engines.malloc.loop") == {"engines.malloc.loop", "compiled"}
    assert known.closure("no.such.module") == {"no.such.module"}


MODULES = ("engines.pool.loop", "engines.node.loop", "engines.malloc.loop", "metrics.pool")


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("records/pool.py", {"engines.pool.loop", "engines.node.loop", "metrics.pool"}),
        ("structures/ring.py", {"engines.pool.loop", "engines.node.loop"}),
        ("engines/pool/loop.py", {"engines.pool.loop", "engines.node.loop"}),
        ("metrics/pool.py", {"metrics.pool"}),
        ("compiled/__init__.py", {"engines.malloc.loop"}),
        ("policies/fit.py", set()),
        ("machine/board.py", set()),
    ],
)
def test_an_edit_changes_the_digests_of_all_that_can_have_it_compiled_in(root, edited, changed):
    before = {module: Sources(root).digest(module) for module in MODULES}
    with open(root / edited, "a") as file:
        file.write("# edited\n")
    assert {module for module in MODULES if Sources(root).digest(module) != before[module]} == changed


def test_a_gone_and_a_moved_file_change_the_digest(root):
    digests = {Sources(root).digest("engines.pool.loop")}
    (root / "structures" / "heap.py").rename(root / "structures" / "tree.py")
    digests.add(Sources(root).digest("engines.pool.loop"))
    (root / "engines" / "pool" / "loop.py").write_text("from workbench.structures import tree\n")
    digests.add(Sources(root).digest("engines.pool.loop"))
    assert len(digests) == 3


def test_several_modules_have_one_digest_in_any_order(root):
    known = Sources(root)
    assert known.digest("metrics.pool", "engines.malloc.loop") == known.digest("engines.malloc.loop", "metrics.pool")
    assert known.digest("metrics.pool", "engines.malloc.loop") != known.digest("metrics.pool")


def test_the_modules_that_hold_compiled_functions_stand_for_an_engine(root):
    assert Sources(root).kernels("engines.malloc") == ["engines.malloc.loop"]
    assert Sources(root).kernels("engines.pool") == []
    assert sources().kernels("engines.shared_memory") == ["engines.shared_memory_loop"]


def compiled_into(engine: str) -> set[str]:
    return set().union(*map(sources().closure, sources().kernels(f"engines.{engine}")))


def test_an_edit_of_a_measure_or_of_a_policy_compiles_no_engine():
    judges = {"metrics.pool", "metrics.dispatch"}
    answers = {"policies.placement.nearest_boundary", "policies.dispatch.choice.most_residual"}
    for engine in RUNS:
        assert not (judges | answers) & compiled_into(engine), engine
    parts = sources().closure("policies.placement.nearest_boundary") | sources().closure("metrics.pool")
    assert answers & parts and judges & parts


def test_an_edit_of_the_pool_compiles_the_pool_and_the_node():
    assert {engine for engine in (*RUNS, "node") if "engines.pool.loop" in compiled_into(engine)} == {"pool", "node"}


def names_taken(text: str, exists) -> Iterator[tuple[str, str]]:
    """Each name that a compiled function of a source takes from another module of the package, behind that module."""
    tree = ast.parse(text)
    origin = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workbench."):
            for name in node.names:
                part = f"{node.module}.{name.name}".removeprefix("workbench.")
                origin[name.asname or name.name] = part if exists(part) else part.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            inside = {part.id for line in node.body for part in ast.walk(line) if isinstance(part, ast.Name)}
            yield from ((origin[name], name) for name in sorted(inside & set(origin)))


def exists(module: str) -> bool:
    return bool(sources()._source(module))


def kernel_modules() -> list[str]:
    return [module for room in ROOMS for module in sources().kernels(room)]


@pytest.mark.slow
def test_compiled_functions_take_nothing_from_rooms_that_are_not_in_the_digests():
    modules = kernel_modules()
    assert len(modules) > 81
    for module in modules:
        text = PACKAGE.joinpath(*module.split(".")).with_suffix(".py").read_text()
        for source, name in names_taken(text, exists):
            assert source in sources().closure(module), f"{module} takes {name} from {source}"
        assert not re.search(r"^ *(from \.|import workbench)", text, re.MULTILINE), f"{module}: an import unseen"


def test_a_name_from_another_room_is_seen():
    text = "from workbench.units import KIB as K\n\n@kernel\ndef f(x):\n    return x * K\n"
    assert list(names_taken(text, exists)) == [("units", "K")]
    assert "units" not in SOURCES


@compiled_only
def test_a_function_of_another_module_that_is_compiled_in_is_seen_and_must_be_in_the_digest():
    """`make warm` asks so of whatever it compiles."""
    inner = numba.njit(lambda x: x + 1)
    outer = numba.njit(lambda x: inner(x))
    inner.py_func.__module__, outer.py_func.__module__ = "workbench.units", "workbench.structures.bitmaps"
    with event.install_listener("numba:compile", Across()) as across:
        assert outer(1) == 2
    assert across.pairs == {("structures.bitmaps", "units")}
    assert across.unseen() == ["structures.bitmaps takes in units, which is not in its digest"]
    across.pairs = {("engines.pool.loop", module) for module in sources().closure("engines.pool.loop")}
    assert len(across.pairs) > 9
    assert across.unseen() == []


COMPILES = """
import sys
from numba.core import event
from tests.compile_first import Across, compile_engine
with event.install_listener("numba:compile", Across()) as across:
    print(compile_engine(sys.argv[1]) or "all are seen")
print(len(across.pairs))
"""


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("engine", RUNS if LONG else ["shared_memory"])
def test_all_that_is_compiled_into_a_function_is_in_the_digest_of_its_module(engine, tmp_path):
    """Where nothing is kept, `make warm` asks so of every engine."""
    environment = {**os.environ, "WORKBENCH_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", COMPILES, engine]
    child = subprocess.run(command, env=environment, cwd=PACKAGE.parent, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    *_, verdict, pairs = child.stdout.splitlines()
    assert verdict == "all are seen"
    assert int(pairs) > 3


def test_the_folder_is_a_module_s_and_carries_its_digest(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    digest = Sources(PACKAGE).digest("structures.bitmaps")
    assert cache_folder("workbench.structures.bitmaps") == tmp_path / "code" / "structures.bitmaps" / digest
    assert code_home() == tmp_path / "code"


def test_who_may_be_kept():
    assert may_be_kept("workbench.policies.placement.fit")
    assert not may_be_kept("__main__")
    assert not may_be_kept("workbenches.policies")
    with pytest.raises(RuntimeError, match="not part of the digests"):
        may_be_kept("workbench.figures.drain")


CALLER = "from workbench.structures.bitmaps import first_start\nimport numpy as np\n"
ASKS = CALLER + "print(first_start(np.zeros(1, np.uint64), 1, 0))"


def copy_of_the_package(folder: Path) -> Path:
    """What `ASKS` imports, in a folder of its own."""
    package = Path(workbench.__file__).parent
    copied = folder / "workbench"
    copied.mkdir(parents=True)
    for source in package.glob("*.py"):
        (copied / source.name).write_text("" if source.name == "__init__.py" else source.read_text())
    for room in ("compiled", "identity", "levers", "parts", "structures"):
        (copied / room).mkdir()
        for source in (package / room).glob("*.py"):
            (copied / room / source.name).write_text(source.read_text())
    return copied


def asked_in(clone: Path, kept: Path) -> str:
    """What `ASKS` prints where the package is the clone's, with compiled code kept in a folder."""
    environment = {**os.environ, "WORKBENCH_CACHE": str(kept), "PYTHONPATH": str(clone)}
    command = [sys.executable, "-P", "-c", ASKS]
    child = subprocess.run(command, env=environment, cwd=clone, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return child.stdout.strip()


@compiled_only
@pytest.mark.slow
def test_an_edit_of_a_called_file_is_seen_by_its_callers(tmp_path):
    """The trap: Numba looks at the file of the function that it loads, not at those that this one calls."""
    copied, kept = copy_of_the_package(tmp_path), tmp_path / "kept"
    assert asked_in(tmp_path, kept) == asked_in(tmp_path, kept) == "-1"
    called = copied / "structures" / "bitmaps.py"
    called.write_text(called.read_text().replace("NOWHERE = -1", "NOWHERE = -7"))
    assert asked_in(tmp_path, kept) == "-7"


@pytest.mark.slow
@compiled_only
def test_a_second_clone_with_equal_sources_compiles_nothing_again(tmp_path):
    one, other, kept = tmp_path / "one", tmp_path / "other", tmp_path / "kept"
    copy_of_the_package(one)
    copy_of_the_package(other)
    asked_in(one, kept)
    files = {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.is_file()}
    asked_in(other, kept)
    assert files
    assert files == {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.is_file()}


def test_an_index_that_names_a_class_which_has_moved_is_empty_and_is_written_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    moved = ModuleType("moved_away")
    exec("from typing import NamedTuple\nclass View(NamedTuple):\n    words: int\n", vars(moved))
    monkeypatch.setitem(sys.modules, "moved_away", moved)
    index = KeptIndex(str(tmp_path), "answer", "stamp")
    index.save((moved.View,), "machine code")
    assert index.load((moved.View,)) == "machine code"
    monkeypatch.delitem(sys.modules, "moved_away")
    assert KeptIndex(str(tmp_path), "answer", "stamp").load("another") is None
    KeptIndex(str(tmp_path), "answer", "stamp").save("another", "newer code")
    assert KeptIndex(str(tmp_path), "answer", "stamp").load("another") == "newer code"


class OfATest(NamedTuple):
    """A view that a file of a user's or a test could define."""

    words: int


@pytest.mark.parametrize(
    ("of", "is_kept"),
    [(OfATest(1), False), ((0, (OfATest(1),)), False), (EventQueue._make([1] * len(EventQueue._fields)), True)],
)
def test_a_form_that_takes_a_class_of_a_user_s_or_a_test_s_is_not_kept(
    of: object, is_kept: bool, tmp_path: Path
) -> None:
    key = (numba.typeof(of), "a processor")
    KeptIndex(str(tmp_path), "answer", "stamp").save(key, "machine code")
    assert (KeptIndex(str(tmp_path), "answer", "stamp").load(key) is not None) == is_kept
