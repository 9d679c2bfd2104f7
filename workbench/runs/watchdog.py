"""Deadlines of runs: a board on which workers report each run, and the thread in which a run is watched.

A worker that is stopped, waits for a device for ever, or holds Python's lock in native code cannot say so. The driver
reads the board and keeps the deadlines itself. It is a small file that both map into memory: a report takes a
microsecond, and a process on another machine, which cannot see the file, reports nothing. A run that does not end
within its limit is left behind in its thread.
"""

from __future__ import annotations

import functools
import mmap
import os
import struct
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from workbench.mechanisms.compilation import COMPILING_SECONDS
from workbench.process import COMPILING
from workbench.runs.output import Printed, captured
from workbench.runs.row import Row

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
        if board := _opened_map(self.path, self.machine):
            pid = os.getpid() if self.may_be_ended else 0
            _PLACE.pack_into(board, self.place * _PLACE.size, self.serial, pid, index, time.monotonic() + seconds)


@functools.cache
def this_machine() -> str:
    """Return a key that is equal in two processes if they share a clock and the numbers of processes; empty =
    unknown."""
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


@functools.lru_cache(4)
def _opened_map(path: str, machine: str) -> mmap.mmap | None:
    if not path or not machine or machine != this_machine():
        return None
    try:
        with open(path, "r+b") as file:
            return mmap.mmap(file.fileno(), 0)
    except OSError:
        return None


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
        """Delete the board; later reports are lost."""
        self._map.close()
        self._file.close()


STOPPED_SECONDS = 1.0
"""A watcher that is woken so much too late was stopped with its process, or the machine was busy: the run's clock is
set back by as much."""


class Watched(threading.Thread):
    """Does runs one after the other, and knows how long the present one has been going on.

    Parameters
    ----------
    do : function
        Does the run of a number and returns its row.
    count : int
        How many runs there are.
    limit : float
        Seconds that each may take; what is compiled meanwhile does not count.
    report : function
        Told when a run begins, and when it gets more time: its number, and the seconds that it has from then on.
    """

    def __init__(
        self,
        do: Callable[[int], Row],
        count: int,
        limit: float,
        report: Callable[[int, float], None],
    ) -> None:
        super().__init__(daemon=True)
        self._do, self._count, self._limit, self._report = do, count, limit, report
        self._present = (0, time.perf_counter() + limit, COMPILING.seconds())
        """Which run, until when it should have ended, and how much had been compiled when it began."""
        self._left_behind = False
        self._ended = threading.Event()
        self._problem: BaseException | None = None
        self.rows: list[Row] = []
        self.printed = Printed()

    def run(self) -> None:
        try:
            with captured(self.printed):
                self._do_all()
        except BaseException as problem:  # raised again where it is waited for
            self._problem = problem
        finally:
            self._ended.set()

    def _do_all(self) -> None:
        for number in range(self._count):
            self._present = number, time.perf_counter() + self._limit, COMPILING.seconds()
            self._report(number, self._limit)
            row = self._do(number)
            if self._left_behind:
                return
            self.rows.append(row)

    def wait(self) -> int | None:
        """Start, and wait until all is done; return the number of a run that took longer than its limit, if one did.

        Such a run goes on in its thread, and its result is not used any more.
        """
        self.start()
        while True:
            left, asleep = self._left(), time.perf_counter()
            if self._ended.wait(left):
                break
            if self._is_late(time.perf_counter() - asleep - left):
                return self._present[0]
        if self._problem is not None:
            raise self._problem
        return None

    def _left(self) -> float:
        """Return the seconds that the present run still has."""
        _, deadline, compiled = self._present
        extended = deadline + min(COMPILING.seconds() - compiled, COMPILING_SECONDS)
        return max(extended - time.perf_counter(), 0.0)

    def _is_late(self, overslept: float) -> bool:
        """Leave the present run behind if it has taken longer than its limit."""
        number, deadline, compiled = self._present
        if overslept > STOPPED_SECONDS:
            self._present = number, deadline + overslept, compiled
        if len(self.rows) != number:  # it has just ended
            return False
        if left := self._left():
            self._report(number, left)
            return False
        self._left_behind = True
        return True
