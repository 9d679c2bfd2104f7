"""What a user's code may do in a run, each as a function of no argument, done in the middle of the run."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

FLOOD = 2_000_000
"""Letters of a flood, in one line."""

HOLD_SECONDS = 1000
MEMORY = 300 << 20
"""Bytes that a run may take on top of what its process has."""


class OwnError(BaseException):
    """No `Exception`, without a text, and it cannot be pickled."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    def __reduce__(self) -> str:
        raise RuntimeError("no pickle")


def raises() -> None:
    raise ValueError("on purpose \ud800")


def raises_own() -> None:
    raise OwnError


def exits() -> None:
    sys.exit(4)


def interrupts() -> None:
    raise KeyboardInterrupt


def closes() -> None:
    raise GeneratorExit


def recurses() -> None:
    recurses()


def loops() -> None:
    while True:
        time.sleep(0)


def forks() -> None:
    """The copy goes on with the sweep, unless it is stopped."""
    if child := os.fork():
        os.waitpid(child, 0)


def floods() -> None:
    sys.stdout.write("out " * (FLOOD // 4))
    sys.stderr.write("error " * (FLOOD // 6))


def allocates() -> None:
    """Until a limit of the process ends it, which is taken back for the others in it."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    kept = []
    try:
        while True:
            kept.append(np.empty(1 << 23))  # not touched: at once, however busy the machine is
    finally:
        kept.clear()
        resource.setrlimit(resource.RLIMIT_AS, before)


def ends() -> None:
    os._exit(3)


def kills_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stops_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(HOLD_SECONDS)


def holds_the_lock() -> None:
    """Python's lock, in native code: nothing else of the process goes on."""
    ctypes.PyDLL(None).sleep(HOLD_SECONDS)


def breaks_threads() -> None:
    """The run itself is done; what its process does afterwards fails, until another takes its place."""
    threading.Thread.start = _cannot_start  # type: ignore[method-assign]


def _cannot_start(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


IN_ANY: dict[str, Callable[[], None]] = {
    "raises": raises,
    "raises_own": raises_own,
    "exits": exits,
    "interrupts": interrupts,
    "closes": closes,
    "recurses": recurses,
    "loops": loops,
    "forks": forks,
    "floods": floods,
    "allocates": allocates,
}
"""What costs a row wherever it is done."""

IN_OTHERS: dict[str, Callable[[], None]] = {
    "ends": ends,
    "kills_itself": kills_itself,
    "stops_itself": stops_itself,
    "holds_the_lock": holds_the_lock,
    "breaks_threads": breaks_threads,
}
"""What does to its process something that no other thread of it can prevent: processes guard against it."""

DEEDS = {**IN_ANY, **IN_OTHERS}

LATE = "the run did not end within {limit:g} s"
SENTENCES: dict[str, str] = {
    "raises": "raised ValueError (on purpose ?) in raises (deeds.py:",
    "raises_own": "raised OwnError (its text cannot be made: RuntimeError) in raises_own (deeds.py:",
    "exits": "raised SystemExit (4) in exits (deeds.py:",
    "interrupts": "raised KeyboardInterrupt in interrupts (deeds.py:",
    "closes": "raised GeneratorExit in closes (deeds.py:",
    "recurses": "raised RecursionError (maximum recursion depth exceeded) in recurses (deeds.py:",
    "loops": f"{LATE}.",
    "allocates": "the run needs more memory than there is.",
    "ends": "the worker process ended with status 3 during this run.",
    "kills_itself": "the worker process was killed by signal 9 three times during this run.",
    "stops_itself": f"{LATE}, and its worker did not answer",
    "holds_the_lock": f"{LATE}, and its worker did not answer",
}
"""What the row of each says; a run that does what is not here is done all the same."""
