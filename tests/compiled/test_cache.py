"""The folder of compiled code is named after the sources: an edit anywhere that matters gives another one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import workbench
from tests.depth import compiled_only, long
from workbench.compiled.cache import ROOMS, cache_folder, may_be_kept, source_digest


def sources(root: Path) -> Path:
    for room in ROOMS:
        (root / room / "inner").mkdir(parents=True)
        (root / room / "inner" / "kernels.py").write_text("def f(x):\n    return x\n")
    return root


@pytest.mark.parametrize("room", ROOMS)
def test_an_edit_changes_the_digest(tmp_path, room):
    root = sources(tmp_path)
    before = source_digest(root)
    assert source_digest(root) == before
    called = root / room / "inner" / "kernels.py"
    called.write_text("def f(x):\n    return y\n")
    assert source_digest(root) != before
    called.write_text("def f(x):\n    return x\n")
    assert source_digest(root) == before


def test_a_new_a_gone_and_a_moved_file_change_the_digest(tmp_path):
    root = sources(tmp_path)
    digests = {source_digest(root)}
    added = root / ROOMS[0] / "added.py"
    added.write_text("")
    digests.add(source_digest(root))
    added.rename(root / ROOMS[0] / "moved.py")
    digests.add(source_digest(root))
    (root / ROOMS[1] / "inner" / "kernels.py").unlink()
    digests.add(source_digest(root))
    assert len(digests) == 4


def test_a_boundary_between_files_is_part_of_the_digest(tmp_path):
    one, other = tmp_path / "one" / ROOMS[0], tmp_path / "other" / ROOMS[0]
    for folder, first, second in ((one, "ab", "c"), (other, "a", "bc")):
        folder.mkdir(parents=True)
        (folder / "x.py").write_text(first)
        (folder / "y.py").write_text(second)
    assert source_digest(one.parent) != source_digest(other.parent)


def test_a_room_without_kernels_costs_no_compilation(tmp_path):
    root = sources(tmp_path)
    before = source_digest(root)
    (root / "figures").mkdir()
    (root / "figures" / "drain.py").write_text("x = 1\n")
    assert source_digest(root) == before


def test_the_folder_carries_the_digest_of_this_package(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path / source_digest(Path(workbench.__file__).parent)


def test_who_may_be_kept():
    assert may_be_kept("workbench.policies.placement.first_fit")
    assert not may_be_kept("__main__")
    assert not may_be_kept("workbenches.policies")
    with pytest.raises(RuntimeError, match="not part of the digest"):
        may_be_kept("workbench.figures.drain")


CALLER = "from workbench.structures.windows import first_start\nimport numpy as np\n"
ASKS = CALLER + "print(first_start(np.zeros(1, np.uint64), 1, 0))"


def copy_of_the_package(folder: Path) -> Path:
    """What `ASKS` imports, in a folder of its own."""
    package = Path(workbench.__file__).parent
    copied = folder / "workbench"
    for source in (package / f"{name}.py" for name in ("__init__", "folders", "errors", "compiling")):
        copied.mkdir(parents=True, exist_ok=True)
        (copied / source.name).write_text("" if source.name == "__init__.py" else source.read_text())
    for room in ("compiled", "identity", "structures"):
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
@long
def test_an_edit_of_a_called_file_is_seen_by_its_callers(tmp_path):
    """The trap: Numba looks at the file of the function that it loads, not at those that this one calls."""
    copied, kept = copy_of_the_package(tmp_path), tmp_path / "kept"
    assert asked_in(tmp_path, kept) == asked_in(tmp_path, kept) == "-1"
    called = copied / "structures" / "free_map.py"
    called.write_text(called.read_text().replace("NOWHERE = -1", "NOWHERE = -7"))
    assert asked_in(tmp_path, kept) == "-7"


@long
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
