"""What is to be known of this process: what it compiles and for how long, and by which seed it orders texts.

Of compilation: for who says so, for a pace and for limits that leave it out. This module knows no compiler:
`workbench.compiled` reports to it, and who wants to know need not load one.

The hash seed, by which Python orders a set of texts, is fixed, or another one in each process. Code of the user's that
goes through such a set gives the same numbers everywhere only where all processes that compute rows have one seed. It
is read when Python starts and cannot be set later.
"""

from __future__ import annotations

import os
import sys
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
        """Return the time that this process has compiled so far, the present compilation included."""
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


VARIABLE = "PYTHONHASHSEED"
FIXED = "6640"
"""The seed that every process which computes rows of a user's code has.

Dask gives its own workers this one, whatever their environment says (`distributed/nanny.py`); so it is everybody's.
"""

ENVIRONMENT = {VARIABLE: FIXED}
"""What stands in the environment of such a process when it is started."""

_PROBE = -2670838690416588620
"""The hash of the variable's name under that seed, where texts are hashed as in `_PROBED`."""
_PROBED = ("siphash13", 64, "little")


def hash_seed() -> str:
    """Return the seed by which this process orders sets of texts; `drawn` where no other process can have the same.

    Whether it is the fixed one shows in a hash: the environment may have been changed since Python read it.

    >>> hash_seed() == FIXED or not has_fixed_hash_seed()
    True
    """
    if not sys.flags.hash_randomization:
        return "0"
    if (sys.hash_info.algorithm, sys.hash_info.width, sys.byteorder) == _PROBED:
        if hash(VARIABLE) == _PROBE:
            return FIXED
        return _given() if _given() != FIXED else "drawn"
    return _given()


def has_fixed_hash_seed() -> bool:
    """Return whether this process orders sets of texts as every worker does."""
    return hash_seed() == FIXED


def _given() -> str:
    """Return the seed that the environment gives."""
    given = "" if sys.flags.ignore_environment else os.environ.get(VARIABLE, "")
    return given if given.isdecimal() and int(given) else "drawn"
