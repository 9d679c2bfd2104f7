"""What was read of a file, kept for as long as the file is surely as it was.

A file's times and its size do not tell every change: a file that is written twice within a tick of the clock may have
the same ones. What was read of a file therefore counts from two seconds after its last change on, and on a network,
where times come from another clock and from caches, for two seconds at most.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from workbench.file_systems import on_network

GRAIN_NS = 2 * 10**9
"""The coarsest clock of a file system in use (FAT's)."""

T = TypeVar("T")


class State(NamedTuple):
    """What changes when a file is written again, unless that happens within a tick of the clock."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int


def state_of(path: Path | str) -> State | None:
    """Return the state of a file; None where there is no file to ask, which reading it will say."""
    try:
        now = Path(path).stat()
    except (OSError, ValueError):
        return None
    return State(now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino)


class _Entry(NamedTuple, Generic[T]):
    value: T
    state: State | None
    taken_ns: int
    surely: bool
    """Whether the state tells every change since."""


class FileMemo(Generic[T]):
    """Remembers what was read of files.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     memo, path = FileMemo[str](), Path(folder, "a")
    ...     for text in ("one", "two"):
    ...         _ = path.write_text(text)
    ...         print(memo.get(path, path, lambda before: path.read_text()))
    one
    two
    """

    def __init__(self, most: int = 256) -> None:
        """Remember at most so many files."""
        self._most = most
        self._known: OrderedDict[Hashable, _Entry[T]] = OrderedDict()

    def __identity__(self) -> tuple[()]:
        """Return nothing: what is remembered changes no result, so it is no part of what names a run."""
        return ()

    def get(self, key: Hashable, path: Path | str, read: Callable[[T | None], T], anew: bool = False) -> T:
        """Return what a file holds, read again if it may have changed.

        Parameters
        ----------
        key : hashable
            What is remembered, usually the path.
        path : path
            The file.
        read : callable
            Reads it; given what was read before, if anything was, which it may return where that still holds.
        anew : bool
            Read a file on a network again even if that was done a moment ago, as a plan does.
        """
        entry, state = self._known.get(key), state_of(path)
        if entry is not None and entry.state == state and _holds(entry, anew):
            return entry.value
        value = read(entry.value if entry is not None else None)
        taken = time.time_ns()
        surely = state is not None and state == state_of(path) and _is_old(state, taken) and not _is_far(path)
        self._known[key] = _Entry(value, state, taken, surely)
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return value


def _holds(entry: _Entry[T], anew: bool) -> bool:
    if entry.surely:
        return True
    fresh = 0 <= time.time_ns() - entry.taken_ns < GRAIN_NS
    return fresh and not anew and entry.state is not None and _is_old(entry.state, entry.taken_ns)


def _is_old(state: State, now_ns: int) -> bool:
    """Return True if a write that leaves the state as it is would have had to happen before now."""
    return now_ns - max(state.modified_ns, state.changed_ns) > GRAIN_NS


def _is_far(path: Path | str) -> bool:
    return on_network(Path(path).absolute().parent)
