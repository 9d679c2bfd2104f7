"""What this process compiles, and how long it has taken: for who says so, and for a pace that leaves it out.

It knows no compiler: `workbench.compiled` reports to it, and who wants to know need not load one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Told = Callable[[str], object]


class Compiling:
    """Counts the seconds of compilation; functions that are compiled for the sake of another count within it.

    >>> times = iter([10.0, 17.0, 20.0])
    >>> known, seen = Compiling(clock=lambda: next(times)), []
    >>> with known.told(seen.append):
    ...     known.begins("workbench.engines.pool.loop")
    ...     known.begins("workbench.structures.fair_flows")
    >>> known.seconds()
    7.0
    >>> known.ends(), known.ends()
    (None, None)
    >>> known.seconds(), seen
    (10.0, ['workbench.engines.pool.loop'])
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._depth, self._began, self._spent = 0, 0.0, 0.0
        self._told: list[Told] = []

    def begins(self, module: str) -> None:
        """A function of a module is about to be compiled."""
        self._depth += 1
        if self._depth == 1:
            self._began = self._clock()
            for tell in list(self._told):
                tell(module)

    def ends(self) -> None:
        """The last that began is compiled, or could not be."""
        self._depth -= 1
        if self._depth == 0:
            self._spent += self._clock() - self._began

    def seconds(self) -> float:
        """How long this process has compiled so far, what it compiles just now included."""
        return self._spent + (self._clock() - self._began if self._depth else 0.0)

    @contextmanager
    def told(self, tell: Told) -> Iterator[None]:
        """Within this a function is told the module of whatever begins to be compiled for its own sake."""
        self._told.append(tell)
        try:
            yield
        finally:
            self._told.remove(tell)


COMPILING = Compiling()
"""What this very process compiles."""


def working_clock() -> float:
    """A clock in seconds that stands still while this process compiles."""
    return time.monotonic() - COMPILING.seconds()
