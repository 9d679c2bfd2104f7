"""Warm-up: compile a mechanism once, before many runs or many processes would all wait for the same compilation."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workbench.compiled.cache import cache_folder
from workbench.engines.engine import Setup
from workbench.errors import WorkbenchError
from workbench.experiments.mechanism import mechanism

Say = Callable[[str], Any]
_warm: set[str] = set()
"""The engines that this process knows to be compiled."""


def warm_up(setup: Setup, say: Say) -> None:
    """Do the smallest run of a setup's mechanism unless it was done since the sources last changed, and say so.

    Of several processes on one machine the first compiles and the others wait for it.
    """
    if setup.engine in _warm:
        return
    marker = cache_folder() / f"{setup.engine}.warm"
    if not marker.is_file():
        with _alone(marker):
            if not marker.is_file():
                _compile(setup, say)
                marker.touch()
    _warm.add(setup.engine)


def _compile(setup: Setup, say: Say) -> None:
    found = mechanism(setup.engine)
    say(f"compiling the engine {setup.engine} (once; it is kept on disk) ...")
    began = time.perf_counter()
    with suppress(WorkbenchError):  # the run that matters will say it again
        found.measure(found.engine.simulate(setup, 0))
    say(f"compiled in {time.perf_counter() - began:.0f} s")


@contextmanager
def _alone(marker: Path) -> Iterator[None]:
    """One process at a time; where a file system knows no locks, several may compile the same thing."""
    marker.parent.mkdir(parents=True, exist_ok=True)
    with open(marker.with_suffix(".lock"), "w") as lock:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
