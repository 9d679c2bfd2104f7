"""A program that ends, with all that it started, when this process does, however this process ends.

Between the two stands a supervisor: this file, run as a program. It holds one end of a pipe whose other end closes with
this process, also when that is killed, and it inherits whatever the program leaves behind (a server's kernels are in
sessions of their own, which no signal to a group would reach). What a killed supervisor leaves this process inherits.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

TERMINATE_TIMEOUT_SECONDS = 5.0
"""How long the program may take to end by itself when it is asked to."""

POLL_INTERVAL_SECONDS = 0.2
_SUBREAPER, _DEATH_SIGNAL = 36, 1
"""Of `prctl`: inherit what descendants leave behind; be sent a signal when the parent dies."""


def run_supervised(command: Sequence[str], env: Mapping[str, str] | None = None) -> int:
    """Run a program until it ends, and return its exit status; whatever it started has ended then.

    Raises
    ------
    KeyboardInterrupt
        This process was asked to stop meanwhile.
    """
    _prctl(_SUBREAPER, 1)
    others = set(descendants(os.getpid()))
    end, held = os.pipe()
    supervisor = subprocess.Popen(
        [sys.executable, "-I", __file__, str(end), *command],
        env=env,
        pass_fds=[end],
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches this process alone, which passes it on once
    )
    os.close(end)
    try:
        return _wait_interruptibly(supervisor)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; the server has ended, and all that it had started.") from None
    finally:
        os.close(held)
        with suppress(subprocess.TimeoutExpired):
            supervisor.wait(2 * TERMINATE_TIMEOUT_SECONDS)
        _kill_all(others)  # of a supervisor that was itself killed


def _wait_interruptibly(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process, and look up meanwhile: a signal that comes just before one call that waits is not heard."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(POLL_INTERVAL_SECONDS)


def supervise(end: int, command: Sequence[str]) -> int:
    """Run a program until it ends or a pipe closes; end whatever it left behind, and return its exit status."""
    _prctl(_SUBREAPER, 1)
    signals: list[int] = []

    def remember_signal(number: int, frame: FrameType | None) -> None:
        signals.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, remember_signal)
    program = subprocess.Popen(command, preexec_fn=lambda: _prctl(_DEATH_SIGNAL, signal.SIGKILL))
    while program.poll() is None and not signals and not select.select([end], [], [], POLL_INTERVAL_SECONDS)[0]:
        pass
    if program.poll() is None:
        program.terminate()
        with suppress(subprocess.TimeoutExpired):
            program.wait(TERMINATE_TIMEOUT_SECONDS)
    _kill_all()
    return program.wait()


def _kill_all(others: Collection[int] = ()) -> None:
    """Kill every descendant of this process but some others, and what they start meanwhile.

    None must be left twice in a row: one whose parent ends while the processes are listed is missing from the list.
    """
    deadline, empty = time.monotonic() + TERMINATE_TIMEOUT_SECONDS, 0
    while empty < 2 and time.monotonic() < deadline:
        left = set(descendants(os.getpid())).difference(others)
        empty = 0 if left else empty + 1
        for process in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
            with suppress(ChildProcessError):  # a child's child, which becomes ours when that has ended
                os.waitpid(process, os.WNOHANG)
        time.sleep(0.01)


def descendants(of: int) -> Iterator[int]:
    """Yield the living processes that descend from one, on a system that lists them in /proc."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError, ValueError):
            state, parent = stat.read_text().rsplit(")", 1)[1].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(stat.parent.name))
    waiting = [of]
    while waiting:
        children_of = children.get(waiting.pop(), [])
        yield from children_of
        waiting += children_of


def _prctl(option: int, value: int) -> None:
    """Set a property of this process where the system knows it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    status = supervise(int(sys.argv[1]), sys.argv[2:])
    sys.exit(status if status >= 0 else 128 - status)
