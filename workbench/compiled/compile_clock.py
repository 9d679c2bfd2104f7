"""A clock that runs while this process compiles: what compiling takes is no part of what a run takes."""

from __future__ import annotations

import functools
import threading
import time
from typing import Any


class _Clock:
    """Adds up the time in which at least one thread compiles, or waits until another has."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy, self._began, self._total = 0, 0.0, 0.0

    def on_start(self, event: Any) -> None:
        with self._lock:
            if not self._busy:
                self._began = time.perf_counter()
            self._busy += 1

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._busy -= 1
            if not self._busy:
                self._total += time.perf_counter() - self._began

    def seconds(self) -> float:
        with self._lock:
            return self._total + (time.perf_counter() - self._began if self._busy else 0.0)


@functools.cache
def _clock() -> _Clock:
    """Return the clock of this process, told by Numba of everything that is compiled: engines, answers, helpers."""
    from numba.core import event

    found = _Clock()

    class Told(event.Listener):
        on_start = staticmethod(found.on_start)
        on_end = staticmethod(found.on_end)

    event.register("numba:compiler_lock", Told())
    return found


def compiling_seconds() -> float:
    """Return how long this process has been compiling since it was first asked, the present compilation included."""
    return _clock().seconds()
