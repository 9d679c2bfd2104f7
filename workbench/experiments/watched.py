"""Runs in a thread that is watched: one that does not end within its limit is left behind in it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from workbench.compiling import COMPILING
from workbench.experiments.printed import Printed, captured
from workbench.experiments.row import Row
from workbench.experiments.warm import COMPILING_SECONDS

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

        Such a run goes on in its thread, and nobody waits for it any more.
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
        """Return how many seconds the present run still has."""
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
