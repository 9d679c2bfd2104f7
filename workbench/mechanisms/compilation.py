"""The first run of an engine in a process: it is compiled once, and a person is told how long that takes.

Many runs, or many processes, would all wait for the same compilation. The announced time is the processor time that it
took this machine the last time, or else a machine on which it was measured. Where more processes want to compute than
there are cores, the time is multiplied by their number for each core.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workbench.compiled import INTERPRETED
from workbench.compiled.kernel import code_home, sources
from workbench.engines.kit.engine import Setup
from workbench.errors import WorkbenchError
from workbench.files import cache_home
from workbench.mechanisms.catalogue import OWN
from workbench.mechanisms.mechanism import mechanism
from workbench.process import COMPILING

Say = Callable[[str], Any]

COMPILING_SECONDS = 600.0
"""What a run may compile on top of its limit, its engine or its policy: the clock of the run stands meanwhile."""

LOADING_SECONDS = 10.0
"""What the first run of a process may take on top: it loads what is compiled already."""

USUAL_SECONDS = {name: one.compile_seconds for name, one in OWN.items() if one.engine}
"""The processor time that each engine takes to compile alone in one process."""

_warm: set[str] = set()
"""The engines with which this process has done a run."""

_said: set[str] = set()
"""The engines of which this process has said that they are compiled."""


def _folder() -> Path:
    """Return the file that keeps which engines were compiled here, and from which sources."""
    return code_home() / "warm"


def warm_up(setup: Setup, say: Say) -> None:
    """Do the smallest run of a setup's mechanism unless it was done since the sources last changed, and say so."""
    if is_compiled(setup.engine):
        return
    with first_run(setup.engine):
        registered = mechanism(setup.engine)
        say_compiling(setup.engine, say)
        before = COMPILING.seconds()
        with suppress(WorkbenchError):  # the run that matters will say it again
            registered.measure(registered.engine.simulate(setup, 0))
        say(f"compiled in {COMPILING.seconds() - before:.0f} s")


def is_compiled(engine: str) -> bool:
    """Return whether an engine and its measures were compiled here from the sources as they are."""
    return _marker(engine).is_file()


def say_compiling(engine: str, say: Say) -> None:
    """Say that an engine will be compiled, and about how long it takes, unless it is or that was said."""
    if not (INTERPRETED or engine in _said or is_compiled(engine)):
        _said.add(engine)
        say(_sentence(engine))


def say_as_it_compiles(say: Say) -> Callable[[str], None]:
    """Return a function that is told the module of what is compiled, and says which engine that is, each once.

    It speaks where nothing was said beforehand: runs that no plan holds, and parts of an engine that no run has met.
    """

    def tell(module: str) -> None:
        engine = _engine_of_module(module)
        if engine and engine not in _said:
            _said.add(engine)
            say(f"compiling more of the engine {engine}, once" if _marker(engine).is_file() else _sentence(engine))

    return tell


def _sentence(engine: str) -> str:
    if _engine_marker(engine).is_file():
        return f"compiling the measures of the engine {engine}, once"
    about = expected_seconds(engine)
    waits = _is_locked(engine)
    time_text = f", about {about:.0f} s{' in all' * waits}" if about else ""
    return (
        f"{'waiting for another process that compiles' if waits else 'compiling'} the engine {engine}, once{time_text}"
    )


def expected_seconds(engine: str) -> float:
    """Return about how long an engine takes to compile here now, 0 where nothing is known of it."""
    return (_seconds_here().get(engine) or USUAL_SECONDS.get(engine, 0)) * _share()


def _share() -> float:
    """Return by how much other processes delay one that computes: processes that want a core, for each core.

    >>> 1 <= _share()
    True
    """
    with suppress(OSError):
        return max(1.0, (os.getloadavg()[0] + 1) / (os.cpu_count() or 1))
    return 1.0


def _is_locked(engine: str) -> bool:
    """Return whether another process compiles an engine now."""
    with suppress(OSError), open(_lock(engine)) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _lock(engine: str) -> Path:
    return _marker(engine).with_suffix(".lock")


def _engine_of_module(module: str) -> str:
    """Return the engine that a module belongs to; empty for what is no engine.

    >>> _engine_of_module("workbench.engines.shared_memory_loop"), _engine_of_module("workbench.metrics.pool")
    ('shared_memory', '')
    """
    package = "workbench.engines."
    part = module.removeprefix(package).split(".")[0] if module.startswith(package) else ""
    return next((engine for engine in USUAL_SECONDS if part in (engine, f"{engine}_loop")), "")


@contextmanager
def first_run(engine: str) -> Iterator[float]:
    """Yield the seconds that a process's run of an engine may take longer for being the first.

    Of several processes on one machine one compiles while the others wait; where a file system knows no locks, several
    may compile the same thing.
    """
    if engine in _warm:
        yield 0.0
        return
    mechanism(engine)
    marker = _marker(engine)
    if marker.is_file():
        yield LOADING_SECONDS
    else:
        marker.parent.mkdir(parents=True, exist_ok=True)
        with open(_lock(engine), "w") as lock:
            COMPILING.begins()  # waiting for another process counts: no pace and no limit includes it
            try:
                with suppress(OSError):
                    fcntl.flock(lock, fcntl.LOCK_EX)
            finally:
                COMPILING.ends()
            # Somebody else may have done it meanwhile; of measures alone nothing is learned about the engine.
            compiled, before = marker.is_file() or _engine_marker(engine).is_file(), time.process_time()
            yield LOADING_SECONDS
            marker.touch()
            _engine_marker(engine).touch()
            if not compiled:
                _remember(engine, time.process_time() - before)
    _warm.add(engine)


def _marker(engine: str) -> Path:
    """Return the file that is there once an engine was run, and measured, with the sources as they are."""
    return _marker_of(engine, *_engine_modules(engine), f"metrics.{engine}")


def _engine_marker(engine: str) -> Path:
    """Return the file that is there once the engine itself was, whatever its measures were then."""
    return _marker_of(engine, *_engine_modules(engine))


@functools.cache
def _engine_modules(engine: str) -> list[str]:
    """Return the modules that bring along all that is compiled into an engine; a user's has its parts from the kit."""
    return sources().kernels(f"engines.{engine}") or sources().kernels("engines.kit")


def _marker_of(engine: str, *modules: str) -> Path:
    return _folder() / f"{engine}-{sources().digest(*modules)}.warm"


def _remember(engine: str, seconds: float) -> None:
    """Keep how much processor time an engine took to compile here, for the sentence of the next time."""
    if seconds >= 1:
        place = _memory()
        with suppress(OSError):
            beside = place.with_suffix(f".{os.getpid()}")
            beside.write_text(json.dumps({**_seconds_here(), engine: round(seconds, 1)}))
            beside.replace(place)


def _seconds_here() -> dict[str, float]:
    """Return the time that each engine took to compile on this machine, the last time."""
    with suppress(OSError, ValueError):
        content = json.loads(_memory().read_text())
        return {str(engine): float(seconds) for engine, seconds in content.items()}
    return {}


def _memory() -> Path:
    return cache_home() / "compile_seconds.json"
