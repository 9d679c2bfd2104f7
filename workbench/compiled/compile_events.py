"""Reports what Numba compiles, once anything of this room is imported; what comes from the cache is not compiled."""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event

from workbench.process import COMPILING, Compiling

SELDOM = (50_000, 20, 100)
"""How seldom garbage is collected while something is compiled: what a compiler makes is kept until it is done, and
looking through it again and again was a twelfth of its time."""


class _Times(event.Listener):
    """Reports when a thread wants the compiler, and when it has done with it."""

    def __init__(self, known: Compiling) -> None:
        self._known = known

    def on_start(self, event: Any) -> None:
        self._known.begins()

    def on_end(self, event: Any) -> None:
        self._known.ends()


class _Functions(event.Listener):
    """Reports what is compiled, but not what is compiled for its sake; the compiler's lock is held meanwhile."""

    def __init__(self, known: Compiling) -> None:
        self._known, self._depth = known, 0
        self._thresholds = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._thresholds = gc.get_threshold()
            gc.set_threshold(*SELDOM)
            self._known.compiles(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._thresholds)


def report_compiling(known: Compiling = COMPILING) -> None:
    """Report from now on what is compiled."""
    event.register("numba:compiler_lock", _Times(known))
    event.register("numba:compile", _Functions(known))
