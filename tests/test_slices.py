"""Slow tests are in 24 slices; a commit runs three of them, the same ones each time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests import slices
from tests.slices import ALL, COUNT, NO_COMMIT, draw, head, read, slice_of, split, write

COMMITS = [f"{number:040x}" for number in range(400)]
SUITE = """
import pytest

@pytest.fixture(scope="module")
def shared():
    return 1

@pytest.fixture
def own():
    return 1

@pytest.mark.slow
@pytest.mark.parametrize("k", range(60))
def test_alone(k, own):
    pass

@pytest.mark.slow
@pytest.mark.parametrize("k", range(20))
def test_together(k, shared):
    pass

@pytest.mark.parametrize("k", range(3))
def test_fast(k):
    pass
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    (tmp_path / "test_suite.py").write_text(SUITE)
    return tmp_path


def pytest_of(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder, with the plugin."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.slices", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(slices.ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def collected(folder: Path, selection: str) -> list[str]:
    """Return the names of the tests that run with a selection."""
    printed = pytest_of(folder, "--collect-only", f"--slices={selection}").stdout
    return [line.partition("::")[2] for line in printed.splitlines() if "::" in line]


class Item:
    """A test as pytest collects it."""

    def __init__(self, name: str, slow: bool) -> None:
        self.nodeid, self.slow = name, slow

    def get_closest_marker(self, name: str) -> str | None:
        return name if self.slow and name == "slow" else None


def test_every_slow_test_is_in_one_slice_and_every_fast_test_in_each_run() -> None:
    items = [Item(f"tests/test_units.py::test_bytes[{k}]", slow=k % 5 > 0) for k in range(1000)]
    runs = Counter[str]()
    for number in ALL:
        kept, rest = split(items, [number])
        assert sorted([*kept, *rest], key=items.index) == items
        runs.update(item.nodeid for item in kept)
    assert runs == Counter({item.nodeid: 1 if item.slow else COUNT for item in items})
    assert split(items, ALL) == (items, [])
    assert split(items, []) == ([item for item in items if not item.slow], [item for item in items if item.slow])


def test_tests_that_share_a_fixture_of_their_file_are_in_one_slice(suite: Path) -> None:
    selection = str(slice_of("test_suite.py"))
    runs = collected(suite, selection)
    assert [name for name in runs if "together" in name] == [f"test_together[{k}]" for k in range(20)]
    alone = [f"test_alone[{k}]" for k in range(60)]
    assert [name for name in runs if "alone" in name] == [
        name for name in alone if slice_of(f"test_suite.py::{name}") == int(selection)
    ]


def test_a_run_prints_its_slices_and_the_command_that_repeats_them(suite: Path) -> None:
    printed = pytest_of(suite, "--slices=20,3").stdout
    assert f"Slow tests: slices 3,20 of 24 at commit {head()[:12]}. To repeat: make test SLICES=3,20" in printed
    assert "Slow tests" not in pytest_of(suite, "--slices=none").stdout


def test_slices_are_of_like_size() -> None:
    counts = Counter(slice_of(f"tests/engines/test_pool.py::test_one[{seed}]") for seed in range(24_000))
    assert set(counts) == ALL
    assert all(900 < count < 1100 for count in counts.values())


def test_the_slice_of_a_test_never_changes() -> None:
    """The digest must not depend on the process, the machine or the version of Python."""
    assert [slice_of(f"tests/test_units.py::test_bytes[{k}]") for k in range(6)] == [5, 17, 13, 4, 21, 20]


def test_a_commit_draws_three_slices_the_same_each_time_and_every_slice_in_one_commit_of_eight() -> None:
    drawn = [draw(commit) for commit in COMMITS]
    assert drawn == [draw(commit) for commit in COMMITS]
    assert all(len(set(one)) == 3 and set(one) <= ALL for one in drawn)
    counts = Counter(number for one in drawn for number in one)
    assert set(counts) == ALL
    assert all(25 < count < 75 for count in counts.values())
    assert draw("823d687c7b6f2ce1b4a2e5d0b1f8c6a9d7e3f405") == [8, 10, 13]


def test_head_is_the_commit_of_the_tree_and_a_tree_without_git_has_a_fixed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert head(tmp_path) == NO_COMMIT
    (tmp_path / ".git").mkdir()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        assert head(tmp_path) == NO_COMMIT
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    first = head(tmp_path)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "two"], cwd=tmp_path, check=True)
    assert NO_COMMIT != first != head(tmp_path)


@pytest.mark.parametrize("selection", ["all", "none", "3,11,20", "1"])
def test_a_selection_is_written_as_it_is_read(selection: str) -> None:
    assert write(read(selection)) == selection


@pytest.mark.parametrize("selection", ["25", "0", "some", "3,,4", "-1"])
def test_a_wrong_selection_is_refused(selection: str) -> None:
    with pytest.raises(ValueError, match=rf"--slices takes all, none, head or numbers from 1 to {COUNT}"):
        read(selection)


def test_a_wrong_selection_is_refused_on_the_command_line(suite: Path) -> None:
    run = pytest_of(suite, "--slices=25")
    assert run.returncode == 4
    assert "--slices takes all, none, head or numbers from 1 to 24 (3,11,20). Got '25'." in run.stderr
