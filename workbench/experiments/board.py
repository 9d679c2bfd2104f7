"""A board on which workers report each run: which one they do, and until when it should have ended.

A worker that is stopped, waits for a device for ever, or holds Python's lock in native code cannot say so. The driver
reads the board and keeps the deadlines itself. It is a small file that both map into memory: a report takes a
microsecond, and a process on another machine, which cannot see the file, reports nothing.
"""

from __future__ import annotations

import functools
import mmap
import os
import struct
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

_PLACE = struct.Struct("<qqqd")
"""Serial number of the bundle, process, index of the run in the bundle, deadline."""

_PLACES = 4096
_NOBODY = (0, 0, 0, 0.0)


class Report(NamedTuple):
    """What a worker last said of a bundle."""

    pid: int
    """Its process; 0 = one that must not be ended."""
    run: int
    """Which run of the bundle it does."""
    deadline: float
    """Until when that should have ended, as `time.monotonic()` of this machine tells the time."""


class Reporter(NamedTuple):
    """Where a worker reports a bundle; travels with it."""

    path: str
    machine: str
    place: int
    serial: int
    may_be_ended: bool = True
    """Whether its process is replaced when it is ended."""

    def begin(self, index: int, seconds: float) -> None:
        """Report that a run of the bundle begins, and how long it may take."""
        if board := _opened(self.path, self.machine):
            pid = os.getpid() if self.may_be_ended else 0
            _PLACE.pack_into(board, self.place * _PLACE.size, self.serial, pid, index, time.monotonic() + seconds)


class NoReport(Reporter):
    """Reports nothing."""

    def begin(self, index: int, seconds: float) -> None: ...


SILENT = NoReport("", "", 0, 0)


class Board:
    """The driver's side: a place for each bundle that is under way."""

    def __init__(self) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="workbench-board-")  # noqa: SIM115 - open as long as the board
        self._file.truncate(_PLACES * _PLACE.size)
        self._map = mmap.mmap(self._file.fileno(), _PLACES * _PLACE.size)
        self._free = list(range(_PLACES))
        self._serial = 0

    def reporter(self) -> Reporter:
        """Return a place for one more bundle; beyond some thousand bundles at once one that is silent."""
        if not self._free:
            return SILENT
        self._serial += 1
        place = self._free.pop()
        _PLACE.pack_into(self._map, place * _PLACE.size, *_NOBODY)
        return Reporter(self._file.name, this_machine(), place, self._serial)

    def read(self, reporter: Reporter) -> Report | None:
        """Return the last report of a bundle, None if there is none."""
        if not reporter.path:
            return None
        serial, *report = _PLACE.unpack_from(self._map, reporter.place * _PLACE.size)
        return Report(*report) if serial == reporter.serial else None

    def release(self, reporter: Reporter) -> None:
        """Take back the place of a bundle that is no longer under way."""
        if reporter.path:
            self._free.append(reporter.place)

    def close(self) -> None:
        """Delete the board; who still reports does so to nobody."""
        self._map.close()
        self._file.close()


@functools.cache
def this_machine() -> str:
    """Return what tells whether two processes share a clock and the numbers of processes; empty = nothing does."""
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


@functools.lru_cache(4)
def _opened(path: str, machine: str) -> mmap.mmap | None:
    if not path or not machine or machine != this_machine():
        return None
    try:
        with open(path, "r+b") as file:
            return mmap.mmap(file.fileno(), 0)
    except OSError:
        return None
