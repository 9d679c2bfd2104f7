"""Warm-up: compile a mechanism once, before many runs or many processes would all wait for the same compilation."""

from __future__ import annotations

import fcntl
import functools
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
COMPILING_SECONDS = 600.0
"""What a run may compile on top of its limit, its engine or its policy: the clock of the run stands meanwhile."""

LOADING_SECONDS = 10.0
"""What the first run of a process may take on top: it loads what is compiled already."""

_ready: set[str] = set()
"""The engines with which this process has done a run."""

_folder = functools.cache(cache_folder)


def warm_up(setup: Setup, say: Say) -> None:
    """Do the smallest run of a setup's mechanism unless it was done since the sources last changed, and say so."""
    if _marker(setup.engine).is_file():
        return
    with first_run(setup.engine):
        found = mechanism(setup.engine)
        say_compiling(setup.engine, say)
        began = time.perf_counter()
        with suppress(WorkbenchError):  # the run that matters will say it again
            found.measure(found.engine.simulate(setup, 0))
        say(f"compiled in {time.perf_counter() - began:.0f} s")


def say_compiling(engine: str, say: Say) -> None:
    """Say that an engine will be compiled, unless it is."""
    if not _marker(engine).is_file():
        say(f"compiling the engine {engine} (once; it is kept on disk) ...")


@contextmanager
def first_run(engine: str) -> Iterator[float]:
    """Within this a process does a run of an engine: gives the seconds that it may take longer for being the first.

    Of several processes on one machine one compiles while the others wait; where a file system knows no locks, several
    may compile the same thing.
    """
    if engine in _ready:
        yield 0.0
        return
    mechanism(engine)
    marker = _marker(engine)
    if marker.is_file():
        yield LOADING_SECONDS
    else:
        marker.parent.mkdir(parents=True, exist_ok=True)
        with open(marker.with_suffix(".lock"), "w") as lock:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield LOADING_SECONDS
            marker.touch()
    _ready.add(engine)


def _marker(engine: str) -> Path:
    return _folder() / f"{engine}.warm"
