"""Reports what Numba compiles, once anything of this room is imported; what comes from the cache is not compiled."""

from __future__ import annotations

from typing import Any

from numba.core import event

from workbench.compiling import COMPILING, Compiling


class _Reporter(event.Listener):
    """Hands the compiler's events on; it holds its lock meanwhile, so that they come one after the other."""

    def __init__(self, known: Compiling) -> None:
        self._known = known

    def on_start(self, event: Any) -> None:
        self._known.begins(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event: Any) -> None:
        self._known.ends()


def report_compiling(known: Compiling = COMPILING) -> None:
    """From now on report what is compiled."""
    event.register("numba:compile", _Reporter(known))
