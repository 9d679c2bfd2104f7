"""What this process compiles, and how long it has taken: for who says so, for a pace and for limits that leave it out.

It knows no compiler: `workbench.compiled` reports to it, and who wants to know need not load one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Told = Callable[[str], object]


class Compiling:
    """Adds up the time in which at least one thread compiles, or waits until another has.

    >>> times = iter([10.0, 17.0, 20.0])
    >>> known, seen = Compiling(clock=lambda: next(times)), []
    >>> with known.told(seen.append):
    ...     known.begins()
    ...     known.compiles("workbench.engines.pool.loop")
    >>> known.begins()
    >>> known.seconds()
    7.0
    >>> known.ends(), known.ends()
    (None, None)
    >>> known.seconds(), seen
    (10.0, ['workbench.engines.pool.loop'])
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._busy, self._began, self._spent = 0, 0.0, 0.0
        self._told: list[Told] = []

    def begins(self) -> None:
        """Note that a thread wants to compile."""
        with self._lock:
            if not self._busy:
                self._began = self._clock()
            self._busy += 1

    def ends(self) -> None:
        """Note that a thread has compiled what it wanted to, or could not."""
        with self._lock:
            self._busy -= 1
            if not self._busy:
                self._spent += self._clock() - self._began

    def compiles(self, module: str) -> None:
        """Note that a function of a module is compiled now, for its own sake."""
        for tell in list(self._told):
            tell(module)

    def seconds(self) -> float:
        """Return how long this process has compiled so far, what it compiles just now included."""
        with self._lock:
            return self._spent + (self._clock() - self._began if self._busy else 0.0)

    @contextmanager
    def told(self, tell: Told) -> Iterator[None]:
        """Tell a function, within this context, the module of whatever begins to be compiled for its own sake."""
        self._told.append(tell)
        try:
            yield
        finally:
            self._told.remove(tell)


COMPILING = Compiling()
"""What this very process compiles."""


def working_clock() -> float:
    """Return the time in seconds by a clock that stands still while this process compiles."""
    return time.monotonic() - COMPILING.seconds()
