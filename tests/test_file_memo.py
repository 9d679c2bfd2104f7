"""What was read of a file counts only while the file is surely as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench import files
from workbench.files import GRAIN_NS, FileMemo, State


class Clock:
    """The time of day as the memo sees it."""

    def __init__(self) -> None:
        self.now = 10**18

    def time_ns(self) -> int:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    """A clock that stands still, and a file system whose times and sizes tell only what they told long ago."""
    clock = Clock()
    monkeypatch.setattr(files, "time", clock)
    return clock


@pytest.fixture
def written(monkeypatch, tmp_path, clock):
    """Write a file with a stamp that says so many nanoseconds ago, the same for every content."""
    path, stamp = tmp_path / "a", [0]
    monkeypatch.setattr(files, "state_of", lambda file: State(stamp[0], stamp[0], Path(file).stat().st_size, 1))

    def write(text: str, ago: int) -> Path:
        path.write_text(text)
        stamp[0] = clock.now - ago
        return path

    return write


def reader(path: Path):
    """Read the file through a memo; tells what came of it, and whether it was read."""
    memo, reads = FileMemo[str](), []

    def read(anew: bool = False) -> tuple[str, bool]:
        before = len(reads)
        text = memo.get(path, path, lambda _: (reads.append(1), path.read_text())[1], anew)
        return text, len(reads) > before

    return read


@pytest.mark.parametrize("ago", [-GRAIN_NS, 0, GRAIN_NS - 1, GRAIN_NS])
def test_a_young_file_is_read_again_until_it_is_two_seconds_old(written, clock, ago):
    read = reader(written("one", ago))
    assert read() == ("one", True)
    written("two", ago)
    assert read() == ("two", True)
    clock.now += GRAIN_NS - ago + 1
    assert read() == ("two", True)
    assert read() == ("two", False)


def test_an_old_file_is_read_once_until_its_state_changes(written, clock):
    path = written("one", GRAIN_NS + 1)
    read = reader(path)
    assert [read() for _ in range(3)] == [("one", True), ("one", False), ("one", False)]
    assert read(anew=True) == ("one", False)
    written("other", 10**10)
    assert read() == ("other", True)


def test_a_file_that_changes_while_it_is_read_is_read_again(written, clock):
    path = written("one", 10**10)
    memo = FileMemo[str]()

    def read(_: str | None) -> str:
        text = path.read_text()
        written("two", 10**11)
        return text

    assert memo.get(path, path, read) == "one"
    assert memo.get(path, path, lambda _: path.read_text()) == "two"


def test_on_a_network_what_was_read_counts_for_two_seconds_and_not_for_a_plan(written, clock, monkeypatch, tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"22 1 8:1 / / rw - ext4 /dev/a rw\n23 22 0:9 / {tmp_path} rw - nfs4 host:/x rw\n")
    monkeypatch.setattr(files, "_MOUNTS", mounts)
    read = reader(written("one", 10**10))
    assert [read(), read()] == [("one", True), ("one", False)]
    written("two", 10**10)
    assert read(anew=True) == ("two", True)
    clock.now += GRAIN_NS - 1
    assert read() == ("two", False)
    clock.now += 1
    assert read() == ("two", True)


def test_times_that_were_put_back_do_not_hide_a_change(tmp_path):
    """As `cp -p` does it; what tells is when the file's own entry changed."""
    path = tmp_path / "a"
    path.write_text("one")
    os.utime(path, ns=(10**18, 10**18))
    read = reader(path)
    read()
    path.write_text("two")
    os.utime(path, ns=(10**18, 10**18))
    assert read()[0] == "two"


def test_what_was_read_before_is_handed_over_and_the_oldest_is_forgotten(tmp_path):
    memo, seen = FileMemo[int](most=2), []
    for name in ("a", "b", "c", "a", "a"):
        (tmp_path / name).touch()
        memo.get(name, tmp_path / name, lambda before: (seen.append(before), 7)[1])
    assert seen == [None, None, None, None, 7]
    with pytest.raises(FileNotFoundError):
        memo.get("d", tmp_path / "d", lambda _: int((tmp_path / "d").read_text()))
